// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "device.h"

#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/kdev_t.h>
#include <linux/moduleparam.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "cdev.h"
#include "debugfs.h"
#include "dmac_cache.h"
#include "file.h"
#include "flush.h"
#include "issm.h"
#include "port.h"
#include "rmpp/abort.h"
#include "sysfs.h"
#include "umad_compat.h"
#include "umad_export.h"

static bool issm_all;
module_param(issm_all, bool, 0444);
MODULE_PARM_DESC(issm_all,
		 "Make issm devices on ports without a subnet management interface too (default: no)");

/* The device numbers the ABI fixes, and where the others begin. */
#define UMAD_MAJOR		231
#define UMAD_FIXED_MINORS	64
#define UMAD_MAX_PORTS		8192	/* as ib_core's RDMA_MAX_PORTS */
#define UMAD_DYNAMIC_MINORS	(UMAD_MAX_PORTS - UMAD_FIXED_MINORS)

/* MINOR 0 to 63 are umad, 64 to 127 issm; the dynamic ones likewise. */
static const dev_t fixed_base = MKDEV(UMAD_MAJOR, 0);
static dev_t dynamic_base;

static DEFINE_IDA(port_ida);

static struct ib_client umad_client;
static struct ib_client issm_client;

/**
 * struct umad_device - the ports of one RDMA device
 * @ports: struct umad_port by port number; those that carry no MADs are absent
 */
struct umad_device {
	struct xarray ports;
};

/**
 * umad_chrdev_init() - reserve the device numbers
 *
 * Context: process.
 * Return: 0, or -EBUSY when another module, the in-tree one, has them.
 */
int umad_chrdev_init(void)
{
	int ret;

	ret = register_chrdev_region(fixed_base, 2 * UMAD_FIXED_MINORS,
				     umad_class.name);
	if (ret)
		return ret;
	ret = alloc_chrdev_region(&dynamic_base, 0, 2 * UMAD_DYNAMIC_MINORS,
				  umad_class.name);
	if (ret)
		unregister_chrdev_region(fixed_base, 2 * UMAD_FIXED_MINORS);
	return ret;
}

/**
 * umad_chrdev_exit() - give the device numbers back
 *
 * Context: process.
 */
void umad_chrdev_exit(void)
{
	unregister_chrdev_region(dynamic_base, 2 * UMAD_DYNAMIC_MINORS);
	unregister_chrdev_region(fixed_base, 2 * UMAD_FIXED_MINORS);
}

static dev_t umad_devt(int index)
{
	if (index < UMAD_FIXED_MINORS)
		return fixed_base + index;
	return dynamic_base + (index - UMAD_FIXED_MINORS);
}

static dev_t issm_devt(int index)
{
	if (index < UMAD_FIXED_MINORS)
		return fixed_base + UMAD_FIXED_MINORS + index;
	return dynamic_base + UMAD_DYNAMIC_MINORS + (index - UMAD_FIXED_MINORS);
}

static void port_dev_release(struct device *dev)
{
	umad_port_put(dev_get_drvdata(dev));
}

static int add_cdev(struct umad_port *port, struct device *dev,
		    struct cdev *cdev, dev_t devt, const char *prefix,
		    const struct file_operations *fops)
{
	int ret;

	device_initialize(dev);
	umad_port_get(port);
	dev_set_drvdata(dev, port);
	dev->release = port_dev_release;
	dev->class = &umad_class;
	dev->parent = port->ib_dev->dev.parent;
	dev->devt = devt;
	ret = dev_set_name(dev, "%s%d", prefix, port->index);
	if (ret)
		goto err_put;

	cdev_init(cdev, fops);
	cdev->owner = THIS_MODULE;
	ret = cdev_device_add(cdev, dev);
	if (ret)
		goto err_put;
	return 0;

err_put:
	put_device(dev);
	return ret;
}

static void remove_cdev(struct device *dev, struct cdev *cdev)
{
	cdev_device_del(cdev, dev);
	put_device(dev);
}

/*
 * Nobody comes in to use the RDMA device any more. All files, of all ports, are
 * shut before the first is killed, so that an address that is being resolved is
 * waited for once, and not for each of them.
 */
static void port_shut(struct umad_port *port)
{
	struct umad_file *file;

	umad_issm_shutdown(port);
	umad_active_ref_kill(&port->active_ref);
	mutex_lock(&port->files_lock);
	list_for_each_entry(file, &port->files, port_node)
		umad_file_shut(file);
	mutex_unlock(&port->files_lock);
}

/* Who is inside leaves: nobody uses the RDMA device any more. */
static void shutdown_files(struct umad_port *port)
{
	struct umad_file *file;

	umad_active_ref_drain(&port->active_ref);
	umad_issm_clear(port);
	mutex_lock(&port->files_lock);
	list_for_each_entry(file, &port->files, port_node)
		umad_file_shutdown(file);
	mutex_unlock(&port->files_lock);
	umad_rmpp_abort_destroy(port);
	umad_flush_end(port);
}

