// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A port: its counters, and its events for ib_core. How it sends and receives is in
 * sim_link.c.
 *
 * Lock: sim->event_lock: no event is dispatched while the device is unregistered.
 */
#include "sim_port.h"

#include <linux/seq_file.h>

static const char * const count_names[SIM_COUNTS] = {
	[SIM_TX_PACKETS] = "tx_packets",
	[SIM_TX_BYTES] = "tx_bytes",
	[SIM_TX_PORT_STATE] = "tx_port_state",
	[SIM_RX_PACKETS] = "rx_packets",
	[SIM_RX_BYTES] = "rx_bytes",
	[SIM_RX_PORT_STATE] = "rx_port_state",
	[SIM_RX_NO_QP] = "rx_no_qp",
	[SIM_RX_NO_BUFFER] = "rx_no_buffer",
	[SIM_RX_TOO_LONG] = "rx_too_long",
	[SIM_RX_PKEY_VIOLATION] = "rx_pkey_violation",
	[SIM_RX_QKEY_VIOLATION] = "rx_qkey_violation",
	[SIM_NO_FAR_END] = "no_far_end",
	[SIM_NO_ROUTE] = "no_route",
	[SIM_RAW_OVERFLOW] = "raw_overflow",
	[SIM_SMA_ANSWERED] = "sma_answered",
	[SIM_CQ_OVERFLOW] = "cq_overflow",
};

/**
 * sim_count_name() - get the name of a counter
 * @what: the counter
 *
 * Context: any.
 * Return: its name, a string constant.
 */
const char *sim_count_name(enum sim_count what)
{
	return count_names[what];
}

/**
 * sim_dev_port() - look up a port
 * @sim: the device
 * @num: number of the port: 0 on a switch, from 1 on an HCA
 *
 * Context: any.
 * Return: the port, or NULL if there is none of that number.
 */
struct sim_port *sim_dev_port(struct sim_dev *sim, u32 num)
{
	u32 first = sim->config.is_switch ? 0 : 1;

	if (num < first || num - first >= sim->n_ports)
		return NULL;
	return &sim->port[num - first];
}

/**
 * sim_port_init() - set up a port
 * @port: the port, which nobody uses yet
 * @sim: its device, whose config is set
 * @num: its number
 *
 * Context: process.
 */
void sim_port_init(struct sim_port *port, struct sim_dev *sim, u32 num)
{
	port->sim = sim;
	port->num = num;
	spin_lock_init(&port->qp_lock);
	spin_lock_init(&port->far_lock);
	/* Port 0 of a switch has the GUID of its node. */
	sim_attrs_init(&port->attrs, sim->config.prefix,
		       sim->config.guid + num, sim->config.pkeys);
}

/**
 * sim_port_show_counts() - print one line for each counter
 * @port: the port
 * @seq: the file
 *
 * Context: process.
 */
void sim_port_show_counts(struct sim_port *port, struct seq_file *seq)
{
	int i;

	for (i = 0; i < SIM_COUNTS; i++)
		seq_printf(seq, "%s %lld\n", count_names[i],
			   atomic64_read(&port->counts[i]));
}

/**
 * sim_port_event() - dispatch an event, unless the device is being removed
 * @port: its port
 * @type: the event
 *
 * Context: any.
 */
void sim_port_event(struct sim_port *port, enum ib_event_type type)
{
	struct sim_dev *sim = port->sim;
	struct ib_event event = {
		.device = &sim->ibdev,
		.element.port_num = port->num,
		.event = type,
	};
	unsigned long flags;

	spin_lock_irqsave(&sim->event_lock, flags);
	if (sim->live)
		ib_dispatch_event(&event);	/* Queues a work. */
	spin_unlock_irqrestore(&sim->event_lock, flags);
}

/**
 * sim_port_changed() - dispatch the events of changed attributes
 * @port: the port
 * @change: what has changed
 *
 * Context: any.
 */
void sim_port_changed(struct sim_port *port, const struct sim_change *change)
{
	if (change->pkeys)
		sim_port_event(port, IB_EVENT_PKEY_CHANGE);
	if (change->gids)
		sim_port_event(port, IB_EVENT_GID_CHANGE);
	if (change->lid)
		sim_port_event(port, IB_EVENT_LID_CHANGE);
	if (change->sm)
		sim_port_event(port, IB_EVENT_SM_CHANGE);
	if (change->down)
		sim_port_event(port, IB_EVENT_PORT_ERR);
	if (change->up)
		sim_port_event(port, IB_EVENT_PORT_ACTIVE);
	if (change->reregister)
		sim_port_event(port, IB_EVENT_CLIENT_REREGISTER);
}
