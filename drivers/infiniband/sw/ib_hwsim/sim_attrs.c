// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The attributes of a port that a subnet manager sees and sets, as on the
 * wire: PortInfo, P_Key table, GUIDs.
 *
 * Lock: attrs->lock, a leaf, hard irqs off, since post_send takes it.
 */
#include "sim_attrs.h"

/* Widths and speeds as PortInfo encodes them. */
#define SIM_WIDTH_4X		2
#define SIM_WIDTH_1X_4X		3
#define SIM_SPEED_10G		4	/* QDR, without extended speeds */
#define SIM_SPEED_ALL		7
#define SIM_MTU_4096		5
#define SIM_VL_0_7		4

#define SIM_CAPS (IB_PORT_TRAP_SUP | IB_PORT_SL_MAP_SUP |		\
		  IB_PORT_SYS_IMAGE_GUID_SUP | IB_PORT_CM_SUP |		\
		  IB_PORT_CAP_MASK_NOTICE_SUP | IB_PORT_CLIENT_REG_SUP)

/**
 * sim_attrs_init() - set up attributes with their defaults
 * @attrs: of the port
 * @prefix: of its subnet
 * @guid: its GUID
 * @pkeys: entries of its P_Key table
 *
 * Context: any; nobody else uses @attrs yet.
 */
void sim_attrs_init(struct sim_attrs *attrs, u64 prefix, u64 guid, u16 pkeys)
{
	struct ib_port_info *info = &attrs->info;

	spin_lock_init(&attrs->lock);
	attrs->n_pkeys = pkeys;
	attrs->pkeys[0] = IB_DEFAULT_PKEY_FULL;
	attrs->guids[0] = cpu_to_be64(guid);

	info->gid_prefix = cpu_to_be64(prefix);
	info->cap_mask = cpu_to_be32(SIM_CAPS);
	info->link_width_enabled = SIM_WIDTH_1X_4X;
	info->link_width_supported = SIM_WIDTH_1X_4X;
	info->link_width_active = SIM_WIDTH_4X;
	info->linkspeed_portstate = SIM_SPEED_ALL << 4;
	info->linkspeedactive_enabled = SIM_SPEED_10G << 4 | SIM_SPEED_ALL;
	info->portphysstate_linkdown = IB_PORT_PHYS_STATE_POLLING;
	info->neighbormtu_mastersmsl = SIM_MTU_4096 << 4;
	info->vlcap_inittype = SIM_VL_0_7 << 4;
	info->inittypereply_mtucap = SIM_MTU_4096;
	info->operationalvl_pei_peo_fpi_fpo = SIM_VL_0_7 << 4;
	info->guid_cap = SIM_GUIDS;
	info->resv_resptimevalue = 16;
	sim_info_set_state(info, IB_PORT_DOWN);
	sim_info_set_phys(info, IB_PORT_PHYS_STATE_POLLING);
}

/**
 * sim_info_set_state() - change the logical state
 * @info: PortInfo
 * @state: the new one
 *
 * Context: any; the caller holds the lock of @info if others know it.
 */
void sim_info_set_state(struct ib_port_info *info, enum ib_port_state state)
{
	/* One store: sim_attrs_state() reads without the lock. */
	WRITE_ONCE(info->linkspeed_portstate,
		   (info->linkspeed_portstate & 0xf0) | state);
}

/**
 * sim_info_set_phys() - change the physical state
 * @info: PortInfo
 * @phys: the new one
 *
 * Context: any; the caller holds the lock of @info if others know it.
 */
void sim_info_set_phys(struct ib_port_info *info, enum ib_port_phys_state phys)
{
	info->portphysstate_linkdown &= 0x0f;
	info->portphysstate_linkdown |= phys << 4;
}

/**
 * sim_info_set_lmc() - change the LMC
 * @info: PortInfo
 * @lmc: the new one
 *
 * Context: any; the caller holds the lock of @info if others know it.
 */
void sim_info_set_lmc(struct ib_port_info *info, u8 lmc)
{
	info->mkeyprot_resv_lmc &= ~0x7;
	info->mkeyprot_resv_lmc |= lmc & 0x7;
}

/**
 * sim_attrs_preset() - give a port a LID and a state before it is used
 * @attrs: of the port
 * @lid: base LID
 * @lmc: number of path bits
 * @state: logical state; the physical one follows from it
 *
 * Context: any.
 */
void sim_attrs_preset(struct sim_attrs *attrs, u32 lid, u32 lmc,
		      enum ib_port_state state)
{
	unsigned long flags;

	spin_lock_irqsave(&attrs->lock, flags);
	attrs->info.lid = cpu_to_be16(lid);
	sim_info_set_lmc(&attrs->info, lmc);
	sim_info_set_state(&attrs->info, state);
	sim_info_set_phys(&attrs->info, state == IB_PORT_DOWN ?
			  IB_PORT_PHYS_STATE_POLLING :
			  IB_PORT_PHYS_STATE_LINK_UP);
	spin_unlock_irqrestore(&attrs->lock, flags);
}

/**
 * sim_attrs_lid() - get the LID
 * @attrs: of the port
 * @lmc: set to the LMC
 *
 * Context: any.
 * Return: the base LID, or 0.
 */
