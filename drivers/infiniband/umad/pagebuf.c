// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "pagebuf.h"

#include <linux/gfp.h>
#include <linux/jhash.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uio.h>
#include "umad_export.h"

#define BLOCK	UMAD_PAGEBUF_BLOCK

static_assert(PAGE_SIZE >= BLOCK);

/* Is a block a page, or a part of one? */
#define IS_PAGE	(PAGE_SIZE == BLOCK)

static void *alloc_block(gfp_t gfp)
{
	struct page *page;

	/* Zeroed: what is never written must tell nobody anything. */
	if (!IS_PAGE)
		return kzalloc(BLOCK, gfp);
	page = alloc_page(gfp | __GFP_ZERO);
	return page ? page_address(page) : NULL;
}

/* Kept in the private data of a page; not known of a part of one. */
static void set_index(void *block, unsigned long index)
{
	if (IS_PAGE)
		set_page_private(virt_to_page(block), index);
}

static void free_block(void *block)
{
	if (!IS_PAGE) {
		kfree(block);
		return;
	}
	set_index(block, 0);
	__free_page(virt_to_page(block));
}

static bool has_index(void *block, unsigned long index)
{
	return IS_PAGE && page_private(virt_to_page(block)) == index;
}

/**
 * umad_pagebuf_alloc() - an empty buffer
 * @gfp: for it, and for its blocks
 *
 * Context: process; may sleep if @gfp allows it.
 * Return: the buffer or NULL.
 */
struct umad_pagebuf *umad_pagebuf_alloc(gfp_t gfp)
{
	struct umad_pagebuf *buf = kmalloc(sizeof(*buf), gfp);

	if (buf) {
		buf->gfp = gfp;
		xa_init(&buf->blocks);
		buf->last = NULL;
		buf->bytes = 0;
	}
	return buf;
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_alloc);

/**
 * umad_pagebuf_free() - give all memory back
 * @buf: consumed; NULL is nothing
 *
 * Context: process; may sleep.
 */
void umad_pagebuf_free(struct umad_pagebuf *buf)
{
	unsigned long i;
	void *block;

	if (!buf)
		return;
	xa_for_each(&buf->blocks, i, block) {
		free_block(block);
		if (!(i % 1024))
			cond_resched();
	}
	xa_destroy(&buf->blocks);
	kfree(buf);
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_free);

/* NULL if there is none. */
static void *find_block(struct umad_pagebuf *buf, unsigned long index)
{
	void *block = READ_ONCE(buf->last);

	if (block && has_index(block, index))
		return block;
	block = xa_load(&buf->blocks, index);
	if (block && IS_PAGE)
		WRITE_ONCE(buf->last, block);
	return block;
}

static void *get_block(struct umad_pagebuf *buf, unsigned long index)
{
	void *block = find_block(buf, index);

	if (block)
		return block;
	block = alloc_block(buf->gfp);
	if (!block)
		return NULL;
	set_index(block, index);
	if (xa_err(xa_store(&buf->blocks, index, block, buf->gfp))) {
		free_block(block);
		return NULL;
	}
	buf->bytes += BLOCK;
	return block;
}

/**
 * umad_pagebuf_write() - store bytes
 * @buf: the buffer
 * @offset: where, any
 * @data: what
 * @len: how many
 *
 * Context: process; may sleep if the buffer's memory may be waited for.
 * Return: 0 or -ENOMEM, then some may have been stored.
 */
