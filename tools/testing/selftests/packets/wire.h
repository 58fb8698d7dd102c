/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The wire between the port under test and everybody else: the raw port of
 * ib_hwsim, or the far end of soft-RoCE's veth pair. Packets are frames of
 * ib_hwsim either way; on RoCE @grh has the IPv6 header, and LIDs mean nothing.
 */
#ifndef WIRE_H
#define WIRE_H

#include <linux/if_packet.h>

#include "fuzz.h"
#include "ib_hwsim.h"
#include "rmpp_util.h"

#define OWN_LID		4	/* and three more, by LMC */
#define PEER_LID	0x100
#define OPA_VERSION	0x80
#define OPA_LEN		2048
#define PERMISSIVE	0xffff

/* In a frame. */
#define GRH_LEN		40
#define GRH_SGID	8
#define GRH_DGID	24

enum wire_kind {
	WIRE_IB,
	WIRE_OPA,
	WIRE_ROCE,
};

struct wire {
	enum wire_kind kind;
	int fd;
	unsigned int device;		/* of ib_hwsim */
	struct test_port port;
	struct sockaddr_ll far;		/* RoCE: where to send */
	uint8_t mac[2][6];		/* of the far end, of the port */
	uint8_t last[4096];
};

int wire_open(struct wire *wire, const char *kind);
void wire_close(struct wire *wire);
int wire_inject(struct wire *wire, const struct ib_hwsim_frame *frame);
int wire_capture(struct wire *wire, struct ib_hwsim_frame *frame,
		 int wait_ms);
void wire_gid(const struct wire *wire, int peer, uint8_t gid[16]);
void wire_from_peer(const struct wire *wire, struct ib_hwsim_frame *frame,
		    int peer, bool grh);
int wire_peer_of(const struct wire *wire, const struct ib_hwsim_frame *frame);
bool wire_is_reachable(const struct wire *wire,
		       const struct ib_hwsim_frame *frame);
bool wire_is_to_own(const struct wire *wire,
		    const struct ib_hwsim_frame *frame);
bool wire_is_from_own(const struct wire *wire,
		      const struct ib_hwsim_frame *frame);

int fuzz_read(int fd, struct rmpp_msg *msg);

int roce_open(struct wire *wire);
int roce_inject(struct wire *wire, const struct ib_hwsim_frame *frame);
int roce_capture(struct wire *wire, struct ib_hwsim_frame *frame);

static inline struct mad_hdr *frame_mad(struct ib_hwsim_frame *frame)
{
	return (struct mad_hdr *)frame->mad;
}

static inline bool frame_has_grh(const struct ib_hwsim_frame *frame)
{
	return frame->flags & IB_HWSIM_GRH;
}

#endif /* WIRE_H */
