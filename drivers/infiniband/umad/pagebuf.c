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

/**
 * umad_pagebuf_alloc() - an empty buffer
 * @gfp: for it, and for its pages
 *
 * Context: process; may sleep if @gfp allows it.
 * Return: the buffer or NULL.
 */
struct umad_pagebuf *umad_pagebuf_alloc(gfp_t gfp)
{
	struct umad_pagebuf *buf = kmalloc(sizeof(*buf), gfp);

	if (buf) {
		buf->gfp = gfp;
		xa_init(&buf->pages);
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
	struct page *page;
	unsigned long i;

	if (!buf)
		return;
	xa_for_each(&buf->pages, i, page) {
		__free_page(page);
		if (!(i % 1024))
			cond_resched();
	}
	xa_destroy(&buf->pages);
	kfree(buf);
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_free);

/* The page of an index, which it keeps as its private data; NULL if there is none. */
static struct page *find_page(struct umad_pagebuf *buf, unsigned long index)
{
	struct page *page = READ_ONCE(buf->last);

	if (page && page_private(page) == index)
		return page;
	page = xa_load(&buf->pages, index);
	if (page)
		WRITE_ONCE(buf->last, page);
	return page;
}

static struct page *get_page_at(struct umad_pagebuf *buf, unsigned long index)
{
	struct page *page = find_page(buf, index);

	if (page)
		return page;
	/* Zeroed: what is never written must tell nobody anything. */
	page = alloc_page(buf->gfp | __GFP_ZERO);
	if (!page)
		return NULL;
	set_page_private(page, index);
	if (xa_err(xa_store(&buf->pages, index, page, buf->gfp))) {
		__free_page(page);
		return NULL;
	}
	buf->bytes += PAGE_SIZE;
	return page;
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
	struct page *page;
	size_t at, n;

	while (len) {
		page = get_page_at(buf, offset / PAGE_SIZE);
		if (!page)
			return -ENOMEM;
		at = offset_in_page(offset);
		n = min_t(size_t, len, PAGE_SIZE - at);
		memcpy(page_address(page) + at, data, n);
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
	struct page *page;
	size_t at, n;

	while (len) {
		if (fatal_signal_pending(current))
			return -EINTR;
		page = get_page_at(buf, offset / PAGE_SIZE);
		if (!page)
			return -ENOMEM;
		at = offset_in_page(offset);
		n = min_t(size_t, len, PAGE_SIZE - at);
		if (!copy_from_iter_full(page_address(page) + at, n, from))
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
	struct page *page;
	size_t at, n;

	while (len) {
		page = find_page(buf, offset / PAGE_SIZE);
		at = offset_in_page(offset);
		n = min_t(size_t, len, PAGE_SIZE - at);
		if (page)
			memcpy(data, page_address(page) + at, n);
		else
			memset(data, 0, n);
		data += n;
		offset += n;
		len -= n;
	}
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_read);

static void drop_page(struct umad_pagebuf *buf, unsigned long index)
{
	struct page *page = xa_erase(&buf->pages, index);

	buf->last = NULL;
	buf->bytes -= PAGE_SIZE;
	__free_page(page);
}

/**
 * umad_pagebuf_lift() - take out how a buffer begins, and give its pages back
 * @buf: the buffer
 * @to: for the bytes
 * @pages: so many
 *
 * Context: any.
 */
void umad_pagebuf_lift(struct umad_pagebuf *buf, void *to, unsigned int pages)
{
	unsigned int i;

	umad_pagebuf_read(buf, 0, to, pages * PAGE_SIZE);
	for (i = 0; i < pages; i++)
		if (find_page(buf, i))
			drop_page(buf, i);
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_lift);

static int read_iter(struct umad_pagebuf *buf, struct iov_iter *to, size_t offset, size_t end,
		     bool move)
{
	struct page *page;
	size_t n;

	while (offset < end) {
		page = find_page(buf, offset / PAGE_SIZE);
		n = min_t(size_t, end - offset, PAGE_SIZE);
		if (n != (page ? copy_to_iter(page_address(page), n, to) :
				 iov_iter_zero(n, to)))
			return -EFAULT;
		if (page && move)
			drop_page(buf, offset / PAGE_SIZE);
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
 * umad_pagebuf_move_iter() - the same, and give each page back when it is copied
 * @buf: the buffer; after an error, too, those that were are not there any more
 * @to: the process's, advanced
 * @offset: of the first, a multiple of PAGE_SIZE
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
 * Return: a hash of its first page; 0 without one.
 */
u32 umad_pagebuf_hash(struct umad_pagebuf *buf)
{
	struct page *page = find_page(buf, 0);

	return page ? jhash2(page_address(page), PAGE_SIZE / sizeof(u32), 0) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_hash);

/**
 * umad_pagebuf_is_equal() - have two buffers the same bytes?
 * @buf: written up to @len
 * @other: likewise; others may read it meanwhile
 * @len: bytes; the rest of the last page was not written
 *
 * Context: process; sleeps.
 * Return: true if so.
 */
bool umad_pagebuf_is_equal(struct umad_pagebuf *buf, struct umad_pagebuf *other, size_t len)
{
	unsigned long i, pages = DIV_ROUND_UP(len, PAGE_SIZE);
	struct page *page, *other_page;

	for (i = 0; i < pages; i++) {
		page = xa_load(&buf->pages, i);
		other_page = xa_load(&other->pages, i);
		if (!page || !other_page ||
		    memcmp(page_address(page), page_address(other_page), PAGE_SIZE))
			return false;
		cond_resched();
	}
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(umad_pagebuf_is_equal);
