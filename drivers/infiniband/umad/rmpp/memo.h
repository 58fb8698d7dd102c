/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a file remembers of complete messages, when it has too many to let them linger. */
#ifndef UMAD_RMPP_MEMO_H
#define UMAD_RMPP_MEMO_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include "rmpp/match.h"

struct umad_agent;
struct umad_file;
struct umad_rmpp_memo_peer;
struct umad_rmpp_memos;
struct umad_xfer_rx;

/**
 * struct umad_rmpp_memo - a complete message that does not linger, as others have come
 * @node: in &umad_rmpp_memos.by_key
 * @key: the message's
 * @by_age: in &umad_rmpp_memos.oldest
 * @of_peer: in &umad_rmpp_memo_peer.memos
 * @peer: who has sent it
 * @until: when it is forgotten, in nanoseconds
 * @again_until: &rmpp_rx.again_until
 * @last: its last segment
 * @window_last: of the last ACK
 * @repwin: window that a turn-around ACK gave us
 * @was_asked: it has answered a request
 */
struct umad_rmpp_memo {
	struct rb_node node;
	struct umad_rmpp_key key;
	struct list_head by_age;
	struct list_head of_peer;
	struct umad_rmpp_memo_peer *peer;
	u64 until;
	u64 again_until;
	u32 last;
	u32 window_last;
	u32 repwin;
	bool was_asked;
};

/* What the documentation says that one takes. */
static_assert(sizeof(struct umad_rmpp_memo) <= 192);

void umad_rmpp_memo_init(struct umad_rmpp_memos *memos);
struct umad_rmpp_memo *umad_rmpp_memo_find(struct umad_file *file,
					   const struct umad_rmpp_key *key, u64 now);
void umad_rmpp_memo_ended(struct umad_file *file, const struct umad_rmpp_key *key, u64 now);
void umad_rmpp_memo_add(struct umad_file *file, const struct umad_xfer_rx *rx, u64 now);
void umad_rmpp_memo_remove(struct umad_file *file, struct umad_rmpp_memo *memo);
size_t umad_rmpp_memo_shed(struct umad_file *file, size_t bytes);
bool umad_rmpp_memo_forget(struct umad_agent *agent);

#endif /* UMAD_RMPP_MEMO_H */
