// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which resolutions are remembered, and for how long. */
#include "dmac_cache.h"

#include <kunit/test.h>
#include <linux/string.h>

#define NOW	(1000 * NSEC_PER_SEC)

static const struct umad_dmac dmac = { { 2, 0, 0, 0, 0, 1 }, 64 };

static int dmac_init(struct kunit *test)
{
	test->priv = umad_dmac_cache_create();
	return test->priv ? 0 : -ENOMEM;
}

static void dmac_exit(struct kunit *test)
{
	umad_dmac_cache_free(test->priv);
}

static struct umad_dmac_key key_of(u32 i)
{
	struct umad_dmac_key key = { .net = 3, .ifindex = 1, .gid_type = 2 };

	memcpy(key.dgid, &i, sizeof(i));
	return key;
}

static bool find(struct kunit *test, const struct umad_dmac_key *key,
		 unsigned int changes, ktime_t now)
{
	struct umad_dmac found = {};
	bool ret = umad_dmac_find(test->priv, key, changes, now, &found);

	if (ret)
		KUNIT_EXPECT_EQ(test, 0, memcmp(&found, &dmac, sizeof(dmac)));
	return ret;
}

static void dmac_of_an_empty_cache(struct kunit *test)
{
	const struct umad_dmac_key zero = {};

	KUNIT_EXPECT_FALSE(test, find(test, &zero, 0, 0));
	KUNIT_EXPECT_FALSE(test, find(test, &zero, 0, NOW));
}

static void dmac_for_a_second(struct kunit *test)
{
	const struct umad_dmac_key key = key_of(1);

	umad_dmac_store(test->priv, &key, 7, NOW, &dmac);
	KUNIT_EXPECT_TRUE(test, find(test, &key, 7, NOW));
	KUNIT_EXPECT_TRUE(test, find(test, &key, 7, ktime_add_ms(NOW, 999)));
	KUNIT_EXPECT_FALSE(test, find(test, &key, 7, ktime_add_ms(NOW, 1000)));
	umad_dmac_store(test->priv, &key, 7, ktime_add_ms(NOW, 1000), &dmac);
	KUNIT_EXPECT_TRUE(test, find(test, &key, 7, ktime_add_ms(NOW, 1001)));
}

static void dmac_until_a_change(struct kunit *test)
{
	const struct umad_dmac_key key = key_of(1);

	umad_dmac_store(test->priv, &key, UINT_MAX, NOW, &dmac);
	KUNIT_EXPECT_TRUE(test, find(test, &key, UINT_MAX, NOW));
	KUNIT_EXPECT_FALSE(test, find(test, &key, 0, NOW));
	/* It was begun before the change. */
	umad_dmac_store(test->priv, &key, UINT_MAX, NOW, &dmac);
	KUNIT_EXPECT_FALSE(test, find(test, &key, 0, NOW));
	umad_dmac_store(test->priv, &key, 0, NOW, &dmac);
	KUNIT_EXPECT_TRUE(test, find(test, &key, 0, NOW));
}

/* Each part of the key tells resolutions apart. */
static void dmac_of_another_key(struct kunit *test)
{
	struct umad_dmac_key key = key_of(1), other;
	size_t i;

	umad_dmac_store(test->priv, &key, 0, NOW, &dmac);
	for (i = 0; i < sizeof(key); i++) {
		other = key;
		((u8 *)&other)[i] ^= 1;
		KUNIT_EXPECT_FALSE(test, find(test, &other, 0, NOW));
	}
	KUNIT_EXPECT_TRUE(test, find(test, &key, 0, NOW));
}

/* Many take each other's places: the last is known, and no wrong one is found. */
static void dmac_of_many(struct kunit *test)
{
	struct umad_dmac other = dmac;
	struct umad_dmac_key key;
	unsigned int known = 0;
	struct umad_dmac found;
	u32 i;

	for (i = 0; i < 10 * UMAD_DMACS; i++) {
		key = key_of(i);
		memcpy(other.mac, &i, sizeof(i));
		umad_dmac_store(test->priv, &key, 0, NOW, &other);
		KUNIT_EXPECT_TRUE(test, umad_dmac_find(test->priv, &key, 0, NOW, &found));
	}
	for (i = 0; i < 10 * UMAD_DMACS; i++) {
		key = key_of(i);
		if (!umad_dmac_find(test->priv, &key, 0, NOW, &found))
			continue;
		known++;
		KUNIT_EXPECT_EQ(test, 0, memcmp(found.mac, &i, sizeof(i)));
	}
	KUNIT_EXPECT_LE(test, known, UMAD_DMACS);
	KUNIT_EXPECT_GE(test, known, UMAD_DMACS * 3 / 4);
}

static struct kunit_case dmac_cases[] = {
	KUNIT_CASE(dmac_of_an_empty_cache),
	KUNIT_CASE(dmac_for_a_second),
	KUNIT_CASE(dmac_until_a_change),
	KUNIT_CASE(dmac_of_another_key),
	KUNIT_CASE(dmac_of_many),
	{}
};

static struct kunit_suite dmac_suite = {
	.name = "umad_dmac",
	.init = dmac_init,
	.exit = dmac_exit,
	.test_cases = dmac_cases,
};

kunit_test_suite(dmac_suite);
