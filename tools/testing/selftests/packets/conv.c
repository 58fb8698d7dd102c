// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Conversations of the peers with programs of the port: transfers in both
 * directions that follow the protocol, but for some of their packets.
 */
#include "attack.h"

/* Segments that a peer allows at once. */
#define WINDOW	32

static struct conv *conv_find(struct attack *attack, int peer, uint8_t class,
			      uint64_t tid)
{
	struct conv *conv;

	for (conv = attack->conv; conv < attack->conv + CONVS; conv++)
		if (conv->used && conv->peer == peer && conv->tid == tid &&
		    conv->service.mgmt_class == class)
			return conv;
	return NULL;
}

/* The place of one that is abandoned, if all are taken. */
static struct conv *conv_new(struct attack *attack)
{
	struct conv *conv = &attack->conv[rnd(&attack->rng, CONVS)];
	int i;

	for (i = 0; conv->used && i < 4; i++)
		conv = &attack->conv[rnd(&attack->rng, CONVS)];
	memset(conv, 0, sizeof(*conv));
	conv->used = true;
	conv->qpn = chance(&attack->rng, 95) ? 1 : 2 + rnd(&attack->rng, 5);
	conv->evil = chance(&attack->rng, 50) ? 0 : rnd(&attack->rng, 30);
	attack->counts.convs++;
	return conv;
}

static size_t seg_data(const struct ib_hwsim_frame *frame)
{
	return (frame->mad[0] == OPA_VERSION ? OPA_LEN : MAD_LEN) -
	       rmpp_offset(frame->mad[1]);
}

static uint32_t any_segs(struct attack *attack)
{
	switch (rnd(&attack->rng, 10)) {
	case 0 ... 2:
		return 1;
	case 3 ... 5:
		return 2;
	case 6 ... 8:
		return 2 + rnd(&attack->rng, 30);
	default:
		return 2 + rnd(&attack->rng, 600);
	}
}

static void conv_sends(struct attack *attack, struct conv *conv, uint32_t segs)
{
	conv->sending = true;
	conv->segs = segs;
	conv->last_len = rnd(&attack->rng, 150);
	conv->seed = conv->tid;
	conv->next = 1;
	conv->acked = 0;
	conv->window = 1;
}

void conv_begin(struct attack *attack)
{
	struct rng *rng = &attack->rng;
	struct conv *conv = conv_new(attack);

	do {
		conv->service = services[rnd(rng, services_n)];
	} while (!conv->service.rmpp);
	conv->peer = rnd(rng, PEERS);
	conv->grh = chance(rng, 30);
	conv->tid = (uint64_t)(0x10000 + rnd(rng, 16)) << 32 |
		    rnd(rng, chance(rng, 50) ? 16 : 1 << 20);
	conv_sends(attack, conv, any_segs(attack));
}

static void conv_frame(struct attack *attack, const struct conv *conv,
		       struct ib_hwsim_frame *frame)
{
	frame_init(attack, frame, &conv->service, conv->tid);
	wire_from_peer(attack->wire, frame, conv->peer, conv->grh);
	frame->src_qp = conv->qpn;
	/* One size for all segments. */
	if (attack->wire->kind == WIRE_OPA) {
		frame->mad[0] = conv->tid & 1 ? OPA_VERSION : 1;
		frame->len = conv->tid & 1 ? OPA_LEN : MAD_LEN;
	}
}

/* It goes out: as it is, changed, late, twice or not at all. */
static void conv_out(struct attack *attack, const struct conv *conv,
		     struct ib_hwsim_frame *frame)
{
	if (!chance(&attack->rng, conv->evil)) {
		attack_send(attack, frame);
		return;
	}
	switch (rnd(&attack->rng, 5)) {
	case 0:
		return;
	case 1:
		attack_send(attack, frame);
		attack_send(attack, frame);
		return;
	case 2:
		attack_later(attack, frame);
		return;
	default:
		mutate(attack, frame);
		attack_send(attack, frame);
	}
}

