// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Single packets, by chance: new ones, changed ones, and those seen before. */
#include "attack.h"

#include <stddef.h>

const struct service services[] = {
	{ GOOD_CLASS, 1, GOOD_METHOD, true },
	{ GOOD_PLAIN, 1, GOOD_METHOD, false },
	{ 0x31, 1, 0x10, true },
	{ 0x31, 1, 0x01, true },
	{ 0x32, 1, 0x10, true },
	{ CLASS_SA, 2, 0x12, true },
	{ CLASS_SA, 2, 0x01, true },
	{ CLASS_DEVMGMT, 1, 0x10, true },
	{ 0x0c, 1, 0x10, false },
	{ 0x0d, 1, 0x03, false },
	{ CLASS_BM, 1, 0x05, false },
};

const unsigned int services_n = ARRAY_SIZE(services);

static const uint32_t numbers[] = {
	0, 1, 2, 3, 63, 64, 65, 200, 220, 256, 384, 385, 0x7fff, 0xffff,
	0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
};

static const uint8_t classes[] = {
	0x00, 0x01, 0x03, 0x04, 0x05, 0x06, 0x07, 0x09, 0x0a, 0x0c, 0x0d, 0x0f,
	0x10, 0x11, 0x12, 0x21, 0x30, 0x31, 0x32, 0x3a, 0x4f, 0x50, 0x81, 0xff,
};

static const uint8_t methods[] = {
	0x00, 0x01, 0x02, 0x03, 0x05, 0x06, 0x07, 0x10, 0x12, 0x13, 0x14, 0x15,
	0x7f, 0x80, 0x81, 0x83, 0x86, 0x87, 0x90, 0x92, 0x93, 0x95, 0xff,
};

static uint32_t any_number(struct attack *attack)
{
	return chance(&attack->rng, 70) ?
	       numbers[rnd(&attack->rng, ARRAY_SIZE(numbers))] :
	       rng_next(&attack->rng);
}

static void put32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, 4);
}

/* An agent's that lives, or did. */
static uint32_t any_hi_tid(struct attack *attack)
{
	const struct shared *shared = attack->shared;

	if (!chance(&attack->rng, 90))
		return rnd(&attack->rng, 64);
	return shared->hi_tid[rnd(&attack->rng, ARRAY_SIZE(shared->hi_tid))] +
	       (chance(&attack->rng, 10) ? 1 : 0);
}

void frame_init(struct attack *attack, struct ib_hwsim_frame *frame,
		const struct service *service, uint64_t tid)
{
	struct mad_hdr *mad = frame_mad(frame);

	memset(frame, 0, sizeof(*frame));
	frame->len = MAD_LEN;
	mad->base_version = 1;
	if (attack->wire->kind == WIRE_OPA && chance(&attack->rng, 50)) {
		mad->base_version = OPA_VERSION;
		frame->len = OPA_LEN;
	}
	mad->mgmt_class = service->mgmt_class;
	mad->class_version = service->version;
	mad->method = service->method;
	mad->tid = htobe64(tid);
	mad->attr_id = htobe16(0x35);
	if (service->mgmt_class >= 0x30 && service->mgmt_class <= 0x4f)
		put32(frame->mad + 36, TEST_OUI);
	wire_from_peer(attack->wire, frame, rnd(&attack->rng, PEERS),
		       chance(&attack->rng, 30));
}

static void noise(struct attack *attack, uint8_t *at, size_t len)
{
	while (len--)
		*at++ = rng_next(&attack->rng);
}

/* A GMP of any class and method. */
void send_gmp(struct attack *attack)
{
	struct rng *rng = &attack->rng;
	struct service service = services[rnd(rng, services_n)];
	struct ib_hwsim_frame frame;

	if (chance(rng, 50))
		service.mgmt_class = classes[rnd(rng, ARRAY_SIZE(classes))];
	if (chance(rng, 50))
		service.method = methods[rnd(rng, ARRAY_SIZE(methods))];
	if (chance(rng, 10))
		service.version = rng_next(rng);
	frame_init(attack, &frame, &service, rng_next(rng));
	noise(attack, frame.mad + MAD_HDR_LEN, chance(rng, 50) ? 12 : 232);
	if (chance(rng, 50))
		put32(frame.mad + 36, TEST_OUI);
	if (chance(rng, 30))
		frame_mad(&frame)->status = rng_next(rng);
	attack_send(attack, &frame);
}

