// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ib_hwsim, simulated InfiniBand HCAs: init and exit of the module. */
#include <linux/module.h>
#include "sim_bus.h"
#include "sim_cdev.h"
#include "sim_debugfs.h"

static int __init sim_init(void)
{
	int ret;

	ret = sim_debugfs_init();
	if (ret)
		return ret;
	ret = sim_bus_init();
	if (ret)
		goto err_debugfs;
	ret = sim_cdev_init();
	if (ret)
		goto err_bus;
	sim_bus_open();
	return 0;

err_bus:
	sim_bus_exit();
err_debugfs:
	sim_debugfs_exit();
	return ret;
}

static void __exit sim_exit(void)
{
	/* None of its files is open: an open file has a reference to the module. */
	sim_cdev_exit();
	sim_bus_exit();
	sim_debugfs_exit();
}

module_init(sim_init);
module_exit(sim_exit);

MODULE_DESCRIPTION("Simulated InfiniBand HCAs");
MODULE_LICENSE("Dual BSD/GPL");
