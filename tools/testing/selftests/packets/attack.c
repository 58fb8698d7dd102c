// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fabric: brings the port's packets to whom they are for, itself included,
 * and plays all other nodes. What belongs to the pair that behaves (good.c) is
 * forwarded as it is, and nobody forges the port's own address towards it, as
 * that has nothing to tell a forgery by. All else is fair game.
 */
#include "attack.h"

#include <stdio.h>

/* Nobody else has it: the MAD that tells that those before it were taken. */
#define SYNC_CLASS	0x0b
#define SYNC_METHOD	0x1e
#define SYNC_TID	0x53594e4300000000ull
#define STALL_MS	60000
#define BURST_MAX	160
#define CALL_EVERY	6	/* packets for a call of a worker */
#define REQUEST_EVERY	50	/* for a request of the pair that behaves */
#define LISTEN_MAX	256	/* packets before something else is done */

static void attack_late_ones(struct attack *attack);

static const struct attack_kind kinds[] = {
	{ "step",	40, conv_step },
	{ "begin",	6, conv_begin },
	{ "flood",	1, conv_flood },
	{ "gmp",	8, send_gmp },
	{ "smp",	8, send_smp },
	{ "guess",	6, send_guess },
	{ "control",	10, send_control },
	{ "replay",	8, send_replay },
	{ "mutant",	12, send_mutant },
	{ "late",	4, attack_late_ones },
};

/* Which kinds, from a list of their names; NULL: all. */
int attack_choose(struct attack *attack, const char *names)
{
	unsigned int i;

	attack->kinds = names ? 0 : ~0u;
	for (i = 0; names && i < ARRAY_SIZE(kinds); i++)
		if (strstr(names, kinds[i].name))
			attack->kinds |= 1u << i;
	return attack->kinds ? 0 : -EINVAL;
}

static const struct attack_kind *any_kind(struct attack *attack)
{
	unsigned int i, sum = 0, at;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (attack->kinds & 1u << i)
			sum += kinds[i].weight;
	at = rnd(&attack->rng, sum);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!(attack->kinds & 1u << i))
			continue;
		if (at < kinds[i].weight)
			break;
		at -= kinds[i].weight;
	}
	return &kinds[i];
}

/*
 * ib_core answers a Get or Set that is for nobody itself, and while it resolves
 * the address the port takes nothing, a second long.
 */
static bool stalls_ib_core(const struct attack *attack,
			   const struct ib_hwsim_frame *frame)
{
	uint8_t method = frame->mad[3];

	return (method == 0x01 || method == 0x02) &&
	       !wire_is_reachable(attack->wire, frame);
}

/*
 * ib_core delivers by the TID alone, and to agents of the kernel, too. The SA's client
 * believes that the answer to a directed route request without hops is its own, and
 * calls what it finds there; and it keeps each segment of a response that nobody
 * asked for. Both are ib_core's own, see hwsim_raw. So the TID has to name an agent of
 * the module, or nobody.
 */
static void spare_agents_of_the_kernel(const struct attack *attack,
				       struct mad_hdr *mad)
{
	const struct shared *shared = attack->shared;
	uint32_t hi = be64toh(mad->tid) >> 32, i;

	/* A request's is its sender's, who waits for that in the answer. */
	if (mad->mgmt_class != 0x81 && !(mad->method & METHOD_RESP) &&
	    mad->method != METHOD_REPRESS)
		return;
	for (i = 0; i < ARRAY_SIZE(shared->hi_tid); i++)
		if (hi && shared->hi_tid[i] == hi)
			return;
	/* More agents than there are. */
	mad->tid |= htobe64(1ull << 63);
}

/*
 * What a subnet manager may do to a port, up to taking it down, is no attack on
 * this module. And a packet "from the port" could be one of the pair's.
 */
static void restrain(struct attack *attack, struct ib_hwsim_frame *frame)
{
	struct mad_hdr *mad = frame_mad(frame);
	bool grh = frame_has_grh(frame);
	uint32_t qp[2] = { frame->src_qp, frame->dest_qp };

	if ((mad->mgmt_class == 0x01 || mad->mgmt_class == 0x81) &&
	    (mad->method & ~METHOD_RESP) == 0x02)
		mad->method ^= 0x03;
	spare_agents_of_the_kernel(attack, mad);
	if (wire_is_from_own(attack->wire, frame) ||
	    stalls_ib_core(attack, frame)) {
		wire_from_peer(attack->wire, frame,
			       rnd(&attack->rng, PEERS - SILENT_PEERS), grh);
		frame->src_qp = qp[0];
		frame->dest_qp = qp[1];
	}
	frame->flags &= IB_HWSIM_GRH;
	frame->reserved = 0;
}

/* A frame of the attack's goes to the port. */
void attack_send(struct attack *attack, struct ib_hwsim_frame *frame)
{
	restrain(attack, frame);
	attack->recent[attack->recent_n++ % RECENT] = *frame;
	wire_inject(attack->wire, frame);
	attack->sent++;
	if (!(attack->sent % CALL_EVERY))
		__atomic_add_fetch(&attack->shared->calls, 1, __ATOMIC_RELAXED);
	if (!(attack->sent % REQUEST_EVERY))
		__atomic_add_fetch(&attack->shared->requests, 1,
				   __ATOMIC_RELAXED);
}

