// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* /sys/class/infiniband_mad, by which libibumad finds a port's device. */
#include "sysfs.h"

#include <linux/device.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include "hdr.h"
#include "port.h"
#include "umad_compat.h"

static ssize_t ibdev_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	struct umad_port *port = dev_get_drvdata(dev);
	char name[IB_DEVICE_NAME_MAX];

	if (umad_active_ref_is_dead(&port->active_ref))
		return -ENODEV;
	umad_port_get_name(port, name, sizeof(name));
	return sysfs_emit(buf, "%s\n", name);
}
static DEVICE_ATTR_RO(ibdev);

static ssize_t port_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	struct umad_port *port = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u\n", port->port_num);
}
static DEVICE_ATTR_RO(port);

static struct attribute *umad_dev_attrs[] = {
	&dev_attr_ibdev.attr,
	&dev_attr_port.attr,
	NULL,
};
ATTRIBUTE_GROUPS(umad_dev);

static ssize_t abi_version_show(UMAD_CLASS_ATTR_CONST struct class *class,
				UMAD_CLASS_ATTR_CONST struct class_attribute *attr,
				char *buf)
{
	return sysfs_emit(buf, "%d\n", IB_USER_MAD_ABI_VERSION);
}
static CLASS_ATTR_RO(abi_version);

static struct attribute *umad_class_attrs[] = {
	&class_attr_abi_version.attr,
	NULL,
};
ATTRIBUTE_GROUPS(umad_class);

static char *umad_devnode(UMAD_DEVNODE_CONST struct device *dev, umode_t *mode)
{
	return kasprintf(GFP_KERNEL, "infiniband/%s", dev_name(dev));
}

struct class umad_class = {
	.name = "infiniband_mad",
	.devnode = umad_devnode,
	.class_groups = umad_class_groups,
	.dev_groups = umad_dev_groups,
};