static void conv_data(struct attack *attack, const struct conv *conv,
		      uint32_t seg)
{
	const uint32_t class_hdr =
		rmpp_offset(conv->service.mgmt_class) - RMPP_HDR;
	struct ib_hwsim_frame frame;
	struct rmpp_pkt pkt = {
		.version = 1,
		.type = RMPP_DATA,
		.flags = RMPP_ACTIVE,
		.seg = seg,
	};
	size_t data;

	conv_frame(attack, conv, &frame);
	data = seg_data(&frame);
	if (seg == 1) {
		pkt.flags |= RMPP_FIRST;
		pkt.len = (conv->segs - 1) * (class_hdr + data) +
			  class_hdr + conv->last_len;
	}
	if (seg == conv->segs) {
		pkt.flags |= RMPP_LAST;
		pkt.len = class_hdr + conv->last_len;
	}
	rmpp_put(frame.mad, &pkt);
	rmpp_fill(frame.mad + rmpp_offset(conv->service.mgmt_class),
		  (size_t)(seg - 1) * data, data, conv->seed);
	conv_out(attack, conv, &frame);
}

static void conv_control(struct attack *attack, const struct conv *conv,
			 uint8_t type, uint32_t seg, uint32_t window,
			 uint8_t status)
{
	struct ib_hwsim_frame frame;
	const struct rmpp_pkt pkt = {
		.version = 1,
		.type = type,
		.flags = RMPP_ACTIVE,
		.status = status,
		.seg = seg,
		.len = window,
	};

	conv_frame(attack, conv, &frame);
	memcpy(frame.mad, conv->head, sizeof(conv->head));
	frame_mad(&frame)->method ^= METHOD_RESP;
	rmpp_put(frame.mad, &pkt);
	conv_out(attack, conv, &frame);
}

/* Some segments of one that sends; a new one if there is none. */
void conv_step(struct attack *attack)
{
	struct rng *rng = &attack->rng;
	struct conv *conv = NULL;
	unsigned int n = 1 + rnd(rng, 8);
	int i, at = rnd(rng, CONVS);

	for (i = 0; i < CONVS && !conv; i++) {
		struct conv *one = &attack->conv[(at + i) % CONVS];

		if (one->used && one->sending &&
		    (one->next <= one->segs && one->next <= one->window))
			conv = one;
	}
	if (!conv) {
		conv_begin(attack);
		return;
	}
	while (n-- && conv->next <= conv->segs && conv->next <= conv->window)
		conv_data(attack, conv, conv->next++);
	/* Not all wait for an answer, and not all go on. */
	if (chance(rng, conv->evil))
		conv->window += rnd(rng, 64);
	if (conv->evil && chance(rng, 2))
		conv->next = 1 + rnd(rng, conv->next);
	if (chance(rng, 1))
		conv->used = false;
}

/* Many that begin, from one peer, and never go on. */
void conv_flood(struct attack *attack)
{
	unsigned int n = 1 + rnd(&attack->rng, 100);
	struct conv conv = { .qpn = 1 };

	conv.service = services[2 + rnd(&attack->rng, 3)];
	conv.peer = rnd(&attack->rng, PEERS);
	conv_sends(attack, &conv, 2 + rnd(&attack->rng, 1000));
	while (n--) {
		conv.tid = rng_next(&attack->rng);
		conv_data(attack, &conv, 1);
	}
}

/* The port has a request answered: plainly, or by a message. */
static void conv_answer(struct attack *attack, struct conv *conv)
{
	struct ib_hwsim_frame frame;

	conv->service.method = conv->head[3] | METHOD_RESP;
	if (conv->service.rmpp && chance(&attack->rng, 60)) {
		conv_sends(attack, conv, any_segs(attack));
		return;
	}
	conv_frame(attack, conv, &frame);
	conv_out(attack, conv, &frame);
	if (chance(&attack->rng, 10))
		attack_later(attack, &frame);
	conv->used = false;
	attack->counts.finished++;
}

