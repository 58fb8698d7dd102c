// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Module init and exit: what is registered where, and in which order. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "main.h"

#include <linux/module.h>
#include "device.h"
#include "queues.h"
#include "segbuf.h"
#include "stats.h"
#include "sysfs.h"

MODULE_DESCRIPTION("User-space access to InfiniBand management datagrams");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(UMAD_VERSION);
MODULE_ALIAS_RDMA_CLIENT("umad");
MODULE_ALIAS_RDMA_CLIENT("issm");

bool umad_issm_all;
module_param_named(issm_all, umad_issm_all, bool, 0444);
MODULE_PARM_DESC(issm_all,
		 "Make issm devices on ports without a subnet management interface too (default: no)");

struct ib_client umad_client = {
	.name = "umad",
	.add = umad_device_add,
	.remove = umad_device_remove,
	.get_nl_info = umad_get_nl_info,
};

/* The "umad" client owns the device; this one only answers for it. */
static void issm_remove(struct ib_device *ib_dev, void *client_data)
{
}

struct ib_client umad_issm_client = {
	.name = "issm",
	.add = umad_issm_add,
	.remove = issm_remove,
	.get_nl_info = umad_issm_get_nl_info,
};

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
	ret = umad_queues_init();
	if (ret)
		goto err_class;
	umad_debugfs_init();
	ret = ib_register_client(&umad_client);
	if (ret)
		goto err_queues;
	ret = ib_register_client(&umad_issm_client);
	if (ret)
		goto err_client;
	return 0;

err_client:
	ib_unregister_client(&umad_client);
err_queues:
	umad_debugfs_exit();
	umad_queues_exit();
err_class:
	class_unregister(&umad_class);
err_chrdev:
	umad_chrdev_exit();
	return ret;
}
module_init(umad_init);

static void __exit umad_exit(void)
{
	ib_unregister_client(&umad_issm_client);
	ib_unregister_client(&umad_client);
	umad_debugfs_exit();
	umad_queues_exit();
	umad_segbuf_exit();
	class_unregister(&umad_class);
	umad_chrdev_exit();
}
module_exit(umad_exit);
