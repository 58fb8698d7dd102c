// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A message whose last ACK was lost must not be taken for a new one when its sender
 * repeats it, however many others have become complete meanwhile. What that needs is
 * little: so a file remembers many, and who sends too many makes it forget his own.
 */
#include <linux/types.h>
#include "rmpp/memo.h"

#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "agent.h"
#include "charge.h"
#include "file.h"
#include "rmpp/reassembly.h"
#include "room.h"
#include "umad_rbtree.h"

static unsigned int rmpp_file_memos = 65536;
module_param(rmpp_file_memos, uint, 0644);
MODULE_PARM_DESC(rmpp_file_memos,
		 "Complete RMPP messages that one file remembers for 10 s (default: 65536)");

/* One peer may have one of so many. */
#define PEER_PART	4
/* Those that go when one is added: too old, and too many, as the parameter may change. */
#define DROP_MAX	2
/* Of a cgroup's memory a file has one part in so many for memos, and for what lingers. */
#define MEMOS_PART	16
/* With what is known of the peer, if that has no other. */
#define MEMO_BYTES	(sizeof(struct umad_rmpp_memo) + sizeof(struct umad_rmpp_memo_peer))
/* Those forgotten with the lock held. */
#define BATCH		32
#define SHED_MAX	1024

/**
 * struct umad_rmpp_memo_peer - who has sent messages that are remembered
 * @node: in &umad_rmpp_memos.peers
 * @by_count: in &umad_rmpp_memos.by_count
 * @memos: of its messages, &umad_rmpp_memo.of_peer, the oldest first
 * @count: of them
 * @addr: of the node, one of its queue pairs
 */
struct umad_rmpp_memo_peer {
	struct rb_node node;
	struct rb_node by_count;
	struct list_head memos;
	unsigned int count;
	struct umad_addr addr;
};

static int compare_keys(const void *key, const struct rb_node *node)
{
	return memcmp(key, &rb_entry(node, struct umad_rmpp_memo, node)->key,
		      sizeof(struct umad_rmpp_key));
}

static bool sorts_before(struct rb_node *a, const struct rb_node *b)
{
	return compare_keys(&rb_entry(a, struct umad_rmpp_memo, node)->key, b) < 0;
}

/* &umad_rmpp_key.agent is the first that memcmp() looks at, so an agent's stand together. */
static int compare_agents(const void *key, const struct rb_node *node)
{
	return memcmp(key, &rb_entry(node, struct umad_rmpp_memo, node)->key.agent,
		      sizeof(u64));
}

static_assert(!offsetof(struct umad_rmpp_key, agent));

static int compare_peers(const void *addr, const struct rb_node *node)
{
	return umad_addr_compare_node(addr, &rb_entry(node, struct umad_rmpp_memo_peer,
						      node)->addr);
}

static bool peer_sorts_before(struct rb_node *a, const struct rb_node *b)
{
	return compare_peers(&rb_entry(a, struct umad_rmpp_memo_peer, node)->addr, b) < 0;
}

static bool has_more(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct umad_rmpp_memo_peer, by_count)->count >
	       rb_entry(b, struct umad_rmpp_memo_peer, by_count)->count;
}

static void set_count(struct umad_rmpp_memos *memos, struct umad_rmpp_memo_peer *peer,
		      unsigned int count)
{
	rb_erase_cached(&peer->by_count, &memos->by_count);
	peer->count = count;
	if (count) {
		rb_add_cached(&peer->by_count, &memos->by_count, has_more);
		return;
	}
	rb_erase(&peer->node, &memos->peers);
	kfree(peer);
}

static struct umad_rmpp_memo_peer *find_peer(struct umad_rmpp_memos *memos,
					     const struct umad_addr *addr)
{
	struct rb_node *node = rb_find(addr, &memos->peers, compare_peers);

	return node ? rb_entry(node, struct umad_rmpp_memo_peer, node) : NULL;
}

static struct umad_rmpp_memo *first_of(struct list_head *memos)
{
	return list_first_entry_or_null(memos, struct umad_rmpp_memo, by_age);
}

static u64 next_end(struct umad_rmpp_memos *memos)
{
	struct umad_rmpp_memo *memo = first_of(&memos->oldest);

	return memo ? memo->until : U64_MAX;
}

static void memos_arm(struct umad_file *file)
{
	u64 next = next_end(&file->rmpp->memos);

	umad_timer_put_off(&file->timers, &file->rmpp->memos.timer,
			   next == U64_MAX ? KTIME_MAX : ns_to_ktime(next));
	umad_file_arm(file);
}

