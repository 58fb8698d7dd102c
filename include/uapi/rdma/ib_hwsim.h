/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The raw port of ib_hwsim: a program is the far end of a port. It reads the MADs that
 * the port sends, and writes MADs that the port receives, with their addressing.
 *
 * open("/dev/ib_hwsim"), ioctl(IB_HWSIM_ATTACH), then one frame for each read() and
 * write(). All numbers are in the host's byte order; @grh and @mad are as on the wire.
 */
#ifndef IB_HWSIM_H
#define IB_HWSIM_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define IB_HWSIM_MAX_MAD	2048

/* struct ib_hwsim_frame.flags */
#define IB_HWSIM_GRH		(1U << 0)	/* grh is valid */
#define IB_HWSIM_TO_SMA		(1U << 1)	/* written: for the port's SMA, not for QP0 */
#define IB_HWSIM_FROM_SMA	(1U << 2)	/* read: the response to such a MAD */
/*
 * read: no MAD was sent; the host has changed the port (the IsSM bit, by modify_port).
 * mad is the response of its SMA to Get(PortInfo).
 */
#define IB_HWSIM_PORT_EVENT	(1U << 3)

/**
 * struct ib_hwsim_frame - one MAD on the wire
 * @len: bytes of the MAD: 256, or up to 2,048 with OPA
 * @flags: IB_HWSIM_*
 * @slid: source LID (LRH:SLID), path bits included
 * @dlid: destination LID (LRH:DLID); 0xffff is the permissive one
 * @src_qp: number of the sending QP (DETH:SrcQP)
 * @dest_qp: number of the receiving QP (BTH:DestQP)
 * @qkey: Q_Key (DETH)
 * @pkey: P_Key, the value and not an index (BTH)
 * @sl: service level (LRH:SL)
 * @reserved: 0
 * @grh: global route header, if @flags has IB_HWSIM_GRH
 * @mad: the MAD
 */
struct ib_hwsim_frame {
	__u32 len;
	__u32 flags;
	__u32 slid;
	__u32 dlid;
	__u32 src_qp;
	__u32 dest_qp;
	__u32 qkey;
	__u16 pkey;
	__u8 sl;
	__u8 reserved;
	__u8 grh[40];
	__u8 mad[IB_HWSIM_MAX_MAD];
};

/* Bytes of a frame with a MAD of len bytes: what read() returns and write() takes. */
#define IB_HWSIM_FRAME_LEN(len) (offsetof(struct ib_hwsim_frame, mad) + (len))

/**
 * struct ib_hwsim_attach - the port to attach to
 * @device: the number in the device's name
 * @port: its port; a switch has port 0 only
 */
struct ib_hwsim_attach {
	__u32 device;
	__u32 port;
};

#define IB_HWSIM_ATTACH		_IOW(0xbd, 1, struct ib_hwsim_attach)

#endif
