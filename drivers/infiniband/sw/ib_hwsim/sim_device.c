// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The life of one ib_device: its parts, and the order in which they are created and
 * destroyed.
 */
#include "sim_device.h"

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/slab.h>
#include "sim.h"
#include "sim_debugfs.h"
#include "sim_fabric.h"
#include "sim_medium_debugfs.h"
#include "sim_port.h"
#include "sim_raw.h"
#include "sim_verbs.h"
#include "sim_wire.h"

static struct sim_attrs *node_attrs(struct sim_node *node, u32 n)
{
	struct sim_dev *sim = container_of(node, struct sim_dev, node);
	struct sim_port *port = sim_dev_port(sim, n);

	return port ? &port->attrs : NULL;
}

static void node_changed(struct sim_node *node, u32 n,
			 const struct sim_change *change)
{
	struct sim_dev *sim = container_of(node, struct sim_dev, node);

	sim_port_changed(sim_dev_port(sim, n), change);
}

static void node_init(struct sim_dev *sim)
{
	struct sim_node *node = &sim->node;

	node->type = sim->config.is_switch ? RDMA_NODE_IB_SWITCH :
					     RDMA_NODE_IB_CA;
	node->num_ports = sim->config.ports;
	node->guid = sim->config.guid;
	memcpy(node->desc, sim->config.desc, sizeof(node->desc));
	node->attrs = node_attrs;
	node->changed = node_changed;
}

/*
 * ib_core allocates data of the ports 0 to the last; of a switch, of port 0 only. Its
 * SA client also reads the data behind that: ib_sa_add_one() of 6.1,
 * rdma_cap_ib_sa(device, i + 1), in drivers/infiniband/core/sa_query.c. So allocate
 * the data before this is a switch, and set up that of port 0.
 */
static int make_switch(struct ib_device *ibdev)
{
	struct ib_port_data *data;
	int ret;

	ret = ib_device_set_netdev(ibdev, NULL, 1);
	if (ret)
		return ret;
	data = &ibdev->port_data[0];
	data->ib_dev = ibdev;
	spin_lock_init(&data->pkey_list_lock);
	INIT_LIST_HEAD(&data->pkey_list);
	spin_lock_init(&data->netdev_lock);
	INIT_HLIST_NODE(&data->ndev_hash_link);
	ibdev->is_switch = true;
	return 0;
}

static int ibdev_init(struct sim_dev *sim, struct device *parent)
{
	struct ib_device *ibdev = &sim->ibdev;

	ibdev->node_type = sim->node.type;
	ibdev->node_guid = cpu_to_be64(sim->config.guid);
	ibdev->phys_port_cnt = sim->config.ports;
	ibdev->num_comp_vectors = 1;
	ibdev->dev.parent = parent;
	strscpy(ibdev->node_desc, sim->config.desc, sizeof(ibdev->node_desc));
	ib_set_device_ops(ibdev, &sim_dev_ops);
	/* Without process_mad, ib_core also sends the SMPs for this node. */
	if (!sim->config.far)
		ib_set_device_ops(ibdev, &sim_sma_ops);
	return sim->config.is_switch ? make_switch(ibdev) : 0;
}

/* The initial state of a port, before the device is registered. */
static void port_preset(struct sim_port *port, u32 index)
{
	const struct sim_config *config = &port->sim->config;
	bool up = config->lid || config->fabric[0];

	sim_attrs_preset(&port->attrs,
			 config->lid ? config->lid + (index << config->lmc) : 0,
			 config->lmc, up ? IB_PORT_ACTIVE : IB_PORT_INIT);
}

/* The files of a medium must be removed before the medium. */
static void remove_files(struct sim_port *port)
{
	debugfs_remove_recursive(port->dir);
	port->dir = NULL;
}

static int port_start(struct sim_port *port)
{
	const char *fabric = port->sim->config.fabric;
	int ret;

	sim_debugfs_port(port);
	ret = sim_medium_init(&port->medium, SIM_OUT, sim_wire_out, port);
	if (ret)
		return ret;
	sim_medium_debugfs(&port->medium, port->dir);
	ret = sim_medium_init(&port->medium_in, SIM_IN, sim_wire_in, port);
	if (ret)
		goto err_medium;
	sim_medium_debugfs(&port->medium_in, port->dir);
	if (fabric[0])
		ret = sim_fabric_join(port, fabric);
	if (ret)
		goto err_medium_in;
	return 0;

err_medium_in:
	remove_files(port);
	sim_medium_exit(&port->medium_in);
err_medium:
	remove_files(port);
	sim_medium_exit(&port->medium);
	return ret;
}