/* An SMP, by LID or directed route, to QP0; RoCE has none. */
void send_smp(struct attack *attack)
{
	static const uint8_t hops[] = { 0, 1, 2, 63, 64, 65, 127, 255 };
	const struct service service = { 0x81, 1, 1 };
	struct rng *rng = &attack->rng;
	struct ib_hwsim_frame frame;
	struct mad_hdr *mad = frame_mad(&frame);
	bool routed = chance(rng, 70);

	frame_init(attack, &frame, &service,
		   (uint64_t)any_hi_tid(attack) << 32 | rnd(rng, 256));
	mad->mgmt_class = routed ? 0x81 : 0x01;
	mad->method = methods[rnd(rng, ARRAY_SIZE(methods))];
	mad->attr_id = htobe16(0x10 + rnd(rng, 0x24));
	mad->attr_mod = htobe32(any_number(attack));
	noise(attack, frame.mad + MAD_HDR_LEN, MAD_LEN - MAD_HDR_LEN);
	if (routed) {
		mad->status = htobe16(chance(rng, 50) ? 0x8000 : 0);
		frame.mad[6] = hops[rnd(rng, ARRAY_SIZE(hops))];
		frame.mad[7] = hops[rnd(rng, ARRAY_SIZE(hops))];
		if (chance(rng, 70))
			memset(frame.mad + 32, 0xff, 4);
		if (chance(rng, 60)) {
			frame.slid = PERMISSIVE;
			frame.dlid = PERMISSIVE;
		}
	}
	frame.src_qp = chance(rng, 90) ? 0 : 1;
	frame.dest_qp = chance(rng, 90) ? 0 : 1;
	attack_send(attack, &frame);
}

/* An answer that nobody has given, with a TID that somebody may have. */
void send_guess(struct attack *attack)
{
	struct rng *rng = &attack->rng;
	struct service service = services[rnd(rng, services_n)];
	struct ib_hwsim_frame frame;

	service.method |= METHOD_RESP;
	frame_init(attack, &frame, &service, (uint64_t)any_hi_tid(attack) << 32 |
		   rnd(rng, chance(rng, 80) ? 64 : 4096));
	if (service.rmpp && chance(rng, 60)) {
		const struct rmpp_pkt pkt = {
			.version = 1, .type = 1 + rnd(rng, 4),
			.flags = RMPP_ACTIVE | rnd(rng, 4) << 1,
			.seg = chance(rng, 70) ? 1 : any_number(attack),
			.len = any_number(attack),
		};

		rmpp_put(frame.mad, &pkt);
	}
	attack_send(attack, &frame);
}

/* A frame that was on the wire lately, by whomever. */
const struct ib_hwsim_frame *any_recent(struct attack *attack)
{
	unsigned int n = attack->recent_n;

	if (n > RECENT)
		n = RECENT;
	return n ? &attack->recent[rnd(&attack->rng, n)] : NULL;
}

/* Of what is going on: ACK, STOP, ABORT or nonsense, from one or the other. */
void send_control(struct attack *attack)
{
	const struct ib_hwsim_frame *model = any_recent(attack);
	struct rng *rng = &attack->rng;
	struct ib_hwsim_frame frame;
	struct rmpp_pkt pkt = { .version = 1, .flags = RMPP_ACTIVE };

	if (!model)
		return;
	frame = *model;
	/* The other one of both is where the port sends to. */
	if (!wire_is_from_own(attack->wire, model) || chance(rng, 80)) {
		int peer = wire_peer_of(attack->wire, model);

		if (peer >= 0)
			wire_from_peer(attack->wire, &frame, peer,
				       frame_has_grh(model));
	}
	if (chance(rng, 60))
		frame_mad(&frame)->method ^= METHOD_RESP;
	pkt.type = chance(rng, 90) ? 2 + rnd(rng, 3) : rng_next(rng);
	if (pkt.type == RMPP_ACK) {
		pkt.seg = chance(rng, 60) ? rnd(rng, 8) : any_number(attack);
		pkt.len = chance(rng, 60) ? pkt.seg + rnd(rng, 64) :
					    any_number(attack);
	} else if (chance(rng, 80)) {
		pkt.status = chance(rng, 80) ? 117 + rnd(rng, 11) :
					       rng_next(rng);
	}
	if (chance(rng, 5))
		pkt.version = rng_next(rng);
	if (chance(rng, 5))
		pkt.flags = rng_next(rng);
	rmpp_put(frame.mad, &pkt);
	attack_send(attack, &frame);
}

