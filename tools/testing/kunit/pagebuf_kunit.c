// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The blocks of a message: what was written is read, what was not is zero. */
#include "pagebuf.h"

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/string.h>

#define BLOCK	UMAD_PAGEBUF_BLOCK
#define LEN	(5 * BLOCK)

/**
 * struct pagebuf_env - a buffer under test
 * @buf: under test
 * @data: to be written
 * @got: what was read
 */
struct pagebuf_env {
	struct umad_pagebuf *buf;
	u8 data[LEN];
	u8 got[LEN];
};

static int pagebuf_env_init(struct kunit *test)
{
	struct pagebuf_env *env;
	size_t i;

	env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	if (!env)
		return -ENOMEM;
	test->priv = env;
	env->buf = umad_pagebuf_alloc(GFP_KERNEL);
	if (!env->buf)
		return -ENOMEM;
	for (i = 0; i < LEN; i++)
		env->data[i] = i * 2654435761u >> 24;
	memset(env->got, 0xff, LEN);
	return 0;
}

static void pagebuf_env_exit(struct kunit *test)
{
	struct pagebuf_env *env = test->priv;

	if (env)
		umad_pagebuf_free(env->buf);
}

/* Segments of 200 bytes, the last one first. */
static void pagebuf_any_order(struct kunit *test)
{
	struct pagebuf_env *env = test->priv;
	size_t at = LEN - LEN % 200, len = LEN % 200;

	for (; at + len; at -= 200, len = 200) {
		KUNIT_ASSERT_EQ(test, umad_pagebuf_write(env->buf, at,
							 env->data + at, len), 0);
		if (!at)
			break;
	}
	KUNIT_EXPECT_EQ(test, env->buf->bytes, (size_t)LEN);
	umad_pagebuf_read(env->buf, 0, env->got, LEN);
	KUNIT_EXPECT_EQ(test, memcmp(env->got, env->data, LEN), 0);
	umad_pagebuf_read(env->buf, 4000, env->got, 333);
	KUNIT_EXPECT_EQ(test, memcmp(env->got, env->data + 4000, 333), 0);
}

/* A sender need not fill its segments: whole blocks may never be written. */
static void pagebuf_holes_are_zero(struct kunit *test)
{
	struct pagebuf_env *env = test->priv;

	KUNIT_ASSERT_EQ(test, umad_pagebuf_write(env->buf, 2 * BLOCK + 10,
						 env->data, 10), 0);
	KUNIT_EXPECT_EQ(test, env->buf->bytes, BLOCK);
	umad_pagebuf_read(env->buf, 0, env->got, LEN);
	KUNIT_EXPECT_EQ(test, memcmp(env->got + 2 * BLOCK + 10, env->data,
				     10), 0);
	memset(env->got + 2 * BLOCK + 10, 0, 10);
	KUNIT_EXPECT_NULL(test, memchr_inv(env->got, 0, LEN));
}

static void pagebuf_empty_is_zero(struct kunit *test)
{
	struct pagebuf_env *env = test->priv;

	umad_pagebuf_read(env->buf, 0, env->got, LEN);
	KUNIT_EXPECT_NULL(test, memchr_inv(env->got, 0, LEN));
	KUNIT_EXPECT_EQ(test, env->buf->bytes, (size_t)0);
}

static bool is_equal(struct kunit *test, struct umad_pagebuf *other)
{
	struct pagebuf_env *env = test->priv;

	return umad_pagebuf_is_equal(env->buf, other, LEN - 10);
}

/* Any byte counts, and a block that only one of them has; the hash is of the first. */
static void pagebuf_equal(struct kunit *test)
{
	struct pagebuf_env *env = test->priv;
	struct umad_pagebuf *other = umad_pagebuf_alloc(GFP_KERNEL);
	u32 hash;

	KUNIT_ASSERT_NOT_NULL(test, other);
	umad_pagebuf_write(env->buf, 0, env->data, LEN - 10);
	umad_pagebuf_write(other, 0, env->data, LEN - BLOCK);
	KUNIT_EXPECT_FALSE(test, is_equal(test, other));
	umad_pagebuf_write(other, LEN - BLOCK, env->data + LEN - BLOCK, BLOCK - 10);
	KUNIT_EXPECT_TRUE(test, is_equal(test, other));
	hash = umad_pagebuf_hash(other);
	KUNIT_EXPECT_EQ(test, hash, umad_pagebuf_hash(env->buf));

	env->data[LEN - 11] ^= 1;
	umad_pagebuf_write(other, LEN - 11, env->data + LEN - 11, 1);
	KUNIT_EXPECT_FALSE(test, is_equal(test, other));
	KUNIT_EXPECT_EQ(test, hash, umad_pagebuf_hash(other));
	env->data[0] ^= 1;
	umad_pagebuf_write(other, 0, env->data, 1);
	KUNIT_EXPECT_NE(test, hash, umad_pagebuf_hash(other));
	umad_pagebuf_free(other);
}

static struct kunit_case pagebuf_cases[] = {
	KUNIT_CASE(pagebuf_any_order),
	KUNIT_CASE(pagebuf_holes_are_zero),
	KUNIT_CASE(pagebuf_empty_is_zero),
	KUNIT_CASE(pagebuf_equal),
	{}
};

static struct kunit_suite pagebuf_suite = {
	.name = "umad_pagebuf",
	.init = pagebuf_env_init,
	.exit = pagebuf_env_exit,
	.test_cases = pagebuf_cases,
};

kunit_test_suite(pagebuf_suite);
