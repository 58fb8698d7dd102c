// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Module init and exit: what is registered where, and in which order. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <rdma/ib_verbs.h>
#include "debugfs.h"
#include "device.h"
#include "neigh.h"
#include "pagebuf.h"
#include "queues.h"
#include "recv.h"
#include "sysfs.h"

MODULE_DESCRIPTION("User-space access to InfiniBand management datagrams");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(UMAD_VERSION);
MODULE_ALIAS_RDMA_CLIENT("umad");
MODULE_ALIAS_RDMA_CLIENT("issm");

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
	ret = umad_recv_init();
	if (ret)
		goto err_queues;
	ret = umad_neigh_init();
	if (ret)
		goto err_recv;
	umad_debugfs_init();
	ret = umad_clients_register();
	if (ret)
		goto err_neigh;
	return 0;

err_neigh:
	umad_debugfs_exit();
	umad_neigh_exit();
err_recv:
	umad_recv_exit();
err_queues:
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
	umad_clients_unregister();
	umad_debugfs_exit();
	umad_neigh_exit();
	umad_recv_exit();
	umad_pagebuf_exit();
	umad_queues_exit();
	class_unregister(&umad_class);
	umad_chrdev_exit();
}
module_exit(umad_exit);
