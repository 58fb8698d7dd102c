// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What messages being received may take, beside sums that are made anew each
 * time: windows of the port, peers, numbers and bytes, and who is evicted.
 */
#include <linux/types.h>
#include "fuzz.h"
#include "rmpp/account.h"
#include "rmpp/limits.h"
#include "shim/memory.h"

#include <linux/module.h>
#include <linux/sched/mm.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "request.h"
#include "rmpp/peer.h"
#include "rmpp/xfer_rx.h"
#include "room.h"

#define FILES		5
#define PROGRAMS	4
#define CGROUPS		3
#define MESSAGES	20
#define REQUESTS	4
#define NODES		5

/**
 * struct world - a port, its files, and messages for them
 * @port: the port
 * @cgroups: who has opened files, the first by two programs; the last is below it
 * @programs: of them; the first has two files
 * @reserve: of them all, counts what nobody has asked for
 * @files: on it
 * @rmpp: what they have of RMPP
 * @agents: one for each file
 * @messages: those with a peer are being reassembled
 * @requests: that some of them answer
 * @now: the time
 * @aged: a message was silent, and has lost its place
 * @evicted: the victim of this step
 */
struct world {
	struct umad_port port;
	struct umad_user cgroups[CGROUPS], programs[PROGRAMS];
	struct umad_reserve reserve;
	struct umad_file files[FILES];
	struct umad_rmpp rmpp[FILES];
	struct umad_agent agents[FILES];
	struct umad_xfer_rx messages[MESSAGES];
	struct umad_request requests[REQUESTS];
	u64 now;
	bool aged;
	struct umad_xfer_rx *evicted;
};

static struct world world __aligned(64);
struct mem_cgroup *int_active_memcg;
struct module __this_module;

/* The bounds, as a person may set them. */
static unsigned long peer_transfers, peer_bytes, file_transfers, file_bytes, port_transfers,
	port_bytes;
static u64 unasked_max;

const struct kernel_param_ops param_ops_ulong, param_ops_uint;

static void set_param(const char *name, unsigned long value)
{
	const struct kernel_param *param;

	for (param = __start___param; strcmp(param->name, name); param++)
		MUST(param + 1 < __stop___param);
	if (param->ops == &param_ops_uint)
		*(unsigned int *)param->arg = value;
	else
		*(unsigned long *)param->arg = value;
}

static void leaves(struct umad_xfer_rx *rx)
{
	umad_rmpp_window_leave(rx);
	umad_rmpp_uncount(rx);
	MUST(!rx->peer && !rx->charged);
	MUST(list_empty(&rx->window_node) && list_empty(&rx->peer_node));
}

/* In place of room.c. */
void umad_reserve_add(struct umad_reserve *reserve, enum umad_kept what, s64 bytes)
{
	atomic64_add(bytes, what == UMAD_ANSWER ? &reserve->answers : &reserve->unasked);
}

u64 umad_reserve_max(const struct umad_reserve *reserve)
{
	return unasked_max * 4;
}

u64 umad_reserve_part(const struct umad_reserve *reserve, unsigned int part, size_t bytes)
{
	return U64_MAX;
}

bool umad_unread_has_room(struct umad_file *file)
{
	return true;
}

bool umad_reserve_allows(const struct umad_reserve *reserve, u64 own, enum umad_kept what)
{
	u64 unasked = atomic64_read(&reserve->unasked);

	return what == UMAD_ANSWER ? own <= unasked_max * 2 :
	       min(own * 8, unasked >> (what == UMAD_UNASKED_GOES_ON)) <= unasked_max;
}

/* In place of rmpp/xfer_rx_end.c. One whose agent ends is left alone. */
bool umad_xfer_rx_evict(struct umad_xfer_rx *rx)
{
	struct world *w = &world;

	MUST(rx->peer && !rx->solicited && !w->evicted);
	MUST(w->now - rx->engine.progress_at >= NSEC_PER_SEC);
	if (rx->agent->shutdown)
		return false;
	w->evicted = rx;
	rmpp_rx_no_room(&rx->engine);
	leaves(rx);
	return true;
}

/* What a peer has, by the messages themselves. */
static void check_peer(struct world *w, struct umad_rmpp_peer *peer)
{
	unsigned int messages = 0, transfers = 0, active = 0;
	u32 granted = 0, i;
	u64 bytes = 0;

	for (i = 0; i < MESSAGES; i++) {
		struct umad_xfer_rx *rx = &w->messages[i];

		if (rx->peer != peer)
			continue;
		messages++;
		if (!rx->solicited) {
			transfers++;
			bytes += rx->charged;
		}
		if (!list_empty(&rx->window_node)) {
			active++;
			granted += rx->granted;
		}
	}
	MUST(peer->messages == messages && messages);
	MUST(peer->transfers == transfers);
	MUST(peer->bytes == bytes);
	MUST(peer->share.active == active);
	MUST(peer->share.granted == granted);
}