/*
 * The port has no QP and no attached file any more, so nothing enters its media. Once
 * they are empty, it sends nothing to the fabric; once it has left the fabric, it
 * receives nothing from there.
 */
static void port_stop(struct sim_port *port)
{
	sim_medium_exit(&port->medium_in);
	sim_medium_exit(&port->medium);
	if (port->fabric)
		sim_fabric_leave(port);
}

static int ports_start(struct sim_dev *sim)
{
	u32 i;
	int ret;

	for (i = 0; i < sim->n_ports; i++) {
		port_preset(&sim->port[i], i);
		ret = port_start(&sim->port[i]);
		if (ret)
			return ret;
		sim->n_started++;
	}
	return 0;
}

static void set_live(struct sim_dev *sim, bool live)
{
	unsigned long flags;

	spin_lock_irqsave(&sim->event_lock, flags);
	sim->live = live;
	spin_unlock_irqrestore(&sim->event_lock, flags);
}

/* Everything that is left after the device was unregistered. */
static void dismantle(struct sim_dev *sim)
{
	/* Waits for the users of the files, and so of the ports. */
	debugfs_remove_recursive(sim->dir);
	while (sim->n_started)
		port_stop(&sim->port[--sim->n_started]);
}

/**
 * sim_dev_create() - create a device
 * @config: its configuration
 * @parent: its parent in the device tree
 *
 * Context: process.
 * Return: the device, or an ERR_PTR.
 */
struct sim_dev *sim_dev_create(const struct sim_config *config,
			       struct device *parent)
{
	struct sim_dev *sim;
	char name[IB_DEVICE_NAME_MAX];
	u32 i;
	int ret;

	sim = ib_alloc_device(sim_dev, ibdev);
	if (!sim)
		return ERR_PTR(-ENOMEM);
	sim->config = *config;
	spin_lock_init(&sim->event_lock);
	sim->n_ports = config->is_switch ? 1 : config->ports;
	sim->port = kvcalloc(sim->n_ports, sizeof(*sim->port), GFP_KERNEL);
	ret = -ENOMEM;
	if (!sim->port)
		goto err_dealloc;
	for (i = 0; i < sim->n_ports; i++)
		sim_port_init(&sim->port[i], sim,
			      config->is_switch ? 0 : i + 1);
	node_init(sim);
	ret = ibdev_init(sim, parent);
	if (ret)
		goto err_free;

	sim_fail_init(&sim->fail, sim_fail_template());
	sim_debugfs_device(sim);
	ret = ports_start(sim);
	if (ret)
		goto err_dismantle;
	ret = sim_fail_hit(&sim->fail, SIM_VERB_REG);
	if (ret)
		goto err_dismantle;
	snprintf(name, sizeof(name), "hwsim%u", config->id);
	ret = ib_register_device(&sim->ibdev, name, NULL);
	if (ret)
		goto err_dismantle;
	set_live(sim, true);
	return sim;

err_dismantle:
	dismantle(sim);
err_free:
	kvfree(sim->port);
err_dealloc:
	ib_dealloc_device(&sim->ibdev);
	return ERR_PTR(ret);
}

/**
 * sim_dev_destroy() - remove a device, also one that is in use
 * @sim: the device, which cannot be looked up any more
 *
 * It waits for completions that are held, as it would for hardware that hangs; they
 * can be released meanwhile. An address handle that a client has lost is complained of
 * here, for ib_core does not count them.
 *
 * Context: process.
 */
void sim_dev_destroy(struct sim_dev *sim)
{
	u32 i;

	/* Programs cannot write to its ports from here on. */
	for (i = 0; i < sim->n_ports; i++)
		sim_raw_detach(&sim->port[i]);
	/* The work of a later event could outlive the device. */
	set_live(sim, false);
	/* Removes the clients, and with the last of them the QPs. */
	ib_unregister_device(&sim->ibdev);
	WARN(atomic_read(&sim->n_ah), "ib_hwsim: hwsim%u: %d address handles are left\n",
	     sim->config.id, atomic_read(&sim->n_ah));
	dismantle(sim);
	kvfree(sim->port);
	ib_dealloc_device(&sim->ibdev);
}