/* ib_core does not rename it meanwhile. */
static void copy_name(struct umad_port *port)
{
	spin_lock(&port->name_lock);
	strscpy(port->ib_dev_name, dev_name(&port->ib_dev->dev),
		sizeof(port->ib_dev_name));
	spin_unlock(&port->name_lock);
}

static void port_init(struct umad_port *port, struct ib_device *ib_dev, u32 port_num)
{
	port->ib_dev = ib_dev;
	port->port_num = port_num;
	/* The request, ib_core's own part, and what that is rounded up to. */
	port->single_bytes = rdma_cap_opa_mad(ib_dev, port_num) ? SZ_4K + SZ_1K : SZ_2K;
	port->dev_index = ib_dev->index;
	spin_lock_init(&port->name_lock);
	copy_name(port);
	port->has_issm = issm_all || rdma_cap_ib_smi(ib_dev, port_num);
	kref_init(&port->kref);
	umad_active_ref_init(&port->active_ref);
	mutex_init(&port->files_lock);
	INIT_LIST_HEAD(&port->files);
	spin_lock_init(&port->users_lock);
	port->users = RB_ROOT;
	sema_init(&port->sm_sem, 1);
	umad_rmpp_window_init(&port->rmpp_window);
	umad_pace_init(&port->pace);
	umad_sched_init(&port->sched);
	ratelimit_state_init(&port->refusals, DEFAULT_RATELIMIT_INTERVAL,
			     DEFAULT_RATELIMIT_BURST);
	/* No message about messages: the counters have all. */
	ratelimit_set_flags(&port->refusals, RATELIMIT_MSG_ON_RELEASE);
	umad_flush_init(port);
	umad_rmpp_abort_init(port);
}

static struct umad_port *port_add(struct ib_device *ib_dev, u32 port_num)
{
	struct umad_port *port;
	int ret;

	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return ERR_PTR(-ENOMEM);

	ret = umad_stats_init(&port->stats);
	if (ret)
		goto err_free;
	ret = ida_alloc_max(&port_ida, UMAD_MAX_PORTS - 1, GFP_KERNEL);
	if (ret < 0)
		goto err_stats;
	port->index = ret;
	port->roce = rdma_protocol_roce(ib_dev, port_num);
	ret = umad_port_queues_init(port);
	if (ret)
		goto err_index;
	port_init(port, ib_dev, port_num);
	/* Without it each address is resolved each time. */
	if (port->roce)
		port->dmacs = umad_dmac_cache_create();
	ret = add_cdev(port, &port->dev, &port->cdev, umad_devt(port->index),
		       "umad", &umad_fops);
	if (ret)
		goto err_files;
	if (port->has_issm) {
		ret = add_cdev(port, &port->sm_dev, &port->sm_cdev,
			       issm_devt(port->index), "issm", &umad_issm_fops);
		if (ret)
			goto err_cdev;
	}
	umad_debugfs_add_port(port);
	return port;

err_cdev:
	remove_cdev(&port->dev, &port->cdev);
err_files:
	/*
	 * Whoever was quick enough to open it will not be told of a removal; nor if
	 * cdev_device_add() has failed, as it may after that.
	 */
	port_shut(port);
	shutdown_files(port);
	ida_free(&port_ida, port->index);
	umad_port_put(port);
	return ERR_PTR(ret);
err_index:
	ida_free(&port_ida, port->index);
err_stats:
	umad_stats_destroy(&port->stats);
err_free:
	kfree(port);
	return ERR_PTR(ret);
}

/*
 * The RDMA device goes away, and the port is shut. Its nodes and its directory go only
 * now: whoever reads their directories, into a page that does not come, keeps their
 * lock, and the driver core and debugfs wait for that, but not with the device in use.
 * Nothing else waits for a process, only for work of the kernel's own.
 */
static void port_remove(struct umad_port *port)
{
	umad_debugfs_remove_port(port);
	if (port->has_issm)
		remove_cdev(&port->sm_dev, &port->sm_cdev);
	/* The port outlives this put: the caller has a reference. */
	remove_cdev(&port->dev, &port->cdev);
	shutdown_files(port);
	ida_free(&port_ida, port->index);
	umad_port_put(port);
}

static void device_free(struct umad_device *device)
{
	struct umad_port *port;
	unsigned long i;

	xa_for_each(&device->ports, i, port)
		port_shut(port);
	xa_for_each(&device->ports, i, port)
		port_remove(port);
	xa_destroy(&device->ports);
	kfree(device);
}