/* What @share should be; @messages: active ones of all below it. */
struct sum {
	const struct umad_share *share;
	u32 messages, active, granted;
};

#define SUMS	(1 + CGROUPS + PROGRAMS + FILES)

static struct sum *sum_of(struct sum *sums, const struct umad_share *share)
{
	while (sums->share != share)
		sums++;
	return sums;
}

/* The shares of peers are in check_peer(). */
static void check_shares(struct world *w)
{
	struct sum sums[SUMS] = { { &w->port.rmpp_window.all } }, *end = sums + 1, *sum;
	const struct umad_share *share;
	u32 i;

	for (i = 0; i < CGROUPS; i++)
		(end++)->share = &w->cgroups[i].share;
	for (i = 0; i < PROGRAMS; i++)
		(end++)->share = &w->programs[i].share;
	for (i = 0; i < FILES; i++)
		(end++)->share = &w->files[i].rmpp->share;
	for (i = 0; i < MESSAGES; i++) {
		if (!w->messages[i].peer || list_empty(&w->messages[i].window_node))
			continue;
		share = w->messages[i].peer->share.parent;
		for (; share; share = share->parent) {
			sum = sum_of(sums, share);
			sum->messages++;
			sum->granted += w->messages[i].granted;
		}
	}
	for (sum = sums + 1; sum < end; sum++)
		if (sum->messages)
			sum_of(sums, sum->share->parent)->active++;
	for (sum = sums; sum < end; sum++) {
		MUST(sum->share->granted == sum->granted);
		/* Of files the children are peers. */
		MUST(sum >= end - FILES || sum->share->active == sum->active);
	}
}

/* Those that may be evicted, and the order in which they may; how many. */
static unsigned int check_order(struct list_head *by_progress, bool begun)
{
	struct umad_xfer_rx *rx;
	unsigned int n = 0;
	u64 progress = 0;

	list_for_each_entry(rx, by_progress, file_node) {
		MUST(rx->peer && !rx->solicited);
		MUST((rx->engine.highest > 1) == begun);
		MUST(rx->engine.progress_at >= progress);
		progress = rx->engine.progress_at;
		n++;
	}
	return n;
}

static void check_file(struct world *w, struct umad_file *file)
{
	struct umad_rmpp_peer *most_transfers, *most_bytes, *peer;
	unsigned int reassembling = 0, peers = 0, transfers = 0, first = 0, begun = 0, lone;
	u64 bytes = 0, most = 0, unsolicited = 0;
	u32 active = 0, granted = 0, i;
	struct rb_node *node;

	for (i = 0; i < MESSAGES; i++) {
		if (!w->messages[i].peer || w->messages[i].agent->file != file)
			continue;
		reassembling++;
		bytes += w->messages[i].charged;
	}
	MUST(file->rmpp->reassembling == reassembling);
	MUST(file->rmpp->reassembly_bytes == bytes);
	for (node = rb_first(&file->rmpp->peers); node; node = rb_next(node)) {
		peer = rb_entry(node, struct umad_rmpp_peer, node);
		check_peer(w, peer);
		peers++;
		active += !!peer->share.active;
		granted += peer->share.granted;
		transfers = max(transfers, peer->transfers);
		begun += peer->transfers;
		most = max(most, peer->bytes);
		unsolicited += peer->bytes;
	}
	lone = check_order(&file->rmpp->lone, false);
	MUST(file->rmpp->lone_count == lone);
	MUST(lone + check_order(&file->rmpp->begun, true) == begun);
	MUST(file->rmpp->unsolicited == begun);
	MUST(file->rmpp->share.active == active);
	MUST(file->rmpp->share.granted == granted);
	MUST(unsolicited <= bytes);
	MUST(!peers == !reassembling);
	if (!peers)
		return;
	node = rb_first_cached(&file->rmpp->by_transfers);
	most_transfers = rb_entry(node, struct umad_rmpp_peer, by_transfers);
	MUST(most_transfers->transfers == transfers);
	for (; node; node = rb_next(node))
		first++;
	MUST(first == peers);
	node = rb_first_cached(&file->rmpp->by_bytes);
	most_bytes = rb_entry(node, struct umad_rmpp_peer, by_bytes);
	MUST(most_bytes->bytes == most);
}

