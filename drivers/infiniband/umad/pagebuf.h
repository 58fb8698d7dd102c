/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The data of a message, packed into blocks: grows where it is written, needs
 * no contiguous memory, and is sized by nobody's claim. Calls for one buffer are
 * serialised by its owner.
 */
#ifndef UMAD_PAGEBUF_H
#define UMAD_PAGEBUF_H

#include <linux/llist.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <linux/xarray.h>

struct iov_iter;

/*
 * Bytes of a block. Most messages are of one segment: where pages are of 64 KiB, they must
 * not take one each.
 */
#define UMAD_PAGEBUF_BLOCK	SZ_4K

/**
 * struct umad_pagebuf - bytes in blocks
 * @blocks: by offset / UMAD_PAGEBUF_BLOCK
 * @last: the block that was used last, or NULL: mostly the next bytes are there, too; NULL if
 *	a block is no page
 * @bytes: memory that the blocks take
 * @gfp: how more is allocated, constant
 * @free_node: among those that a work is to free
 */
struct umad_pagebuf {
	struct xarray blocks;
	void *last;
	size_t bytes;
	gfp_t gfp;
	struct llist_node free_node;
};

struct umad_pagebuf *umad_pagebuf_alloc(gfp_t gfp);
void umad_pagebuf_free(struct umad_pagebuf *buf);
int umad_pagebuf_write(struct umad_pagebuf *buf, size_t offset, const void *data,
		       size_t len);
int umad_pagebuf_write_iter(struct umad_pagebuf *buf, size_t offset, struct iov_iter *from,
			    size_t len);
void umad_pagebuf_read(struct umad_pagebuf *buf, size_t offset,
		       void *data, size_t len);
u32 umad_pagebuf_hash(struct umad_pagebuf *buf);
bool umad_pagebuf_is_equal(struct umad_pagebuf *buf, struct umad_pagebuf *other, size_t len);
int umad_pagebuf_read_iter(struct umad_pagebuf *buf, struct iov_iter *to, size_t len);
void umad_pagebuf_lift(struct umad_pagebuf *buf, void *to, size_t len);
int umad_pagebuf_move_iter(struct umad_pagebuf *buf, struct iov_iter *to, size_t offset,
			   size_t end);

/* pagebuf_free.c */
void umad_pagebuf_free_soon(struct umad_pagebuf *buf);
void umad_pagebuf_exit(void);

#endif /* UMAD_PAGEBUF_H */
