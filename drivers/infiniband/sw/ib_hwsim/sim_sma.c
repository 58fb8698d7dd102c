// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The subnet management agent: Get and Set of the attributes of a node. It answers for
 * a device, asked by ib_core or by a program at the far end, and for the crossbar of a
 * fabric.
 *
 * Lock: attrs->lock of the port that is read or changed.
 */
#include "sim_sma.h"

#include "sim.h"

/* MAD status (IBA 13.4.7). */
#define SMP_STATUS_BAD_ATTR	cpu_to_be16(0x000c)
#define SMP_STATUS_BAD_VALUE	cpu_to_be16(0x001c)

#define SMP_PKEYS_PER_BLOCK	32
#define SMP_GUIDS_PER_BLOCK	8

/* SwitchInfo, as far as it is used here (IBA 14.2.5.4). */
struct sim_switch_info {
	__be16 linear_cap;
	__be16 random_cap;
	__be16 mcast_cap;
	__be16 linear_top;
	u8 default_port;
	u8 default_mcast_primary;
	u8 default_mcast_not_primary;
	u8 lifetime_change;
	__be16 lids_per_port;
	__be16 enforcement_cap;
	u8 flags;
} __packed;

/* Less, where 64-bit fields are aligned to 32 bits. */
static_assert(sizeof(struct ib_port_info) <= IB_SMP_DATA_SIZE);
static_assert(sizeof(struct sim_switch_info) == 17);

/**
 * struct request - the request that is being answered
 * @node: the node that answers
 * @port: the port on which the request arrived
 * @set: Set, not Get
 * @modifier: attribute modifier
 * @data: attribute: the value to set, then the value of the response
 * @change: what was changed
 * @changed: the port that was changed
 */
struct request {
	struct sim_node *node;
	u32 port;
	bool set;
	u32 modifier;
	u8 *data;
	struct sim_change change;
	u32 changed;
};

static bool is_switch(const struct sim_node *node)
{
	return node->type == RDMA_NODE_IB_SWITCH;
}

/* A switch has its own attributes at port 0, an HCA has no port 0. */
static u32 own_port(const struct request *req)
{
	return is_switch(req->node) ? 0 : req->port;
}

static __be16 node_desc(struct request *req)
{
	if (req->set)
		return SMP_STATUS_BAD_ATTR;
	memcpy(req->data, req->node->desc, SIM_DESC_LEN);
	return 0;
}

static __be16 node_info(struct request *req)
{
	struct sim_attrs *attrs = req->node->attrs(req->node, own_port(req));
	struct ib_node_info info = {
		.base_version = IB_MGMT_BASE_VERSION,
		.class_version = 1,
		.node_type = req->node->type,
		.num_ports = req->node->num_ports,
		.sys_guid = cpu_to_be64(req->node->guid),
		.node_guid = cpu_to_be64(req->node->guid),
		.local_port_num = req->port,
	};
	unsigned long flags;

	if (req->set || !attrs)
		return SMP_STATUS_BAD_ATTR;
	spin_lock_irqsave(&attrs->lock, flags);
	info.port_guid = attrs->guids[0];
	info.partition_cap = cpu_to_be16(attrs->n_pkeys);
	spin_unlock_irqrestore(&attrs->lock, flags);
	memset(req->data, 0, IB_SMP_DATA_SIZE);
	memcpy(req->data, &info, sizeof(info));
	return 0;
}

static __be16 switch_info(struct request *req)
{
	struct sim_switch_info info = {
		.linear_cap = cpu_to_be16(SIM_LID_MULTICAST),
		.linear_top = cpu_to_be16(SIM_LID_MULTICAST - 1),
	};

	if (!is_switch(req->node))
		return SMP_STATUS_BAD_ATTR;
	/* Set has no effect: the crossbar forwards without tables. */
	memset(req->data, 0, IB_SMP_DATA_SIZE);
	memcpy(req->data, &info, sizeof(info));
	return 0;
}

/*
 * The physical state can be set to 2 and 3, the logical one to 1, 3 and 4; 0 means no
 * change. A link that is set to down or to polling trains again at once, as the far
 * end is always ready (IBA 7.2.7, 14.2.5.6).
 */
