// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Module init and exit: what is registered where, and in which order. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>
#include "cdev.h"
#include "debugfs.h"
#include "device.h"
#include "neigh.h"
#include "pagebuf.h"
#include "queues.h"
#include "reclaim.h"
#include "recv.h"
#include "register.h"
#include "request.h"
#include "shed.h"
#include "sysfs.h"

MODULE_DESCRIPTION("User-space access to InfiniBand management datagrams");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(UMAD_VERSION);
MODULE_ALIAS_RDMA_CLIENT("umad");
MODULE_ALIAS_RDMA_CLIENT("issm");

/* What the devices need, in the order in which it begins. */
static const struct {
	int (*init)(void);
	void (*exit)(void);
} parts[] = {
	/* What reclaim frees at last is of its caches. */
	{ umad_recv_init, umad_recv_exit },
	{ umad_shed_init, umad_reclaim_exit },
	{ umad_queues_init, umad_queues_exit },
	{ umad_cdev_init, umad_cdev_exit },
	{ umad_register_init, umad_register_exit },
	{ umad_request_init, umad_request_exit },
	{ umad_neigh_init, umad_neigh_exit },
};

static void parts_exit(unsigned int n)
{
	while (n--)
		parts[n].exit();
}

static int parts_init(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		ret = parts[i].init();
		if (ret) {
			parts_exit(i);
			return ret;
		}
	}
	return 0;
}

static int __init umad_init(void)
{
	int ret;

	ret = umad_chrdev_init();
	if (ret) {
		pr_err("device numbers are taken (%d), is the in-tree ib_umad loaded?\n",
		       ret);
		return ret;
	}
	ret = class_register(&umad_class);
	if (ret)
		goto err_chrdev;
	ret = parts_init();
	if (ret)
		goto err_class;
	umad_debugfs_init();
	ret = umad_clients_register();
	if (ret)
		goto err_parts;
	return 0;

err_parts:
	umad_debugfs_exit();
	parts_exit(ARRAY_SIZE(parts));
err_class:
	class_unregister(&umad_class);
err_chrdev:
	umad_chrdev_exit();
	return ret;
}
module_init(umad_init);

static void __exit umad_exit(void)
{
	umad_clients_unregister();
	umad_debugfs_exit();
	umad_pagebuf_exit();
	parts_exit(ARRAY_SIZE(parts));
	class_unregister(&umad_class);
	umad_chrdev_exit();
}
module_exit(umad_exit);