u32 sim_attrs_lid(struct sim_attrs *attrs, u32 *lmc)
{
	unsigned long flags;
	u32 lid;

	spin_lock_irqsave(&attrs->lock, flags);
	lid = be16_to_cpu(attrs->info.lid);
	*lmc = sim_info_lmc(&attrs->info);
	spin_unlock_irqrestore(&attrs->lock, flags);
	return lid;
}

/**
 * sim_attrs_has_lid() - check whether a LID is one of the port's
 * @attrs: of the port
 * @dlid: the LID
 *
 * Context: any.
 * Return: whether it is.
 */
bool sim_attrs_has_lid(struct sim_attrs *attrs, u32 dlid)
{
	u32 lmc;
	u32 lid = sim_attrs_lid(attrs, &lmc);

	return lid && dlid >> lmc == lid >> lmc;
}

/**
 * sim_attrs_state() - get the logical state
 * @attrs: of the port
 *
 * Context: any.
 * Return: the state.
 */
enum ib_port_state sim_attrs_state(struct sim_attrs *attrs)
{
	/* No lock: it is one byte, and may change right after this anyway. */
	return READ_ONCE(attrs->info.linkspeed_portstate) & 0xf;
}

/**
 * sim_attrs_pkey() - get a P_Key
 * @attrs: of the port
 * @index: its index in the table
 * @pkey: set to the P_Key
 *
 * Context: any.
 * Return: 0, or -EINVAL if the table is shorter.
 */
int sim_attrs_pkey(struct sim_attrs *attrs, u32 index, u16 *pkey)
{
	unsigned long flags;

	if (index >= attrs->n_pkeys)
		return -EINVAL;
	spin_lock_irqsave(&attrs->lock, flags);
	*pkey = attrs->pkeys[index];
	spin_unlock_irqrestore(&attrs->lock, flags);
	return 0;
}

/**
 * sim_attrs_find_pkey() - find the P_Key of a packet in the table
 * @attrs: of the port
 * @pkey: of the packet
 *
 * An equal entry matches; otherwise one of the same partition does if one of the
 * two is a full member (IBA 10.9.3).
 *
 * Context: any.
 * Return: the index, or -ENOENT.
 */
int sim_attrs_find_pkey(struct sim_attrs *attrs, u16 pkey)
{
	int found = -ENOENT;
	unsigned long flags;
	u16 entry;
	int i;

	if (!(pkey & ~SIM_PKEY_MEMBER))
		return -ENOENT;
	spin_lock_irqsave(&attrs->lock, flags);
	for (i = 0; i < attrs->n_pkeys; i++) {
		entry = attrs->pkeys[i];
		if (entry == pkey) {
			found = i;
			break;
		}
		if (!((entry ^ pkey) & ~SIM_PKEY_MEMBER) && found < 0)
			found = i;	/* Only the membership differs. */
	}
	spin_unlock_irqrestore(&attrs->lock, flags);
	return found;
}

/**
 * sim_attrs_gid() - get a GID
 * @attrs: of the port
 * @index: its index in the table
 * @gid: set to the GID
 *
 * Context: any.
 * Return: 0, or -EINVAL if the table is shorter.
 */
int sim_attrs_gid(struct sim_attrs *attrs, u32 index, union ib_gid *gid)
{
	unsigned long flags;

	if (index >= SIM_GUIDS)
		return -EINVAL;
	spin_lock_irqsave(&attrs->lock, flags);
	gid->global.subnet_prefix = attrs->info.gid_prefix;
	gid->global.interface_id = attrs->guids[index];
	spin_unlock_irqrestore(&attrs->lock, flags);
	return 0;
}

/**
 * sim_attrs_set_caps() - change PortInfo:CapabilityMask
 * @attrs: of the port
 * @set: bits to set
 * @clear: bits to clear
 *
 * Context: any.
 * Return: true if the mask has changed.
 */
bool sim_attrs_set_caps(struct sim_attrs *attrs, u32 set, u32 clear)
{
	unsigned long flags;
	bool changed;
	__be32 old;

	spin_lock_irqsave(&attrs->lock, flags);
	old = attrs->info.cap_mask;
	attrs->info.cap_mask |= cpu_to_be32(set);
	attrs->info.cap_mask &= ~cpu_to_be32(clear);
	changed = attrs->info.cap_mask != old;
	spin_unlock_irqrestore(&attrs->lock, flags);
	return changed;
}

/**
 * sim_info_compare() - find what has changed
 * @old: PortInfo before
 * @new: PortInfo after
 * @change: what differs is set; the rest stays
 *
 * Context: any.
 */
void sim_info_compare(const struct ib_port_info *old,
		      const struct ib_port_info *new,
		      struct sim_change *change)
{
	bool was_up = sim_info_state(old) == IB_PORT_ACTIVE;
	bool is_up = sim_info_state(new) == IB_PORT_ACTIVE;

	change->lid |= old->lid != new->lid ||
		       sim_info_lmc(old) != sim_info_lmc(new);
	change->sm |= old->sm_lid != new->sm_lid ||
		      ((old->neighbormtu_mastersmsl ^
			new->neighbormtu_mastersmsl) & 0xf);
	change->gids |= old->gid_prefix != new->gid_prefix;
	change->up |= is_up && !was_up;
	change->down |= was_up && !is_up;
}