static void set_states(struct ib_port_info *info,
		       const struct ib_port_info *new)
{
	u8 phys = new->portphysstate_linkdown >> 4;
	u8 state = sim_info_state(new);

	if (state == IB_PORT_DOWN || phys == IB_PORT_PHYS_STATE_POLLING) {
		sim_info_set_phys(info, IB_PORT_PHYS_STATE_LINK_UP);
		sim_info_set_state(info, IB_PORT_INIT);
	} else if (phys == IB_PORT_PHYS_STATE_LINK_UP) {
		/* Not settable by a subnet manager, but by a program at the far end. */
		sim_info_set_phys(info, phys);
	}
	if (phys == IB_PORT_PHYS_STATE_DISABLED) {
		sim_info_set_phys(info, phys);
		sim_info_set_state(info, IB_PORT_DOWN);
	} else if (state > IB_PORT_DOWN && state <= IB_PORT_ACTIVE) {
		sim_info_set_state(info, state);
	}
}

static void set_info(struct ib_port_info *info, const struct ib_port_info *new)
{
	info->mkey = new->mkey;
	info->gid_prefix = new->gid_prefix;
	info->lid = new->lid;
	info->sm_lid = new->sm_lid;
	info->mkey_lease_period = new->mkey_lease_period;
	if (new->link_width_enabled)
		info->link_width_enabled = new->link_width_enabled;
	if (new->portphysstate_linkdown & 0xf) {
		info->portphysstate_linkdown &= 0xf0;
		info->portphysstate_linkdown |=
			new->portphysstate_linkdown & 0xf;
	}
	info->mkeyprot_resv_lmc = new->mkeyprot_resv_lmc & 0xc7;
	if (new->linkspeedactive_enabled & 0xf) {
		info->linkspeedactive_enabled &= 0xf0;
		info->linkspeedactive_enabled |=
			new->linkspeedactive_enabled & 0xf;
	}
	info->neighbormtu_mastersmsl = new->neighbormtu_mastersmsl;
	info->vlcap_inittype &= 0xf0;
	info->vlcap_inittype |= new->vlcap_inittype & 0xf;
	info->vl_high_limit = new->vl_high_limit;
	if (new->operationalvl_pei_peo_fpi_fpo & 0xf0)
		info->operationalvl_pei_peo_fpi_fpo =
			new->operationalvl_pei_peo_fpi_fpo;
	info->clientrereg_resv_subnetto = new->clientrereg_resv_subnetto & 0x1f;
	info->localphyerrors_overrunerrors = new->localphyerrors_overrunerrors;
	set_states(info, new);
}

static __be16 port_info(struct request *req)
{
	struct ib_port_info new, old;
	struct sim_attrs *attrs;
	unsigned long flags;
	u32 num = req->modifier & 0xff;

	if (!num)
		num = own_port(req);
	attrs = req->node->attrs(req->node, num);
	if (!attrs)
		return SMP_STATUS_BAD_VALUE;

	memcpy(&new, req->data, sizeof(new));
	spin_lock_irqsave(&attrs->lock, flags);
	old = attrs->info;
	if (req->set)
		set_info(&attrs->info, &new);
	memcpy(req->data, &attrs->info, sizeof(attrs->info));
	sim_info_compare(&old, &attrs->info, &req->change);
	spin_unlock_irqrestore(&attrs->lock, flags);

	req->changed = num;
	((struct ib_port_info *)req->data)->local_port_num = req->port;
	if (req->set && new.clientrereg_resv_subnetto & 0x80) {
		/* The response repeats this bit; it is not stored. */
		((struct ib_port_info *)req->data)->clientrereg_resv_subnetto |=
			0x80;
		req->change.reregister = true;
	}
	return 0;
}

static __be16 pkey_table(struct request *req)
{
	u32 first = (req->modifier & 0xffff) * SMP_PKEYS_PER_BLOCK;
	u32 num = is_switch(req->node) ? req->modifier >> 16 : req->port;
	__be16 *data = (__be16 *)req->data;
	struct sim_attrs *attrs;
	unsigned long flags;
	u32 i;

	attrs = req->node->attrs(req->node, num);
	if (!attrs || first >= attrs->n_pkeys)
		return SMP_STATUS_BAD_VALUE;

	spin_lock_irqsave(&attrs->lock, flags);
	for (i = 0; i < SMP_PKEYS_PER_BLOCK; i++) {
		if (first + i >= attrs->n_pkeys) {
			data[i] = 0;
			continue;
		}
		if (req->set &&
		    attrs->pkeys[first + i] != be16_to_cpu(data[i])) {
			attrs->pkeys[first + i] = be16_to_cpu(data[i]);
			req->change.pkeys = true;
		}
		data[i] = cpu_to_be16(attrs->pkeys[first + i]);
	}
	spin_unlock_irqrestore(&attrs->lock, flags);
	req->changed = num;
	return 0;
}