/* Does it have any? */
static bool check_program(struct world *w, struct umad_user *program)
{
	unsigned int reassembling = 0, active = 0, i;
	u64 bytes = 0;

	for (i = 0; i < FILES; i++) {
		if (w->files[i].user != program)
			continue;
		reassembling += w->files[i].rmpp->reassembling;
		bytes += w->files[i].rmpp->reassembly_bytes;
		active += !!w->files[i].rmpp->reassembling;
	}
	MUST((unsigned int)atomic_read(&program->reassembling) == reassembling);
	MUST((u64)atomic64_read(&program->reassembly_bytes) == bytes);
	MUST(program->active == active);
	return reassembling;
}

static bool check_cgroup(struct world *w, struct umad_user *cgroup)
{
	unsigned int active = 0, i;

	for (i = 0; i < PROGRAMS; i++)
		if (w->programs[i].parent == cgroup)
			active += check_program(w, &w->programs[i]);
	for (i = 0; i < CGROUPS; i++)
		if (w->cgroups[i].parent == cgroup)
			active += check_cgroup(w, &w->cgroups[i]);
	MUST(cgroup->active == active);
	return active;
}

static void check(struct world *w)
{
	unsigned int reassembling = 0, active = 0, cgroups = 0, granted = 0, i;
	u64 bytes = 0, seen = 0, unasked = 0;
	struct umad_xfer_rx *rx;

	for (i = 0; i < FILES; i++) {
		check_file(w, &w->files[i]);
		reassembling += w->files[i].rmpp->reassembling;
		bytes += w->files[i].rmpp->reassembly_bytes;
	}
	for (i = 0; i < CGROUPS; i++)
		if (!w->cgroups[i].parent)
			cgroups += check_cgroup(w, &w->cgroups[i]);
	for (rx = w->messages; rx < w->messages + MESSAGES; rx++)
		unasked += rx->peer && !rx->solicited ? UMAD_RX_BYTES + rx->charged : 0;
	MUST((u64)atomic64_read(&w->reserve.unasked) == unasked);
	MUST(w->port.active_users == cgroups);
	MUST((unsigned int)atomic_read(&w->port.rmpp_reassembling) == reassembling);
	MUST((u64)atomic64_read(&w->port.rmpp_reassembly_bytes) == bytes);

	list_for_each_entry(rx, &w->port.rmpp_window.active, window_node) {
		MUST(rx->peer);
		MUST(rx->seen_at >= seen);
		seen = rx->seen_at;
		granted += rx->granted;
		active++;
	}
	MUST(active <= reassembling && w->port.rmpp_window.all.granted == granted);
	check_shares(w);
	/* More is promised only if the silent come back. */
	MUST(w->aged || granted <= w->port.rx_window_budget);
}

/* Of a file that is active, as all those above it are. */
static bool has_share(const struct umad_file *file, u64 limit, u64 of_program,
		      u64 of_file)
{
	const struct umad_user *program = file->user;
	const struct umad_user *cgroup = program->parent;
	u64 share = limit / file->port->active_users / cgroup->active;

	if (cgroup->parent)
		share /= cgroup->parent->active;
	return of_program <= 2 * share && of_file <= share / program->active;
}

/* Memory for a segment; false: there must be no more of it. */
static bool grow(struct world *w, struct umad_xfer_rx *rx, u32 bytes)
{
	struct umad_file *file = rx->agent->file;
	struct umad_xfer_rx *victim = NULL;
	bool may;

	umad_rmpp_charge(rx, bytes);
	if (!bytes)
		return true;
	w->evicted = NULL;
	may = umad_rmpp_may_grow(rx, w->now, &victim);
	MUST(victim == w->evicted && victim != rx);
	if (!may)
		return false;
	MUST(rx->solicited || rx->peer->bytes <= peer_bytes);
	MUST(file->rmpp->reassembly_bytes <= file_bytes);
	MUST(rx->solicited || rx->peer->bytes <= unasked_max / 2);
	MUST((u64)atomic64_read(&w->port.rmpp_reassembly_bytes) <= port_bytes ||
	     has_share(file, port_bytes, atomic64_read(&file->user->reassembly_bytes),
		       file->rmpp->reassembly_bytes));
	return true;
}

/* It is complete at once. */
static void store_whole(struct world *w, struct umad_xfer_rx *rx)
{
	static const struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = IB_MGMT_RMPP_TYPE_DATA,
		.flags = IB_MGMT_RMPP_FLAG_FIRST | IB_MGMT_RMPP_FLAG_LAST,
		.seg = 1,
	};

	MUST(rmpp_rx_receive(&rx->engine, &packet, w->now) == RMPP_RX_STORE);
	umad_rmpp_charge(rx, 4096);
	rmpp_rx_stored(&rx->engine, &packet, w->now);
	leaves(rx);
}

