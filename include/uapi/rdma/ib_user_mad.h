/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The user MAD ABI, version 5: what a process reads from, writes to and
 * passes to ioctl() on /dev/infiniband/umadN.
 *
 * Every structure has one layout on 32-bit and 64-bit callers, except that
 * @method_mask of struct ib_user_mad_reg_req is made of the caller's longs.
 */
#ifndef IB_USER_MAD_H
#define IB_USER_MAD_H

#include <linux/types.h>
#include <rdma/rdma_user_ioctl.h>

/* Shown in /sys/class/infiniband_mad/abi_version; rises on breaking changes. */
#define IB_USER_MAD_ABI_VERSION	5

/**
 * struct ib_user_mad_hdr_old - header before each MAD, without a P_Key index
 * @id: agent that received the MAD, or that is to send it
 * @status: read: 0, or ETIMEDOUT on a request that nobody answered (then the
 *	transaction ID behind the header is the one the request went out with);
 *	write: ignored
 * @timeout_ms: write: milliseconds to wait for the response to each attempt;
 *	0 expects none, 0x80000000 and above waits forever; read: 0
 * @retries: write: attempts after the first; read: 0
 * @length: read: bytes of header and MAD; write: ignored
 * @qpn: remote queue pair number
 * @qkey: ignored, the port's well-known Q_Key is used; read: 0
 * @lid: remote LID
 * @sl: service level
 * @path_bits: low bits of the local LID
 * @grh_present: a GRH was received, or is to be sent
 * @gid_index: index of the local GID in the port's table
 * @hop_limit: of the GRH
 * @traffic_class: of the GRH
 * @gid: remote GID, network order
 * @flow_label: of the GRH
 *
 * The layout a file speaks until it asks for struct ib_user_mad_hdr.
 */
struct ib_user_mad_hdr_old {
	__u32	id;
	__u32	status;
	__u32	timeout_ms;
	__u32	retries;
	__u32	length;
	__be32	qpn;
	__be32  qkey;
	__be16	lid;
	__u8	sl;
	__u8	path_bits;
	__u8	grh_present;
	__u8	gid_index;
	__u8	hop_limit;
	__u8	traffic_class;
	__u8	gid[16];
	__be32	flow_label;
};

/**
 * struct ib_user_mad_hdr - header before each MAD, with the P_Key index
 * @id: see struct ib_user_mad_hdr_old, as all members up to @flow_label
 * @status: 0 or ETIMEDOUT
 * @timeout_ms: milliseconds for each attempt
 * @retries: attempts after the first
 * @length: bytes of header and MAD
 * @qpn: remote queue pair number
 * @qkey: ignored
 * @lid: remote LID
 * @sl: service level
 * @path_bits: low bits of the local LID
 * @grh_present: with GRH
 * @gid_index: index of the local GID
 * @hop_limit: of the GRH
 * @traffic_class: of the GRH
 * @gid: remote GID, network order
 * @flow_label: of the GRH
 * @pkey_index: index into the port's P_Key table that the MAD was received
 *	with, or is to be sent with
 * @reserved: write: ignored; received: 0; on a request that nobody answered as it
 *	was written, but of an RMPP message: [0] says why it was not delivered, or 0
 *	if it was, [1] is the RMPPStatus (Documentation/user/rmpp.rst)
 *
 * Used by a file after IB_USER_MAD_ENABLE_PKEY, or when its first agent was
 * registered with IB_USER_MAD_REGISTER_AGENT2.
 */
struct ib_user_mad_hdr {
	__u32	id;
	__u32	status;
	__u32	timeout_ms;
	__u32	retries;
	__u32	length;
	__be32	qpn;
	__be32  qkey;
	__be16	lid;
	__u8	sl;
	__u8	path_bits;
	__u8	grh_present;
	__u8	gid_index;
	__u8	hop_limit;
	__u8	traffic_class;
	__u8	gid[16];
	__be32	flow_label;
	__u16	pkey_index;
	__u8	reserved[6];
};

/**
 * struct ib_user_mad - one record of read() and write()
 * @hdr: where the MAD came from or goes to
 * @data: the MAD, as on the wire
 */
struct ib_user_mad {
	struct ib_user_mad_hdr hdr;
	__aligned_u64	data[];
};

/* The caller's long, aligned as a __u32 so that the structure is packed. */
typedef unsigned long __attribute__((aligned(4))) packed_ulong;
#define IB_USER_MAD_LONGS_PER_METHOD_MASK (128 / (8 * sizeof(long)))

/**
 * struct ib_user_mad_reg_req - argument of IB_USER_MAD_REGISTER_AGENT
 * @id: set on return: names the agent in headers and in UNREGISTER
 * @qpn: 0 or 1
 * @method_mask: methods whose unsolicited MADs the agent is to get
 * @mgmt_class: their management class; 0 for an agent that only sends
 * @mgmt_class_version: their class version
 * @oui: IEEE OUI, for vendor classes 0x30 to 0x4f
 * @rmpp_version: 0, or 1 to have RMPP done by the kernel
 */
struct ib_user_mad_reg_req {
	__u32	id;
	packed_ulong method_mask[IB_USER_MAD_LONGS_PER_METHOD_MASK];
	__u8	qpn;
	__u8	mgmt_class;
	__u8	mgmt_class_version;
	__u8    oui[3];
	__u8	rmpp_version;
};

/* Flags of struct ib_user_mad_reg_req2. */
enum {
	/* The process does RMPP itself: segments pass through untouched. */
	IB_USER_MAD_USER_RMPP = (1 << 0),
};

#define IB_USER_MAD_REG_FLAGS_CAP (IB_USER_MAD_USER_RMPP)

/**
 * struct ib_user_mad_reg_req2 - argument of IB_USER_MAD_REGISTER_AGENT2
 * @id: set on return: names the agent in headers and in UNREGISTER
 * @qpn: 0 or 1
 * @mgmt_class: management class; 0 for an agent that only sends
 * @mgmt_class_version: class version
 * @res: ignored
 * @flags: of IB_USER_MAD_REG_FLAGS_CAP; when one is unknown the call fails
 *	and the known ones are written here
 * @method_mask: methods whose unsolicited MADs the agent is to get
 * @oui: IEEE OUI in the low 24 bits, for vendor classes 0x30 to 0x4f
 * @rmpp_version: 0, or 1 to have RMPP done by the kernel
 * @reserved: ignored
 */
struct ib_user_mad_reg_req2 {
	__u32	id;
	__u32	qpn;
	__u8	mgmt_class;
	__u8	mgmt_class_version;
	__u16   res;
	__u32   flags;
	__aligned_u64 method_mask[2];
	__u32   oui;
	__u8	rmpp_version;
	__u8	reserved[3];
};

#endif /* IB_USER_MAD_H */