void send_replay(struct attack *attack)
{
	const struct ib_hwsim_frame *model = any_recent(attack);
	struct ib_hwsim_frame frame;

	if (!model)
		return;
	frame = *model;
	if (chance(&attack->rng, 30))
		attack_later(attack, &frame);
	else
		attack_send(attack, &frame);
}

static void mutate_rmpp(struct attack *attack, struct ib_hwsim_frame *frame)
{
	struct rng *rng = &attack->rng;
	uint8_t *mad = frame->mad;

	switch (rnd(rng, 7)) {
	case 0:
		mad[24] = chance(rng, 50) ? rng_next(rng) : 1;
		break;
	case 1:
		mad[25] = chance(rng, 80) ? rnd(rng, 6) : rng_next(rng);
		break;
	case 2:
		mad[26] ^= 1 << rnd(rng, 8);
		break;
	case 3:
		mad[27] = chance(rng, 50) ? 117 + rnd(rng, 11) : rng_next(rng);
		break;
	case 4:
		put32(mad + 28, any_number(attack));
		break;
	case 5:
		mad[31] += chance(rng, 50) ? 1 : -1;
		break;
	default:
		put32(mad + 32, any_number(attack));
	}
}

static void mutate_head(struct attack *attack, struct ib_hwsim_frame *frame)
{
	struct rng *rng = &attack->rng;
	struct mad_hdr *mad = frame_mad(frame);

	switch (rnd(rng, 8)) {
	case 0:
		mad->base_version = rng_next(rng);
		break;
	case 1:
		mad->mgmt_class = classes[rnd(rng, ARRAY_SIZE(classes))];
		break;
	case 2:
		mad->class_version = rng_next(rng);
		break;
	case 3:
		mad->method ^= METHOD_RESP;
		break;
	case 4:
		mad->method = methods[rnd(rng, ARRAY_SIZE(methods))];
		break;
	case 5:
		mad->status ^= htobe16(1 << rnd(rng, 16));
		break;
	case 6:
		mad->tid ^= htobe64(1ull << rnd(rng, 64));
		break;
	default:
		mad->tid = htobe64((uint64_t)any_hi_tid(attack) << 32 |
				   (uint32_t)be64toh(mad->tid));
	}
}

static void mutate_wire(struct attack *attack, struct ib_hwsim_frame *frame)
{
	struct rng *rng = &attack->rng;
	uint32_t dest = frame->dest_qp;

	switch (rnd(rng, 7)) {
	case 0:
	case 1:
		wire_from_peer(attack->wire, frame, rnd(rng, PEERS),
			       chance(rng, 50));
		frame->dest_qp = dest;
		break;
	case 2:
		frame->src_qp = chance(rng, 50) ? rnd(rng, 4) :
						  rng_next(rng) & 0xffffff;
		break;
	case 3:
		frame->dest_qp ^= 1;
		break;
	case 4:
		frame->dlid = OWN_LID + rnd(rng, 4);
		break;
	case 5:
		frame->grh[rnd(rng, 40)] ^= 1 << rnd(rng, 8);
		break;
	default:
		frame->len = 1 + rnd(rng, attack->wire->kind == WIRE_OPA ?
				     OPA_LEN : MAD_LEN);
	}
}

/* One to four changes. */
void mutate(struct attack *attack, struct ib_hwsim_frame *frame)
{
	unsigned int n = 1 + rnd(&attack->rng, 4);

	while (n--) {
		switch (rnd(&attack->rng, 10)) {
		case 0 ... 4:
			mutate_rmpp(attack, frame);
			break;
		case 5 ... 6:
			mutate_head(attack, frame);
			break;
		case 7 ... 8:
			mutate_wire(attack, frame);
			break;
		default:
			frame->mad[rnd(&attack->rng, MAD_LEN)] ^=
				1 << rnd(&attack->rng, 8);
		}
	}
}

void send_mutant(struct attack *attack)
{
	const struct ib_hwsim_frame *model = any_recent(attack);
	struct ib_hwsim_frame frame;

	if (!model)
		return;
	frame = *model;
	mutate(attack, &frame);
	attack_send(attack, &frame);
}