/* A segment from the port. */
static void conv_receive(struct attack *attack, struct conv *conv,
			 const struct rmpp_pkt *pkt)
{
	struct rng *rng = &attack->rng;
	uint32_t seg = pkt->seg;

	if (seg == conv->acked + 1)
		conv->acked++;
	if (chance(rng, conv->evil)) {
		switch (rnd(rng, 6)) {
		case 0:
			conv_control(attack, conv, RMPP_STOP, 0, 0, 1);
			break;
		case 1:
			conv_control(attack, conv, RMPP_ABORT, 0, 0,
				     118 + rnd(rng, 10));
			break;
		case 2:
			conv_control(attack, conv, RMPP_ACK, seg + rnd(rng, 99),
				     rnd(rng, 100), 0);
			break;
		case 3:
			conv_control(attack, conv, RMPP_ACK, 0, rnd(rng, 99),
				     0);
			break;
		case 4:
			conv->used = false;
		}
		return;
	}
	if (seg % (WINDOW / 2) != 1 && !(pkt->flags & RMPP_LAST))
		return;
	conv_control(attack, conv, RMPP_ACK, conv->acked,
		     conv->acked + WINDOW, 0);
	if (!(pkt->flags & RMPP_LAST) || conv->acked != seg)
		return;
	if (!(conv->head[3] & METHOD_RESP))
		conv_answer(attack, conv);
	else
		conv->used = false;
}

/* The port answers a segment of ours. */
static void conv_acked(struct attack *attack, struct conv *conv,
		       const struct rmpp_pkt *pkt)
{
	if (pkt->type != RMPP_ACK) {
		conv->used = conv->evil && chance(&attack->rng, 30);
		return;
	}
	conv->acked = pkt->seg;
	if (pkt->len > conv->window)
		conv->window = pkt->len;
	if (pkt->seg >= conv->segs) {
		attack->counts.finished++;
		/* Who repeats it is answered for a while. */
		if (chance(&attack->rng, 20))
			conv_data(attack, conv, conv->segs);
		conv->used = false;
	} else if (conv->next > conv->window || conv->next > conv->segs) {
		conv->next = pkt->seg + 1;
	}
}

static bool has_rmpp(uint8_t class)
{
	return rmpp_offset(class) != 40 || (class >= 0x30 && class <= 0x4f);
}

static struct conv *conv_hear(struct attack *attack,
			      const struct ib_hwsim_frame *frame, int peer)
{
	struct conv *conv = conv_new(attack);

	conv->peer = peer;
	conv->grh = frame_has_grh(frame);
	conv->qpn = 1;
	conv->service = (struct service){
		.mgmt_class = frame->mad[1],
		.version = frame->mad[2],
		.method = frame->mad[3],
		.rmpp = has_rmpp(frame->mad[1]),
	};
	conv->tid = be64toh(((const struct mad_hdr *)frame->mad)->tid);
	memcpy(conv->head, frame->mad, sizeof(conv->head));
	return conv;
}

/* The port sends to a peer. */
void conv_packet(struct attack *attack, const struct ib_hwsim_frame *frame,
		 int peer)
{
	const struct mad_hdr *mad = (const struct mad_hdr *)frame->mad;
	struct rmpp_pkt pkt;
	struct conv *conv;

	conv = conv_find(attack, peer, mad->mgmt_class, be64toh(mad->tid));
	rmpp_get(frame->mad, &pkt);
	if (!(pkt.flags & RMPP_ACTIVE) || !has_rmpp(mad->mgmt_class)) {
		if (!(mad->method & METHOD_RESP) && !conv &&
		    chance(&attack->rng, 70))
			conv_answer(attack, conv_hear(attack, frame, peer));
		return;
	}
	if (pkt.type != RMPP_DATA) {
		if (conv && conv->sending)
			conv_acked(attack, conv, &pkt);
		return;
	}
	if (!conv && pkt.seg == 1)
		conv = conv_hear(attack, frame, peer);
	if (conv && !conv->sending)
		conv_receive(attack, conv, &pkt);
}
