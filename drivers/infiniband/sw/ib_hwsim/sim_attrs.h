/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The attributes of a port that a subnet manager sees and sets, as on the
 * wire: PortInfo, P_Key table, GUIDs.
 */
#ifndef SIM_ATTRS_H
#define SIM_ATTRS_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>
#include <rdma/ib_verbs.h>

#define SIM_MAX_PKEYS	128
#define SIM_GUIDS	8
#define SIM_LID_PERMISSIVE	0xffff
#define SIM_LID_MULTICAST	0xc000	/* the first of them */
#define SIM_PKEY_MEMBER		0x8000	/* full, not limited */

/**
 * struct sim_attrs - attributes of a port that a subnet manager sees and sets
 * @lock: protects @info, @pkeys, @guids; hard irqs off
 * @info: PortInfo as on the wire
 * @n_pkeys: entries of @pkeys; constant after init
 * @pkeys: P_Key table
 * @guids: GUIDInfo; index 0 is the port's own
 */
struct sim_attrs {
	spinlock_t lock;	/* a leaf, hard irqs off */
	struct ib_port_info info;
	u16 n_pkeys;
	u16 pkeys[SIM_MAX_PKEYS];
	__be64 guids[SIM_GUIDS];
};

/**
 * struct sim_change - what differs between two states of a port's attributes
 * @lid: LID or LMC
 * @sm: LID or SL of the SM
 * @gids: subnet prefix or GUIDs
 * @pkeys: P_Key table
 * @up: the port became active
 * @down: it no longer is
 * @reregister: the SM asks clients to register again
 */
struct sim_change {
	bool lid;
	bool sm;
	bool gids;
	bool pkeys;
	bool up;
	bool down;
	bool reregister;
};

static inline enum ib_port_state sim_info_state(const struct ib_port_info *info)
{
	return info->linkspeed_portstate & 0xf;
}

static inline u8 sim_info_lmc(const struct ib_port_info *info)
{
	return info->mkeyprot_resv_lmc & 0x7;
}

void sim_attrs_init(struct sim_attrs *attrs, u64 prefix, u64 guid, u16 pkeys);
void sim_attrs_preset(struct sim_attrs *attrs, u32 lid, u32 lmc,
		      enum ib_port_state state);
u32 sim_attrs_lid(struct sim_attrs *attrs, u32 *lmc);
bool sim_attrs_has_lid(struct sim_attrs *attrs, u32 dlid);
enum ib_port_state sim_attrs_state(struct sim_attrs *attrs);
int sim_attrs_pkey(struct sim_attrs *attrs, u32 index, u16 *pkey);
int sim_attrs_find_pkey(struct sim_attrs *attrs, u16 pkey);
int sim_attrs_gid(struct sim_attrs *attrs, u32 index, union ib_gid *gid);
void sim_info_set_state(struct ib_port_info *info, enum ib_port_state state);
void sim_info_set_phys(struct ib_port_info *info,
		       enum ib_port_phys_state phys);
void sim_info_set_lmc(struct ib_port_info *info, u8 lmc);
bool sim_attrs_set_caps(struct sim_attrs *attrs, u32 set, u32 clear);
void sim_info_compare(const struct ib_port_info *old,
		      const struct ib_port_info *new,
		      struct sim_change *change);

#endif
