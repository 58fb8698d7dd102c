// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The blocks of a long message beside a flat copy of them: writes at any place,
 * from the kernel and from a program, with memory that ends and with pages of
 * the program that are not there.
 */
#include "fuzz.h"
#include "pagebuf.h"
#include "shim/memory.h"

#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/uio.h>

#define BLOCK		UMAD_PAGEBUF_BLOCK
#define BYTES_MAX	(12 * BLOCK)

static u8 flat[BYTES_MAX], bytes[BYTES_MAX];

/* Somewhere, often about the end of a block. */
static u32 take_offset(struct input *in)
{
	u32 word = take16(in);

	if (word & 0x8000)
		return (word & 7) * BLOCK + (word >> 3 & 0x1f);
	return word % (8 * BLOCK);
}

static void check_same(struct umad_pagebuf *buf, u32 offset, u32 len)
{
	memset(bytes, 0x5a, sizeof(bytes));
	umad_pagebuf_read(buf, offset, bytes, len);
	MUST(!memcmp(bytes, flat + offset, len));
	MUST(!len || len == BYTES_MAX || bytes[len] == 0x5a);
}

static void write_some(struct umad_pagebuf *buf, struct input *in)
{
	u32 offset = take_offset(in), len = take_offset(in) % (4 * BLOCK);
	u32 i, seed = take(in), was = buf->bytes;
	u8 *data = fuzz_alloc(len);
	int ret;

	for (i = 0; i < len; i++)
		data[i] = seed + i + (i >> 8);
	ret = umad_pagebuf_write(buf, offset, data, len);
	MUST(!ret || ret == -ENOMEM);
	MUST(!ret || fuzz_memory.fail_at != U32_MAX);
	MUST(buf->bytes >= was);
	if (!ret) {
		memcpy(flat + offset, data, len);
	} else {
		/* What there was room for, from the beginning on. */
		umad_pagebuf_read(buf, offset, bytes, len);
		for (i = 0; i < len && bytes[i] == data[i]; i++)
			flat[offset + i] = data[i];
		MUST(!memcmp(bytes, flat + offset, len));
	}
	fuzz_free(data);
}

#define LIFTED	SZ_16K

/* A program's memory, for one call. */
struct user {
	struct iovec vec;
	struct iov_iter iter;
};

static void user_init(struct user *user, void *data, size_t len)
{
	user->vec = (struct iovec){ (void __user __force *)data, len };
	user->iter = (struct iov_iter){ .iov = &user->vec, .count = len, .nr_segs = 1 };
}

static void write_user(struct umad_pagebuf *buf, struct input *in)
{
	u32 offset = take_offset(in), len = take_offset(in) % (4 * BLOCK);
	u32 i, seed = take(in);
	u8 *data = fuzz_alloc(len);
	struct user user;
	int ret;

	for (i = 0; i < len; i++)
		data[i] = seed ^ i;
	user_init(&user, data, len);
	ret = umad_pagebuf_write_iter(buf, offset, &user.iter, len);
	if (!ret) {
		MUST(!user.iter.count);
		memcpy(flat + offset, data, len);
	} else {
		MUST(ret == -ENOMEM ? fuzz_memory.fail_at != U32_MAX :
				      ret == -EFAULT);
		/* The caller gives the buffer up; until then it can be read. */
		umad_pagebuf_read(buf, 0, flat, sizeof(flat));
	}
	fuzz_free(data);
}

static void read_user(struct umad_pagebuf *buf, u32 len)
{
	u8 *data = fuzz_alloc(len);
	struct user user;
	int ret;

	memset(data, 0x5a, len);
	user_init(&user, data, len);
	ret = umad_pagebuf_read_iter(buf, &user.iter, len);
	MUST(!ret || ret == -EFAULT);
	MUST(ret || !memcmp(data, flat, len));
	fuzz_free(data);
}

/* As read.c does: how it begins is taken out first. */
static void move_user(struct umad_pagebuf *buf, u32 len)
{
	u32 lifted = min_t(u32, round_down(len, BLOCK), LIFTED);
	u8 *data = fuzz_alloc(len);
	struct user user;
	int ret;

	memset(data, 0x5a, len);
	umad_pagebuf_lift(buf, data, lifted);
	MUST(!memcmp(data, flat, lifted));
	user_init(&user, data + lifted, len - lifted);
	ret = umad_pagebuf_move_iter(buf, &user.iter, lifted, len);
	MUST(!ret || ret == -EFAULT);
	MUST(ret || !memcmp(data, flat, len));
	fuzz_free(data);
	/* What was copied is gone, and of what was not nothing. */
	len -= user.iter.count;
	memset(flat, 0, ret ? round_down(len, BLOCK) : round_up(len, BLOCK));
}

void fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct umad_pagebuf *buf;
	u8 shape = take(&in);
	u32 moved = shape & 8 ? take_offset(&in) : 0;

	fuzz_memory_reset();
	memset(flat, 0, sizeof(flat));
	if (shape & 1)
		fuzz_memory.fail_at = take(&in) % 32;
	fuzz_memory.fault_at = shape & 2 ? take(&in) % 32 : U32_MAX;
	buf = umad_pagebuf_alloc(GFP_KERNEL);
	MUST(buf || !fuzz_memory.fail_at);
	if (!buf)
		return;
	if (shape & 4)
		write_user(buf, &in);
	while (in.left) {
		switch (take(&in) % 4) {
		case 0 ... 1:
			write_some(buf, &in);
			break;
		case 2:
			read_user(buf, take_offset(&in));
			break;
		default:
			check_same(buf, take_offset(&in),
				   take_offset(&in) % (4 * BLOCK));
			break;
		}
		MUST(buf->bytes == fuzz_memory.pages * PAGE_SIZE);
	}
	check_same(buf, 0, BYTES_MAX);
	if (shape & 8) {
		move_user(buf, moved);
		MUST(buf->bytes == fuzz_memory.pages * PAGE_SIZE);
		check_same(buf, 0, BYTES_MAX);
	}
	umad_pagebuf_free(buf);
	umad_pagebuf_free(NULL);
}