/* Or some time later, out of turn. */
void attack_later(struct attack *attack, const struct ib_hwsim_frame *frame)
{
	int i = rnd(&attack->rng, LATER);

	if (attack->is_later[i])
		attack_send(attack, &attack->later[i]);
	attack->later[i] = *frame;
	attack->is_later[i] = true;
}

static void attack_late_ones(struct attack *attack)
{
	int i = rnd(&attack->rng, LATER);
	int n;

	for (n = 0; n < 8; n++, i = (i + 1) % LATER) {
		if (!attack->is_later[i])
			continue;
		attack->is_later[i] = false;
		attack_send(attack, &attack->later[i]);
	}
}

static void learn(struct attack *attack, const struct ib_hwsim_frame *frame)
{
	const struct mad_hdr *mad = (const struct mad_hdr *)frame->mad;
	struct shared *shared = attack->shared;

	/* Of the SA class may be the kernel's client. */
	if (!(mad->method & METHOD_RESP) && mad->method != METHOD_REPRESS &&
	    mad->mgmt_class != CLASS_SA && mad->tid)
		shared->hi_tid[shared->hi_tid_n++ % ARRAY_SIZE(shared->hi_tid)] =
			be64toh(mad->tid) >> 32;
	attack->recent[attack->recent_n++ % RECENT] = *frame;
}

static bool is_good(const struct ib_hwsim_frame *frame)
{
	return frame->mad[1] == GOOD_CLASS || frame->mad[1] == GOOD_PLAIN;
}

/* From the port to itself: brought back, if not good now and then otherwise. */
static void forward(struct attack *attack, struct ib_hwsim_frame *frame)
{
	unsigned int what = is_good(frame) ? 99 : rnd(&attack->rng, 100);

	frame->flags &= IB_HWSIM_GRH;
	if (what < 3)
		return;
	if (what < 6)
		wire_inject(attack->wire, frame);
	/* Not the class: that could make it one of the pair's. */
	if (what < 9)
		frame->mad[2 + rnd(&attack->rng, MAD_LEN - 2)] ^=
			1 << rnd(&attack->rng, 8);
	wire_inject(attack->wire, frame);
	attack->counts.forwarded++;
}

static void captured(struct attack *attack, struct ib_hwsim_frame *frame)
{
	int peer;

	attack->counts.captured++;
	learn(attack, frame);
	if (wire_is_to_own(attack->wire, frame)) {
		forward(attack, frame);
		return;
	}
	peer = wire_peer_of(attack->wire, frame);
	if (peer >= 0)
		conv_packet(attack, frame, peer);
}

/* All that the port has sent meanwhile. */
void attack_listen(struct attack *attack)
{
	static struct ib_hwsim_frame frame;
	int ret, n;

	for (n = 0; n < LISTEN_MAX; n++) {
		ret = wire_capture(attack->wire, &frame, 0);
		if (ret == -ETIME)
			return;
		if (!ret)
			captured(attack, &frame);
	}
}

static void send_sync(struct attack *attack)
{
	const struct service service = { SYNC_CLASS, 1, SYNC_METHOD };
	struct ib_hwsim_frame frame;

	frame_init(attack, &frame, &service, attack->sync_tid);
	wire_from_peer(attack->wire, &frame, 0, false);
	wire_inject(attack->wire, &frame);
}

static bool sync_came(struct attack *attack)
{
	union {
		struct umad_msg msg;
		uint8_t bytes[HDR_NEW + OPA_LEN];
	} in;

	while (read(attack->sync_fd, &in, sizeof(in)) > 0)
		if (msg_tid64(&in.msg) == attack->sync_tid)
			return true;
	return false;
}

/*
 * Until the port has taken all that was sent: so nothing of a burst is lost for
 * want of receive buffers, and a port that takes nothing any more is noticed.
 */
bool attack_sync(struct attack *attack)
{
	uint64_t start = now_ms(), again = start + 250, now = start;

	attack->sync_tid = SYNC_TID + attack->counts.syncs++;
	send_sync(attack);
	while (!sync_came(attack)) {
		attack_listen(attack);
		now = now_ms();
		if (now - start > STALL_MS) {
			attack->failed = "the port takes no MADs any more";
			return false;
		}
		if (now >= again) {
			send_sync(attack);
			again = now + 250;
		}
		poll(NULL, 0, 1);
	}
	now = now_ms();
	if (now - start > attack->counts.max_sync_ms)
		attack->counts.max_sync_ms = now - start;
	return true;
}

int attack_open(struct attack *attack)
{
	int ret;

	attack->sync_fd = umad_open(O_RDWR | O_NONBLOCK);
	if (attack->sync_fd < 0)
		return attack->sync_fd;
	ret = umad_ioctl(attack->sync_fd, IB_USER_MAD_ENABLE_PKEY, NULL);
	if (!ret)
		ret = umad_reg_server(attack->sync_fd, SYNC_CLASS, SYNC_METHOD);
	return ret < 0 ? ret : 0;
}

/* Some packets at once, then what the port has to say. */
void attack_burst(struct attack *attack)
{
	unsigned int n = 1 + rnd(&attack->rng, BURST_MAX);
	const struct attack_kind *kind;
	uint64_t before = attack->sent;

	while (n-- && attack->sent < before + 2 * BURST_MAX &&
	       attack->sent < attack->limit) {
		uint64_t sent = attack->sent;

		kind = any_kind(attack);
		kind->run(attack);
		attack->per_kind[kind - kinds] += attack->sent - sent;
		if (!(n % 16))
			attack_listen(attack);
	}
}