static unsigned int transfers_of(const struct umad_xfer_rx *rx)
{
	const struct umad_rmpp *rmpp = rx->agent->file->rmpp;

	return rx->solicited ? rmpp->reassembling - rmpp->unsolicited : rmpp->unsolicited;
}

static void begin(struct world *w, struct umad_xfer_rx *rx, struct input *in)
{
	struct umad_agent *agent = &w->agents[take(in) % FILES];
	struct umad_xfer_rx *victim = NULL;
	struct rmpp_layout layout;
	u8 shape = take(in);
	bool whole = shape & 0x40, may;

	memset(rx, 0, sizeof(*rx));
	INIT_LIST_HEAD(&rx->window_node);
	INIT_LIST_HEAD(&rx->peer_node);
	INIT_LIST_HEAD(&rx->file_node);
	timerqueue_init(&rx->slow_node);
	INIT_LIST_HEAD(&rx->linger_node);
	rx->agent = agent;
	rx->key.from.grh = shape & 1;
	if (rx->key.from.grh)
		rx->key.from.gid[15] = shape / 2 % NODES;
	else
		rx->key.from.lid = cpu_to_be16(shape / 2 % NODES);
	if (shape & 0x80) {
		rx->req = &w->requests[shape / 2 % REQUESTS];
		rx->solicited = !rx->req->answer_comes;
	}
	rx->peer = umad_rmpp_peer_get(agent->file, &rx->key);
	if (!rx->peer)
		return;
	w->evicted = NULL;
	may = umad_rmpp_may_begin(rx, whole, w->now, &victim);
	MUST(victim == w->evicted);
	/* One segment is never too many. */
	MUST(may || !whole);
	if (!may) {
		umad_rmpp_peer_put(agent->file, rx->peer);
		rx->peer = NULL;
		return;
	}
	layout = rmpp_layout_of(IB_MGMT_CLASS_SUBN_ADM, 256);
	rmpp_rx_init(&rx->engine, &layout, 1 << 20, 1, w->now);
	rx->engine.solicited = rx->solicited;
	umad_rmpp_count(rx);
	if (whole) {
		store_whole(w, rx);
		return;
	}
	MUST(rx->solicited || rx->peer->transfers <= peer_transfers);
	MUST(transfers_of(rx) <= file_transfers);
	MUST(rx->solicited || rx->peer->bytes <= unasked_max / 2);
	MUST(victim || (u32)atomic_read(&w->port.rmpp_reassembling) <= port_transfers ||
	     has_share(agent->file, port_transfers, rx->solicited ? 0 :
		       atomic_read(&agent->file->user->reassembling), transfers_of(rx)));
}

static void segment(struct world *w, struct umad_xfer_rx *rx,
		    struct input *in)
{
	u8 shape = take(in);
	struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = IB_MGMT_RMPP_TYPE_DATA,
		.flags = shape & 0x40 ? IB_MGMT_RMPP_FLAG_LAST : 0,
		.seg = rx->engine.expected + (shape & 0x80 ? shape % 8 : 0),
	};

	if (packet.seg == 1)
		packet.flags |= IB_MGMT_RMPP_FLAG_FIRST;
	if (packet.seg == 1 && shape & 0x20)
		packet.len = take(in) * 220;
	if (rmpp_rx_receive(&rx->engine, &packet, w->now) == RMPP_RX_STORE) {
		if (!grow(w, rx, shape & 0x10 ? 4096 : 0)) {
			rmpp_rx_no_room(&rx->engine);
		} else {
			rmpp_rx_stored(&rx->engine, &packet, w->now);
			umad_rmpp_window_seen(rx, w->now);
			umad_rmpp_peer_seen(rx);
		}
	}
	if (rx->engine.state != RMPP_RX_REASSEMBLING)
		leaves(rx);
}

/* Once it has been granted a window, no one has more of it than an equal part. */
static void check_parts(struct world *w, struct umad_xfer_rx *rx, u32 granted_before)
{
	const struct umad_share *share = &rx->peer->share;
	u32 divisor = 1, budget = w->port.rx_window_budget;

	if (list_empty(&rx->window_node) || rx->granted <= granted_before)
		return;
	MUST(w->port.rmpp_window.all.granted <= budget);
	/* Who has a turn has what is left, for its time. */
	if (rx->engine.in_turn)
		return;
	for (; share; share = share->parent)
		divisor *= share->active;
	MUST(rx->granted <= budget / divisor);
	/* Others may have had more when they were fewer; it has not been granted any then. */
	for (share = &rx->peer->share; share->parent; share = share->parent) {
		divisor /= share->active;
		MUST(share->granted <= budget / divisor);
	}
}