/* All of it is done at once, by turns with other deadlines. */
static struct umad_agent *timer_enter(struct umad_timer *timer, ktime_t now)
{
	struct umad_rmpp_memos *memos = container_of(timer, struct umad_rmpp_memos, timer);
	struct umad_file *file = container_of(memos, struct umad_rmpp, memos)->file;
	unsigned int n = 0;

	while (n++ < BATCH && next_end(memos) <= ktime_to_ns(now))
		umad_rmpp_memo_remove(file, first_of(&memos->oldest));
	memos_arm(file);
	return NULL;
}

static const struct umad_timer_ops timer_ops = {
	.enter = timer_enter,
};

/**
 * umad_rmpp_memo_init() - nothing is remembered yet
 * @memos: of a file
 *
 * Context: any.
 */
void umad_rmpp_memo_init(struct umad_rmpp_memos *memos)
{
	memos->by_key = RB_ROOT;
	memos->peers = RB_ROOT;
	memos->by_count = RB_ROOT_CACHED;
	INIT_LIST_HEAD(&memos->oldest);
	umad_timer_init(&memos->timer, &timer_ops);
}

/**
 * umad_rmpp_memo_find() - is the message with a key remembered?
 * @file: that it was for
 * @key: of the message
 * @now: the time
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: what is, or NULL.
 */
struct umad_rmpp_memo *umad_rmpp_memo_find(struct umad_file *file,
					   const struct umad_rmpp_key *key, u64 now)
{
	struct umad_rmpp_memo *memo;
	struct rb_node *node;

	lockdep_assert_held(&file->lock);
	node = rb_find(key, &file->rmpp->memos.by_key, compare_keys);
	if (!node)
		return NULL;
	memo = rb_entry(node, struct umad_rmpp_memo, node);
	return memo->until > now ? memo : NULL;
}

/**
 * umad_rmpp_memo_ended() - its sender has ended a message that is remembered
 * @file: that it was for
 * @key: of the message
 * @now: the time
 *
 * What comes behind that does not prolong it (&rmpp_rx.again_until).
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_memo_ended(struct umad_file *file, const struct umad_rmpp_key *key, u64 now)
{
	struct umad_rmpp_memo *memo = umad_rmpp_memo_find(file, key, now);

	if (memo)
		memo->again_until = min(memo->again_until, now);
}

/**
 * umad_rmpp_memo_remove() - a message is not remembered any more
 * @file: that it was for
 * @memo: freed
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_memo_remove(struct umad_file *file, struct umad_rmpp_memo *memo)
{
	struct umad_rmpp_memos *memos = &file->rmpp->memos;

	lockdep_assert_held(&file->lock);
	rb_erase(&memo->node, &memos->by_key);
	list_del(&memo->by_age);
	list_del(&memo->of_peer);
	set_count(memos, memo->peer, memo->peer->count - 1);
	memos->count--;
	kfree(memo);
	if (!memos->count)
		umad_timer_clear(&file->timers, &memos->timer);
}

static unsigned int memos_max(const struct umad_file *file)
{
	return min_t(u64, READ_ONCE(rmpp_file_memos),
		     umad_reserve_part(file->reserve, MEMOS_PART, MEMO_BYTES));
}

/* Who has to lose one for the next of @addr: that itself, who has most, or NULL. */
static struct umad_rmpp_memo_peer *who_loses(struct umad_file *file,
					     const struct umad_addr *addr)
{
	struct umad_rmpp_memos *memos = &file->rmpp->memos;
	struct umad_rmpp_memo_peer *peer = find_peer(memos, addr);
	unsigned int max = memos_max(file);

	if (peer && peer->count >= max / PEER_PART + !!(max % PEER_PART))
		return peer;
	if (!memos->count || memos->count < max)
		return NULL;
	return rb_entry(rb_first_cached(&memos->by_count), struct umad_rmpp_memo_peer,
			by_count);
}

static void make_room(struct umad_file *file, const struct umad_addr *addr, u64 now)
{
	struct umad_rmpp_memos *memos = &file->rmpp->memos;
	struct umad_rmpp_memo_peer *peer;
	unsigned int n;

	for (n = 0; n < DROP_MAX && next_end(memos) <= now; n++)
		umad_rmpp_memo_remove(file, first_of(&memos->oldest));
	for (n = 0; n < DROP_MAX; n++) {
		peer = who_loses(file, addr);
		if (!peer)
			return;
		umad_rmpp_memo_remove(file, list_first_entry(&peer->memos,
							     struct umad_rmpp_memo,
							     of_peer));
	}
}