int umad_pagebuf_write(struct umad_pagebuf *buf, size_t offset, const void *data,
		       size_t len)
{
	size_t at, n;
	void *block;

	while (len) {
		block = get_block(buf, offset / BLOCK);
		if (!block)
			return -ENOMEM;
		at = offset % BLOCK;
		n = min_t(size_t, len, BLOCK - at);
		memcpy(block + at, data, n);
		data += n;
		offset += n;
		len -= n;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_write);

/**
 * umad_pagebuf_write_iter() - store a process's bytes
 * @buf: the buffer
 * @offset: where, any
 * @from: the process's, advanced
 * @len: how many
 *
 * Above memory.high the kernel makes who is charged sleep; but not a process that is being
 * killed, which would take the rest of it at once.
 * Context: process; sleeps, for as long as page faults of user space take.
 * Return: 0, -ENOMEM, -EFAULT, or -EINTR for who is being killed; then some may have been
 * stored.
 */
int umad_pagebuf_write_iter(struct umad_pagebuf *buf, size_t offset, struct iov_iter *from,
			    size_t len)
{
	size_t at, n;
	void *block;

	while (len) {
		if (fatal_signal_pending(current))
			return -EINTR;
		block = get_block(buf, offset / BLOCK);
		if (!block)
			return -ENOMEM;
		at = offset % BLOCK;
		n = min_t(size_t, len, BLOCK - at);
		if (!copy_from_iter_full(block + at, n, from))
			return -EFAULT;
		offset += n;
		len -= n;
		cond_resched();
	}
	return 0;
}

/**
 * umad_pagebuf_read() - fetch bytes
 * @buf: the buffer
 * @offset: from where
 * @data: to
 * @len: how many
 *
 * What was never written reads as zero: a sender need not fill its segments.
 * Context: any.
 */
void umad_pagebuf_read(struct umad_pagebuf *buf, size_t offset,
		       void *data, size_t len)
{
	size_t at, n;
	void *block;

	while (len) {
		block = find_block(buf, offset / BLOCK);
		at = offset % BLOCK;
		n = min_t(size_t, len, BLOCK - at);
		if (block)
			memcpy(data, block + at, n);
		else
			memset(data, 0, n);
		data += n;
		offset += n;
		len -= n;
	}
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_read);

static void drop_block(struct umad_pagebuf *buf, unsigned long index)
{
	void *block = xa_erase(&buf->blocks, index);

	buf->last = NULL;
	buf->bytes -= BLOCK;
	free_block(block);
}

/**
 * umad_pagebuf_lift() - take out how a buffer begins, and give its memory back
 * @buf: the buffer
 * @to: for the bytes
 * @len: so many, a multiple of UMAD_PAGEBUF_BLOCK
 *
 * Context: any.
 */
void umad_pagebuf_lift(struct umad_pagebuf *buf, void *to, size_t len)
{
	unsigned long i;

	umad_pagebuf_read(buf, 0, to, len);
	for (i = 0; i < len / BLOCK; i++)
		if (find_block(buf, i))
			drop_block(buf, i);
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_lift);

static int read_iter(struct umad_pagebuf *buf, struct iov_iter *to, size_t offset, size_t end,
		     bool move)
{
	void *block;
	size_t n;

	while (offset < end) {
		block = find_block(buf, offset / BLOCK);
		n = min_t(size_t, end - offset, BLOCK);
		if (n != (block ? copy_to_iter(block, n, to) : iov_iter_zero(n, to)))
			return -EFAULT;
		if (block && move)
			drop_block(buf, offset / BLOCK);
		offset += n;
		cond_resched();
	}
	return 0;
}

/**
 * umad_pagebuf_read_iter() - fetch bytes for a process, from offset 0 on
 * @buf: the buffer
 * @to: the process's, advanced
 * @len: how many
 *
 * What was never written reads as zero: a sender need not fill its segments.
 * Context: process; sleeps, for as long as page faults of user space take.
 * Return: 0 or -EFAULT.
 */
int umad_pagebuf_read_iter(struct umad_pagebuf *buf, struct iov_iter *to, size_t len)
{
	return read_iter(buf, to, 0, len, false);
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_read_iter);

/**
 * umad_pagebuf_move_iter() - the same, and give each block back when it is copied
 * @buf: the buffer; after an error, too, those that were are not there any more
 * @to: the process's, advanced
 * @offset: of the first, a multiple of UMAD_PAGEBUF_BLOCK
 * @end: behind the last
 *
 * A process that has no memory for the bytes twice can have them once.
 * Context: process; sleeps, for as long as page faults of user space take.
 * Return: 0 or -EFAULT.
 */
int umad_pagebuf_move_iter(struct umad_pagebuf *buf, struct iov_iter *to, size_t offset,
			   size_t end)
{
	return read_iter(buf, to, offset, end, true);
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_move_iter);

/**
 * umad_pagebuf_hash() - tells buffers apart that begin differently
 * @buf: the buffer
 *
 * Context: any.
 * Return: a hash of its first block; 0 without one.
 */
u32 umad_pagebuf_hash(struct umad_pagebuf *buf)
{
	void *block = find_block(buf, 0);

	return block ? jhash2(block, BLOCK / sizeof(u32), 0) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_hash);

/**
 * umad_pagebuf_is_equal() - have two buffers the same bytes?
 * @buf: written up to @len
 * @other: likewise; others may read it meanwhile
 * @len: bytes; the rest of the last block was not written
 *
 * Context: process; sleeps.
 * Return: true if so.
 */
bool umad_pagebuf_is_equal(struct umad_pagebuf *buf, struct umad_pagebuf *other, size_t len)
{
	unsigned long i, blocks = DIV_ROUND_UP(len, BLOCK);
	void *block, *other_block;

	for (i = 0; i < blocks; i++) {
		block = xa_load(&buf->blocks, i);
		other_block = xa_load(&other->blocks, i);
		if (!block || !other_block || memcmp(block, other_block, BLOCK))
			return false;
		cond_resched();
	}
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_is_equal);
