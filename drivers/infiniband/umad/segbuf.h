/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The data of a long message, packed into pages: grows where it is written,
 * needs no contiguous memory, and is sized by nobody's claim. Calls for one
 * buffer are serialised by its owner.
 */
#ifndef UMAD_SEGBUF_H
#define UMAD_SEGBUF_H

#include <linux/llist.h>
#include <linux/types.h>
#include <linux/xarray.h>

/**
 * struct umad_segbuf - bytes in pages
 * @pages: by offset / PAGE_SIZE
 * @bytes: memory that the pages take
 * @gfp: how more is allocated, constant
 * @free_node: among those that a work is to free
 */
struct umad_segbuf {
	struct xarray pages;
	size_t bytes;
	gfp_t gfp;
	struct llist_node free_node;
};

struct umad_segbuf *umad_segbuf_alloc(gfp_t gfp);
void umad_segbuf_free(struct umad_segbuf *buf);
int umad_segbuf_write(struct umad_segbuf *buf, size_t offset, const void *data,
		      size_t len);
int umad_segbuf_write_user(struct umad_segbuf *buf, const void __user *data,
			   size_t len);
void umad_segbuf_read(const struct umad_segbuf *buf, size_t offset,
		      void *data, size_t len);
int umad_segbuf_read_user(const struct umad_segbuf *buf, size_t offset,
			  void __user *data, size_t len);

/* segbuf_free.c */
void umad_segbuf_free_soon(struct umad_segbuf *buf);
void umad_segbuf_exit(void);

#endif /* UMAD_SEGBUF_H */
