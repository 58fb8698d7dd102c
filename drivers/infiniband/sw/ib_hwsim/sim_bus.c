// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The bus by which devices are created and removed, and the list of them.
 *
 *   echo "ID [key=value ...]" > /sys/bus/ib_hwsim/new_device
 *   echo ID > /sys/bus/ib_hwsim/del_device
 *
 * Lock: sim_lock protects the list and the flags in it. It is held while a device
 * is created, so that creating a second one of that number waits. It is not held
 * while one is removed, which may take long; its number stays in use until then.
 */
#include "sim_bus.h"

#include <linux/device.h>
#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include "sim_compat.h"
#include "sim_config.h"
#include "sim_device.h"
#include "sim_port.h"

/**
 * struct sim_instance - a device on the bus
 * @dev: on the bus, parent of the ib_device; the list has a reference
 * @node: in sim_instances; protected by sim_lock
 * @id: its number; constant
 * @dying: is being removed; protected by sim_lock
 * @sim: the ib_device; constant until @dying
 */
struct sim_instance {
	struct device dev;
	struct list_head node;
	u32 id;
	bool dying;
	struct sim_dev *sim;
};

static DEFINE_MUTEX(sim_lock);
static LIST_HEAD(sim_instances);
static bool sim_open;	/* devices may be created; protected by sim_lock */

static struct sim_instance *find_locked(u32 id)
{
	struct sim_instance *instance;

	lockdep_assert_held(&sim_lock);
	list_for_each_entry(instance, &sim_instances, node)
		if (instance->id == id)
			return instance;
	return NULL;
}

/**
 * sim_with_port() - call a function with a port, which is not removed meanwhile
 * @id: number of the device
 * @num: number of the port
 * @call: the function
 * @context: for @call
 *
 * Context: process.
 * Return: what @call returns, or -ENODEV.
 */
int sim_with_port(u32 id, u32 num,
		  int (*call)(struct sim_port *port, void *context),
		  void *context)
{
	struct sim_instance *instance;
	struct sim_port *port = NULL;
	int ret = -ENODEV;

	mutex_lock(&sim_lock);
	instance = find_locked(id);
	if (instance && !instance->dying)
		port = sim_dev_port(instance->sim, num);
	if (port)
		ret = call(port, context);
	mutex_unlock(&sim_lock);
	return ret;
}

static void instance_release(struct device *dev)
{
	kfree(container_of(dev, struct sim_instance, dev));
}

static struct bus_type sim_bus;

static int create_locked(const struct sim_config *config)
{
	struct sim_instance *instance;
	int ret;

	lockdep_assert_held(&sim_lock);
	if (!sim_open)
		return -ENODEV;
	if (find_locked(config->id))
		return -EEXIST;

	instance = kzalloc(sizeof(*instance), GFP_KERNEL);
	if (!instance)
		return -ENOMEM;
	instance->id = config->id;
	instance->dev.bus = &sim_bus;
	instance->dev.release = instance_release;
	device_initialize(&instance->dev);
	ret = dev_set_name(&instance->dev, "hwsim%u", config->id);
	if (ret)
		goto err_put;
	ret = device_add(&instance->dev);
	if (ret)
		goto err_put;

	instance->sim = sim_dev_create(config, &instance->dev);
	if (IS_ERR(instance->sim)) {
		ret = PTR_ERR(instance->sim);
		goto err_del;
	}
	list_add_tail(&instance->node, &sim_instances);
	return 0;

err_del:
	device_del(&instance->dev);
err_put:
	put_device(&instance->dev);
	return ret;
}

/* The caller has set dying, so nobody else removes this instance. */
static void destroy(struct sim_instance *instance)
{
	sim_dev_destroy(instance->sim);
	device_del(&instance->dev);
	mutex_lock(&sim_lock);
	list_del(&instance->node);
	mutex_unlock(&sim_lock);
	put_device(&instance->dev);
}

static ssize_t new_device_store(SIM_BUS_CONST struct bus_type *bus,
				const char *buf, size_t count)
{
	struct sim_config *config;
	int ret;

	config = kzalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return -ENOMEM;
	ret = sim_config_parse(config, buf);
	if (!ret) {
		mutex_lock(&sim_lock);
		ret = create_locked(config);
		mutex_unlock(&sim_lock);
	}
	kfree(config);
	return ret ?: count;
}
static BUS_ATTR_WO(new_device);

static ssize_t del_device_store(SIM_BUS_CONST struct bus_type *bus,
				const char *buf, size_t count)
{
	struct sim_instance *instance;
	u32 id;
	int ret;

	ret = kstrtou32(buf, 10, &id);
	if (ret)
		return ret;

	mutex_lock(&sim_lock);
	instance = find_locked(id);
	if (instance && instance->dying)
		instance = NULL;
	if (instance)
		instance->dying = true;
	mutex_unlock(&sim_lock);
	if (!instance)
		return -ENODEV;
	destroy(instance);
	return count;
}
static BUS_ATTR_WO(del_device);

static struct attribute *sim_bus_attrs[] = {
	&bus_attr_new_device.attr,
	&bus_attr_del_device.attr,
	NULL
};
ATTRIBUTE_GROUPS(sim_bus);

static struct bus_type sim_bus = {
	.name = "ib_hwsim",
	.bus_groups = sim_bus_groups,
};

/* An instance that nobody else removes; it is marked as dying. */
static struct sim_instance *take_any(void)
{
	struct sim_instance *instance;

	mutex_lock(&sim_lock);
	sim_open = false;
	list_for_each_entry(instance, &sim_instances, node) {
		if (!instance->dying) {
			instance->dying = true;
			mutex_unlock(&sim_lock);
			return instance;
		}
	}
	mutex_unlock(&sim_lock);
	return NULL;
}

/**
 * sim_bus_init() - register the bus; no device can be created yet
 *
 * Context: process.
 * Return: 0 or an errno.
 */
int sim_bus_init(void)
{
	return bus_register(&sim_bus);
}

/**
 * sim_bus_open() - allow devices to be created
 *
 * Context: process.
 */
void sim_bus_open(void)
{
	mutex_lock(&sim_lock);
	sim_open = true;
	mutex_unlock(&sim_lock);
}

/**
 * sim_bus_exit() - remove all devices, and the bus
 *
 * Context: process.
 */
void sim_bus_exit(void)
{
	struct sim_instance *instance;

	while ((instance = take_any()))
		destroy(instance);
	/* Waits for a concurrent del_device. */
	bus_unregister(&sim_bus);
}