static struct umad_rmpp_memo *memo_alloc(struct umad_file *file,
					 const struct umad_addr *addr)
{
	struct umad_charge charge = umad_charge_begin(file->reserve->memcg);
	struct umad_rmpp_memos *memos = &file->rmpp->memos;
	struct umad_rmpp_memo_peer *peer = find_peer(memos, addr);
	struct umad_rmpp_memo *memo;
	bool known = peer;

	memo = kmalloc(sizeof(*memo), UMAD_GFP_HANDLER);
	if (memo && !known)
		peer = kzalloc(sizeof(*peer), UMAD_GFP_HANDLER);
	umad_charge_end(&charge);
	if (!memo || !peer) {
		kfree(memo);
		return NULL;
	}
	if (!known) {
		INIT_LIST_HEAD(&peer->memos);
		peer->addr = *addr;
		rb_add(&peer->node, &memos->peers, peer_sorts_before);
		rb_add_cached(&peer->by_count, &memos->by_count, has_more);
	}
	memo->peer = peer;
	return memo;
}

/**
 * umad_rmpp_memo_add() - remember a message that lingers no more
 * @file: that it is for
 * @rx: complete
 * @now: the time
 *
 * Without memory it is forgotten.
 * Context: process, &umad_file.lock held, and the agent does not end meanwhile; does not
 * sleep.
 */
void umad_rmpp_memo_add(struct umad_file *file, const struct umad_xfer_rx *rx, u64 now)
{
	struct umad_rmpp_memos *memos = &file->rmpp->memos;
	struct umad_rmpp_memo *memo;
	struct rb_node *node;

	lockdep_assert_held(&file->lock);
	/* One whose time had come when this one began. */
	node = rb_find(&rx->key, &memos->by_key, compare_keys);
	if (node)
		umad_rmpp_memo_remove(file, rb_entry(node, struct umad_rmpp_memo, node));
	make_room(file, &rx->key.from, now);
	if (!memos_max(file))
		return;
	memo = memo_alloc(file, &rx->key.from);
	if (!memo)
		return;

	memo->key = rx->key;
	memo->until = rmpp_rx_deadline(&rx->engine);
	memo->again_until = rx->engine.again_until;
	memo->last = rx->engine.last;
	memo->window_last = rx->engine.window_last;
	memo->repwin = rx->engine.repwin;
	memo->was_asked = rx->was_asked;
	rb_add(&memo->node, &memos->by_key, sorts_before);
	list_add_tail(&memo->by_age, &memos->oldest);
	list_add_tail(&memo->of_peer, &memo->peer->memos);
	set_count(memos, memo->peer, memo->peer->count + 1);
	memos->count++;
	memos_arm(file);
}

/**
 * umad_rmpp_memo_shed() - the oldest memos make room
 * @file: that has them
 * @bytes: of memory that is to be given back, if they have so much
 *
 * Context: process, reclaiming memory, &umad_file.lock held; does not sleep.
 * Return: bytes.
 */
size_t umad_rmpp_memo_shed(struct umad_file *file, size_t bytes)
{
	struct umad_rmpp_memos *memos = &file->rmpp->memos;
	size_t freed = 0;
	unsigned int n;

	lockdep_assert_held(&file->lock);
	for (n = 0; n < SHED_MAX && memos->count && freed < bytes; n++) {
		umad_rmpp_memo_remove(file, first_of(&memos->oldest));
		freed += sizeof(struct umad_rmpp_memo);
	}
	return freed;
}

/**
 * umad_rmpp_memo_forget() - an agent goes away
 * @agent: dying, without active references
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: true: call it again, there are more.
 */
bool umad_rmpp_memo_forget(struct umad_agent *agent)
{
	struct umad_file *file = agent->file;
	const u64 key = (uintptr_t)agent;
	struct rb_node *node;
	unsigned int n = 0;

	lockdep_assert_held(&file->lock);
	while (n++ < BATCH) {
		node = rb_find(&key, &file->rmpp->memos.by_key, compare_agents);
		if (!node)
			return false;
		umad_rmpp_memo_remove(file, rb_entry(node, struct umad_rmpp_memo, node));
	}
	return true;
}