static void ack(struct world *w, struct umad_xfer_rx *rx)
{
	u32 active = 0, now_active = 0, granted = rx->granted;
	struct umad_xfer_rx *other;
	struct rmpp_packet packet;

	list_for_each_entry(other, &w->port.rmpp_window.active, window_node)
		active++;
	umad_rmpp_window_ack(rx, &packet, w->now);
	list_for_each_entry(other, &w->port.rmpp_window.active, window_node)
		now_active++;
	w->aged |= now_active < active;
	check_parts(w, rx, granted);
	MUST(packet.seg == rx->engine.expected - 1 && packet.len > packet.seg);
}

static void set_up(struct world *w, struct input *in)
{
	static unsigned long counted[UMAD_STAT_COUNT];
	u32 i;

	memset(w, 0, sizeof(*w));
	w->now = NSEC_PER_SEC;
	w->port.stats.value = counted;
	umad_rmpp_window_init(&w->port.rmpp_window);
	spin_lock_init(&w->port.users_lock);
	w->port.rx_window_budget = take16(in) % 1024 + 1;
	set_param("rmpp_peer_transfers", peer_transfers = take(in) % 8);
	set_param("rmpp_file_transfers", file_transfers = take(in) % 16);
	set_param("rmpp_port_transfers", port_transfers = take(in) % 24);
	set_param("rmpp_peer_bytes", peer_bytes = take(in) % 16 * 4096);
	set_param("rmpp_file_bytes", file_bytes = take(in) % 32 * 4096);
	set_param("rmpp_port_bytes", port_bytes = take(in) % 48 * 4096);
	unasked_max = take(in) % 64 * 2048;
	for (i = 0; i < CGROUPS; i++)
		umad_share_init(&w->cgroups[i].share, &w->port.rmpp_window.all);
	w->cgroups[CGROUPS - 1].parent = &w->cgroups[0];
	w->cgroups[CGROUPS - 1].share.parent = &w->cgroups[0].share;
	for (i = 0; i < PROGRAMS; i++) {
		w->programs[i].parent = &w->cgroups[i % CGROUPS];
		umad_share_init(&w->programs[i].share, &w->programs[i].parent->share);
	}
	for (i = 0; i < FILES; i++) {
		w->files[i].port = &w->port;
		w->files[i].user = &w->programs[i % PROGRAMS];
		w->files[i].reserve = &w->reserve;
		w->files[i].rmpp = &w->rmpp[i];
		INIT_LIST_HEAD(&w->rmpp[i].lone);
		INIT_LIST_HEAD(&w->rmpp[i].begun);
		INIT_LIST_HEAD(&w->rmpp[i].answers_begun);
		timerqueue_init_head(&w->rmpp[i].slow);
		w->rmpp[i].file = &w->files[i];
		umad_share_init(&w->files[i].rmpp->share, &w->files[i].user->share);
		w->agents[i].file = &w->files[i];
		umad_rxq_init(&w->files[i].rxq, 1 << 20);
	}
}

void fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct world *w = &world;

	fuzz_memory_reset();
	set_up(w, &in);
	while (in.left) {
		u8 byte = take(&in);
		struct umad_xfer_rx *rx = &w->messages[byte % MESSAGES];

		if (byte >= 250) {
			w->agents[byte % FILES].shutdown ^= true;
		} else if (byte >= 240) {
			w->now += take_time(&in);
		} else if (byte >= 235) {
			umad_rmpp_window_offer(&w->files[byte % FILES], w->now);
			w->aged = true;
		} else if (!rx->peer) {
			begin(w, rx, &in);
		} else if (byte < 120) {
			segment(w, rx, &in);
		} else if (byte < 200) {
			ack(w, rx);
		} else {
			/* Its sender, its owner or its time has ended it. */
			rmpp_rx_cancel(&rx->engine, 1);
			leaves(rx);
		}
		check(w);
	}
	for (struct umad_xfer_rx *rx = w->messages; rx < w->messages + MESSAGES; rx++)
		if (rx->peer)
			leaves(rx);
	check(w);
	MUST(!w->port.rmpp_window.all.granted && !w->port.rmpp_window.all.active &&
	     !atomic64_read(&w->reserve.answers));
}
