// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The complete messages that a file remembers, beside a list of all that there were. */
#include <linux/types.h>
#include "fuzz.h"
#include "rmpp/memo.h"
#include "shim/memory.h"
#include "shim/module.h"

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/time64.h>
#include "agent.h"
#include "file.h"
#include "rmpp/reassembly.h"
#include "room.h"

#define AGENTS		3
#define NODES		5
#define TIDS		8
#define MESSAGES	(AGENTS * NODES * TIDS)
#define LINGER		(10 * NSEC_PER_SEC)

/**
 * struct world - a file and what it is to remember
 * @file: the file
 * @rmpp: what it has of RMPP
 * @agents: of it
 * @reserve: of no use here
 * @until: of each message, when it may be forgotten; 0: it is not to be known
 * @last: and its last segment
 * @now: the time
 * @short_of: memory; or a bound: some may have been forgotten
 */
struct world {
	struct umad_file file;
	struct umad_rmpp rmpp;
	struct umad_agent agents[AGENTS];
	struct umad_reserve reserve;
	u64 until[MESSAGES];
	u32 last[MESSAGES];
	u64 now;
	bool short_of;
};

static struct world world __aligned(64);
struct mem_cgroup *int_active_memcg;

/* In place of room.c. */
u64 umad_reserve_part(const struct umad_reserve *reserve, unsigned int part, size_t bytes)
{
	return U64_MAX;
}

struct module __this_module;
const struct kernel_param_ops param_ops_uint;

/* In place of file.c. */
void umad_file_arm(struct umad_file *file)
{
}

static unsigned int *max_memos(void)
{
	return __start___param->arg;
}

static void key_of(struct world *w, u32 message, struct umad_rmpp_key *key)
{
	memset(key, 0, sizeof(*key));
	key->agent = (uintptr_t)&w->agents[message % AGENTS];
	key->from.lid = cpu_to_be16(1 + message / AGENTS % NODES);
	key->tid = cpu_to_be64(message / AGENTS / NODES);
}

static void check(struct world *w)
{
	struct umad_rmpp_memos *memos = &w->file.rmpp->memos;
	u32 nodes[NODES] = {}, i, count = 0;
	struct umad_rmpp_memo *memo;
	struct umad_rmpp_key key;

	list_for_each_entry(memo, &memos->oldest, by_age) {
		nodes[be16_to_cpu(memo->key.from.lid) - 1]++;
		count++;
	}
	MUST(memos->count == count);
	MUST(!count == RB_EMPTY_ROOT(&memos->by_key));
	MUST(!count == RB_EMPTY_ROOT(&memos->peers));
	MUST(!count == !rb_first_cached(&memos->by_count));
	/* Whatever is remembered is forgotten one day. */
	MUST(!count == !umad_timer_is_set(&memos->timer));
	for (i = 0; i < MESSAGES; i++) {
		key_of(w, i, &key);
		memo = umad_rmpp_memo_find(&w->file, &key, w->now);
		if (memo) {
			MUST(w->until[i] > w->now && memo->until == w->until[i]);
			MUST(memo->last == w->last[i]);
		}
		MUST(memo || w->short_of || w->until[i] <= w->now);
	}
}

static u32 of_node(struct world *w, u32 node)
{
	struct umad_rmpp_memo *memo;
	u32 n = 0;

	list_for_each_entry(memo, &w->file.rmpp->memos.oldest, by_age)
		n += be16_to_cpu(memo->key.from.lid) == node + 1;
	return n;
}

static void add(struct world *w, u32 message, u8 last)
{
	u32 node = message / AGENTS % NODES, before[NODES], i, most = 0;
	unsigned int max = *max_memos(), part = DIV_ROUND_UP(max, 4);
	static struct umad_xfer_rx rx;

	memset(&rx, 0, sizeof(rx));
	key_of(w, message, &rx.key);
	rx.engine.state = RMPP_RX_DONE;
	rx.engine.last = last;
	rx.engine.progress_at = w->now;
	for (i = 0; i < NODES; i++) {
		before[i] = of_node(w, i);
		most = max(most, before[i]);
	}
	w->short_of |= before[node] >= part || w->file.rmpp->memos.count >= max;
	umad_rmpp_memo_add(&w->file, &rx, w->now);
	w->until[message] = w->now + LINGER;
	w->last[message] = last;
	MUST(w->file.rmpp->memos.count <= max);
	MUST(of_node(w, node) <= part);
	/* Nobody else loses one but who has most, and what is too old. */
	for (i = 0; i < NODES; i++)
		MUST(i == node || before[i] == most || of_node(w, i) + 2 >= before[i]);
}

/* Expired ones go by the timer, though not all at once. */
static void run_timer(struct world *w)
{
	struct umad_timer *timer;
	u32 turns = 0;

	while ((timer = umad_timers_first_due(&w->file.timers, ns_to_ktime(w->now)))) {
		umad_timer_clear(&w->file.timers, timer);
		MUST(!timer->ops->enter(timer, ns_to_ktime(w->now)));
		MUST(turns++ < MESSAGES);
	}
}

static void forget(struct world *w, u32 agent)
{
	struct umad_rmpp_memo *memo;
	u32 i;

	while (umad_rmpp_memo_forget(&w->agents[agent]))
		;
	list_for_each_entry(memo, &w->file.rmpp->memos.oldest, by_age)
		MUST(memo->key.agent != (uintptr_t)&w->agents[agent]);
	for (i = agent; i < MESSAGES; i += AGENTS)
		w->until[i] = 0;
}

static void set_up(struct world *w, struct input *in)
{
	u32 i;

	memset(w, 0, sizeof(*w));
	w->now = NSEC_PER_SEC;
	w->file.reserve = &w->reserve;
	w->file.rmpp = &w->rmpp;
	w->rmpp.file = &w->file;
	spin_lock_init(&w->file.lock);
	umad_timers_init(&w->file.timers, &w->file.lock);
	umad_rmpp_memo_init(&w->file.rmpp->memos);
	for (i = 0; i < AGENTS; i++)
		w->agents[i].file = &w->file;
	*max_memos() = take(in) % 64;
	if (take(in) & 1) {
		fuzz_memory.fail_at = take(in);
		w->short_of = true;
	}
}

void fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct world *w = &world;
	struct umad_rmpp_memo *memo;
	struct umad_rmpp_key key;
	u32 i;

	fuzz_memory_reset();
	set_up(w, &in);
	while (in.left) {
		u8 what = take(&in);
		u32 message = take(&in) % MESSAGES;

		if (what < 160) {
			add(w, message, what);
		} else if (what < 190) {
			w->now += take_time(&in);
		} else if (what < 210) {
			run_timer(w);
		} else if (what < 240) {
			key_of(w, message, &key);
			memo = umad_rmpp_memo_find(&w->file, &key, w->now);
			if (memo)
				umad_rmpp_memo_remove(&w->file, memo);
			w->until[message] = 0;
		} else {
			forget(w, message % AGENTS);
		}
		check(w);
	}
	for (i = 0; i < AGENTS; i++)
		forget(w, i);
	check(w);
	MUST(!w->file.rmpp->memos.count);
	umad_timers_destroy(&w->file.timers);
}