/*
 * Of the "umad" client. Fails with -EOPNOTSUPP when no port carries MADs, and with
 * -ENOSPC when there are UMAD_MAX_PORTS ports already.
 */
static int device_add_ports(struct ib_device *ib_dev)
{
	struct umad_device *device;
	struct umad_port *port;
	unsigned int i;
	int ret;

	device = kzalloc(sizeof(*device), GFP_KERNEL);
	if (!device)
		return -ENOMEM;
	xa_init(&device->ports);

	rdma_for_each_port(ib_dev, i) {
		if (!rdma_cap_ib_mad(ib_dev, i))
			continue;
		port = port_add(ib_dev, i);
		if (IS_ERR(port)) {
			ret = PTR_ERR(port);
			goto err_ports;
		}
		ret = xa_err(xa_store(&device->ports, i, port, GFP_KERNEL));
		if (ret) {
			port_shut(port);
			port_remove(port);
			goto err_ports;
		}
	}
	if (xa_empty(&device->ports)) {
		ret = -EOPNOTSUPP;
		goto err_ports;
	}
	ib_set_client_data(ib_dev, &umad_client, device);
	return 0;

err_ports:
	device_free(device);
	return ret;
}

static void device_remove_ports(struct ib_device *ib_dev, void *client_data)
{
	struct umad_device *device = client_data;
	struct umad_port *port;
	unsigned long i;

	xa_for_each(&device->ports, i, port)
		umad_flush_begin(port);
	device_free(device);
}

static int nl_info(struct ib_device *ib_dev, struct umad_device *device,
		   struct ib_client_nl_info *res, bool issm)
{
	struct umad_port *port;

	if (!device)
		return -EOPNOTSUPP;
	if (!rdma_is_port_valid(ib_dev, res->port))
		return -EINVAL;
	port = xa_load(&device->ports, res->port);
	if (!port || (issm && !port->has_issm))
		return -EOPNOTSUPP;

	res->abi = IB_USER_MAD_ABI_VERSION;
	res->cdev = issm ? &port->sm_dev : &port->dev;
	return 0;
}

static int umad_nl_info(struct ib_device *ib_dev, void *client_data,
			struct ib_client_nl_info *res)
{
	return nl_info(ib_dev, client_data, res, false);
}

/* The "umad" client is registered first, so it has seen the device by now. */
static int issm_add(struct ib_device *ib_dev)
{
	void *device = ib_get_client_data(ib_dev, &umad_client);

	if (!device)
		return -EOPNOTSUPP;
	ib_set_client_data(ib_dev, &issm_client, device);
	return 0;
}

static int issm_nl_info(struct ib_device *ib_dev, void *client_data,
			struct ib_client_nl_info *res)
{
	return nl_info(ib_dev, client_data, res, true);
}

/* Not while a client is being added: ib_core has a lock for that. */
static void rename_ports(struct ib_device *ib_dev, void *client_data)
{
	struct umad_device *device = client_data;
	struct umad_port *port;
	unsigned long i;

	xa_for_each(&device->ports, i, port)
		copy_name(port);
}

static struct ib_client umad_client = {
	.name = "umad",
	.add = device_add_ports,
	.remove = device_remove_ports,
	.rename = rename_ports,
	.get_nl_info = umad_nl_info,
};

/* The "umad" client owns the device; this one only answers for it. */
static void issm_remove(struct ib_device *ib_dev, void *client_data)
{
}

static struct ib_client issm_client = {
	.name = "issm",
	.add = issm_add,
	.remove = issm_remove,
	.get_nl_info = issm_nl_info,
};

/**
 * umad_clients_register() - have ib_core show its devices, now and from now on
 *
 * Context: process; sleeps.
 * Return: 0, or an errno of ib_core's.
 */
int umad_clients_register(void)
{
	int ret;

	ret = ib_register_client(&umad_client);
	if (ret)
		return ret;
	ret = ib_register_client(&issm_client);
	if (ret)
		ib_unregister_client(&umad_client);
	return ret;
}

/**
 * umad_clients_unregister() - all devices go away
 *
 * Context: process; sleeps.
 */
void umad_clients_unregister(void)
{
	ib_unregister_client(&issm_client);
	ib_unregister_client(&umad_client);
}

/**
 * umad_port_find() - the port of a device, for tests
 * @ib_dev: kept by the caller, and not about to be removed
 * @port_num: of @ib_dev
 *
 * Context: process.
 * Return: the port with a reference, or NULL.
 */
struct umad_port *umad_port_find(struct ib_device *ib_dev, u32 port_num)
{
	struct umad_device *device = ib_get_client_data(ib_dev, &umad_client);
	struct umad_port *port = device ? xa_load(&device->ports, port_num) :
					  NULL;

	if (port)
		umad_port_get(port);
	return port;
}
EXPORT_SYMBOL_IF_KUNIT(umad_port_find);
