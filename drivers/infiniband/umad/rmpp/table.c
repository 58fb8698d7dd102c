// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "rmpp/table.h"

#include <linux/string.h>
#include "rmpp/reassembly.h"
#include "umad_rbtree.h"

/* Mostly the transaction IDs differ already. */
static int key_compare(const void *key, const struct rb_node *node)
{
	const struct umad_rmpp_key *a = key, *b = &rb_entry(node, struct umad_xfer_rx, node)->key;
	u64 tid_a = be64_to_cpu(a->tid), tid_b = be64_to_cpu(b->tid);

	if (tid_a != tid_b)
		return tid_a < tid_b ? -1 : 1;
	if (a->agent != b->agent)
		return a->agent < b->agent ? -1 : 1;
	return memcmp(&a->from, &b->from, sizeof(*a) - offsetof(struct umad_rmpp_key, from));
}

static bool sorts_before(struct rb_node *a, const struct rb_node *b)
{
	return key_compare(&rb_entry(a, struct umad_xfer_rx, node)->key, b) < 0;
}

/**
 * umad_rmpp_table_find() - the message with a key
 * @rmpp: of the file
 * @key: of the message
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: the message, or NULL.
 */
struct umad_xfer_rx *umad_rmpp_table_find(struct umad_rmpp *rmpp,
					  const struct umad_rmpp_key *key)
{
	struct rb_node *node = rb_find(key, &rmpp->receivers, key_compare);

	return node ? rb_entry(node, struct umad_xfer_rx, node) : NULL;
}

/**
 * umad_rmpp_table_insert() - a message begins
 * @rmpp: of the file
 * @rx: the message, whose key is in no other
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_table_insert(struct umad_rmpp *rmpp, struct umad_xfer_rx *rx)
{
	rb_add(&rx->node, &rmpp->receivers, sorts_before);
}

/**
 * umad_rmpp_table_remove() - a message has ended
 * @rmpp: of the file
 * @rx: the message, in the table
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_table_remove(struct umad_rmpp *rmpp, struct umad_xfer_rx *rx)
{
	rb_erase(&rx->node, &rmpp->receivers);
}
