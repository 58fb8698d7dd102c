/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Searching and adding with a function that compares, which <linux/rbtree.h> has since 5.12. */
#ifndef UMAD_RBTREE_H
#define UMAD_RBTREE_H

#include <linux/rbtree.h>

/* Remove when kernels before 5.12 are dropped. */
#ifdef UMAD_LACKS_RB_FIND

static inline void
rb_add_cached(struct rb_node *node, struct rb_root_cached *tree,
	      bool (*less)(struct rb_node *node, const struct rb_node *other))
{
	struct rb_node **link = &tree->rb_root.rb_node, *parent = NULL;
	bool first = true;

	while (*link) {
		parent = *link;
		if (less(node, parent)) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			first = false;
		}
	}
	rb_link_node(node, parent, link);
	rb_insert_color_cached(node, tree, first);
}

static inline void rb_add(struct rb_node *node, struct rb_root *tree,
			  bool (*less)(struct rb_node *node,
				       const struct rb_node *other))
{
	struct rb_node **link = &tree->rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		link = less(node, parent) ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(node, parent, link);
	rb_insert_color(node, tree);
}

static inline struct rb_node *
rb_find_add(struct rb_node *node, struct rb_root *tree,
	    int (*compare)(struct rb_node *node, const struct rb_node *other))
{
	struct rb_node **link = &tree->rb_node, *parent = NULL;

	while (*link) {
		int order;

		parent = *link;
		order = compare(node, parent);
		if (!order)
			return parent;
		link = order < 0 ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(node, parent, link);
	rb_insert_color(node, tree);
	return NULL;
}

static inline struct rb_node *
rb_find(const void *key, const struct rb_root *tree,
	int (*compare)(const void *key, const struct rb_node *node))
{
	struct rb_node *node = tree->rb_node;
	int order;

	while (node && (order = compare(key, node)))
		node = order < 0 ? node->rb_left : node->rb_right;
	return node;
}

/* The leftmost of those that are equal to the key. */
static inline struct rb_node *
rb_find_first(const void *key, const struct rb_root *tree,
	      int (*compare)(const void *key, const struct rb_node *node))
{
	struct rb_node *node = tree->rb_node, *found = NULL;

	while (node) {
		int order = compare(key, node);

		if (!order)
			found = node;
		node = order <= 0 ? node->rb_left : node->rb_right;
	}
	return found;
}

#endif /* UMAD_LACKS_RB_FIND */

#endif /* UMAD_RBTREE_H */