static __be16 guid_info(struct request *req)
{
	u32 first = req->modifier * SMP_GUIDS_PER_BLOCK;
	__be64 *data = (__be64 *)req->data;
	struct sim_attrs *attrs;
	unsigned long flags;
	u32 i;

	attrs = req->node->attrs(req->node, own_port(req));
	if (!attrs || req->modifier >= SIM_GUIDS / SMP_GUIDS_PER_BLOCK)
		return SMP_STATUS_BAD_VALUE;

	spin_lock_irqsave(&attrs->lock, flags);
	for (i = 0; i < SMP_GUIDS_PER_BLOCK; i++) {
		/* The first one is the port GUID, which cannot be set. */
		if (req->set && first + i &&
		    attrs->guids[first + i] != data[i]) {
			attrs->guids[first + i] = data[i];
			req->change.gids = true;
		}
		data[i] = attrs->guids[first + i];
	}
	spin_unlock_irqrestore(&attrs->lock, flags);
	req->changed = own_port(req);
	return 0;
}

/* Tables that are not used: Set succeeds without effect, Get returns zeros. */
static __be16 no_table(struct request *req)
{
	if (!req->set)
		memset(req->data, 0, IB_SMP_DATA_SIZE);
	return 0;
}

static const struct {
	__be16 id;
	__be16 (*answer)(struct request *req);
} attributes[] = {
	{ IB_SMP_ATTR_NODE_DESC, node_desc },
	{ IB_SMP_ATTR_NODE_INFO, node_info },
	{ IB_SMP_ATTR_SWITCH_INFO, switch_info },
	{ IB_SMP_ATTR_GUID_INFO, guid_info },
	{ IB_SMP_ATTR_PORT_INFO, port_info },
	{ IB_SMP_ATTR_PKEY_TABLE, pkey_table },
	{ IB_SMP_ATTR_SL_TO_VL_TABLE, no_table },
	{ IB_SMP_ATTR_VL_ARB_TABLE, no_table },
	{ IB_SMP_ATTR_LINEAR_FORWARD_TABLE, no_table },
	{ IB_SMP_ATTR_MCAST_FORWARD_TABLE, no_table },
};

static __be16 answer(struct request *req, __be16 id)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(attributes); i++)
		if (attributes[i].id == id)
			return attributes[i].answer(req);
	return SMP_STATUS_BAD_ATTR;
}

/**
 * sim_sma_answer() - answer an SMP
 * @node: the node that is asked
 * @port: the port on which the SMP arrived
 * @in: the SMP
 * @out: filled in: the response
 *
 * The hop pointer of the response is as an SMI expects it from its SMA after a directed
 * route of at least one hop; without an SMI, the caller has to update it.
 *
 * Context: any.
 * Return: false if the SMP is for a subnet manager, or not valid.
 */
bool sim_sma_answer(struct sim_node *node, u32 port, const struct ib_smp *in,
		    struct ib_smp *out)
{
	struct request req = {
		.node = node,
		.port = port,
		.set = in->method == IB_MGMT_METHOD_SET,
		.modifier = be32_to_cpu(in->attr_mod),
		.data = out->data,
	};
	__be16 status;

	if (in->base_version != IB_MGMT_BASE_VERSION ||
	    in->class_version != 1 || in->attr_id == IB_SMP_ATTR_SM_INFO)
		return false;
	if (in->mgmt_class != IB_MGMT_CLASS_SUBN_LID_ROUTED &&
	    in->mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return false;
	if (in->method != IB_MGMT_METHOD_GET && !req.set)
		return false;

	memcpy(out, in, sizeof(*out));
	status = answer(&req, in->attr_id);
	out->method = IB_MGMT_METHOD_GET_RESP;
	out->status = status;
	if (in->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		out->status |= IB_SMP_DIRECTION;
	if (node->changed && !status)
		node->changed(node, req.changed, &req.change);
	return true;
}

/**
 * sim_sma_get_port_info() - make the response to a Get(PortInfo)
 * @port: the port
 * @out: filled in: the response
 *
 * Context: any.
 */
void sim_sma_get_port_info(struct sim_port *port, struct ib_smp *out)
{
	struct ib_smp in = {
		.base_version = IB_MGMT_BASE_VERSION,
		.mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED,
		.class_version = 1,
		.method = IB_MGMT_METHOD_GET,
		.attr_id = IB_SMP_ATTR_PORT_INFO,
	};

	sim_sma_answer(&port->sim->node, port->num, &in, out);
}
