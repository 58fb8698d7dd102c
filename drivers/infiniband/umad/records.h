/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The records that one call reads or writes. */
#ifndef UMAD_RECORDS_H
#define UMAD_RECORDS_H

#include <linux/bvec.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/uio.h>

/**
 * umad_is_one_buffer() - is a caller's memory one buffer, or a vector of some?
 * @iter: that memory
 *
 * Of several buffers that a process has registered with io_uring (READV_FIXED and
 * WRITEV_FIXED of newer kernels) nothing but their pages is known here; but what is not
 * page by page is of several.
 * Context: any.
 * Return: false if it must be several and nobody knows where each begins.
 */
static inline bool umad_is_one_buffer(const struct iov_iter *iter)
{
	const struct bio_vec *vec = iter->bvec;
	unsigned long i;

	if (!iov_iter_is_bvec(iter))
		return true;
	for (i = 1; i < iter->nr_segs; i++)
		if (offset_in_page(vec[i - 1].bv_offset + vec[i - 1].bv_len) ||
		    offset_in_page(vec[i].bv_offset))
			return false;
	return true;
}

/**
 * umad_skip_empty() - go on to a buffer that is not empty
 * @iter: the caller's memory, some of which is left
 *
 * 5.10 goes over one empty buffer at a time.
 * Context: any.
 */
static inline void umad_skip_empty(struct iov_iter *iter)
{
	unsigned long n;

	for (n = iter->nr_segs; n && !iov_iter_single_seg_count(iter); n--)
		iov_iter_advance(iter, 0);
}

/**
 * umad_for_records() - read or write one record after another
 * @iocb: of the call
 * @iter: the caller's memory
 * @record: for a buffer of so many bytes, returns as read() or write()
 *
 * ABI: each buffer of a readv() or writev() is a read() or write() of its own. A record that
 * is shorter is the last, or nobody would know where the next begins.
 * Context: process; as @record.
 * Return: bytes of all, or what is wrong with the first; -EINVAL for what may be several
 * buffers in one.
 */
static __always_inline ssize_t
umad_for_records(struct kiocb *iocb, struct iov_iter *iter,
		 ssize_t (*record)(struct kiocb *iocb, struct iov_iter *iter, size_t count))
{
	ssize_t done = 0, ret;
	size_t count;

	/* ABI: io_uring and AIO have nothing to do then, read() and write() have a bad length. */
	if (!iov_iter_count(iter) && !is_sync_kiocb(iocb))
		return 0;
	if (!umad_is_one_buffer(iter))
		return -EINVAL;
	do {
		if (done)
			umad_skip_empty(iter);
		count = iter_is_iovec(iter) ? iov_iter_single_seg_count(iter) :
					      iov_iter_count(iter);
		ret = record(iocb, iter, count);
		if (ret < 0)
			break;
		done += ret;
	} while (ret == count && iov_iter_count(iter) && !fatal_signal_pending(current));
	return done ?: ret;
}

#endif /* UMAD_RECORDS_H */
