// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What is sent again: its pace on a port, and the turn of a file. */
#include "retry.h"

#include <kunit/test.h>
#include <linux/ctype.h>
#include <linux/delay.h>
#include "addr.h"

#define US(n)	((n) * NSEC_PER_USEC)

struct retry_env {
	struct umad_pace pace;
	struct umad_turn cgroup, program;
	struct umad_retry_queue queue;
	struct umad_retry one;
	atomic_t runs;
};

static const struct umad_addr somewhere = { .lid = cpu_to_be16(1) };

static void count_run(struct work_struct *work)
{
	struct umad_retry_queue *queue = container_of(work, struct umad_retry_queue, work);

	atomic_inc(&container_of(queue, struct retry_env, queue)->runs);
}

static void run_nothing(struct work_struct *work)
{
}

static int retry_env_init(struct kunit *test)
{
	struct retry_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);

	if (!env)
		return -ENOMEM;
	test->priv = env;
	umad_retry_init(&env->one, &somewhere);
	umad_pace_init(&env->pace);
	umad_turn_init(&env->cgroup, &env->pace.root);
	umad_turn_init(&env->program, &env->cgroup);
	umad_retry_queue_init(&env->queue, &env->pace, &env->program, count_run);
	return 0;
}

static void retry_env_exit(struct kunit *test)
{
	struct retry_env *env = test->priv;

	if (!env)
		return;
	umad_retry_queue_remove(&env->queue, &env->one);
	umad_retry_queue_destroy(&env->queue);
	umad_pace_destroy(&env->pace);
}

static bool ran(struct retry_env *env, int runs)
{
	int ms;

	for (ms = 0; ms < 1000 && atomic_read(&env->runs) < runs; ms += 20)
		msleep(20);
	return atomic_read(&env->runs) == runs;
}

/* ns from the first of two turns to the next. */
static s64 between_turns(struct kunit *test)
{
	struct retry_env *env = test->priv;
	ktime_t now = ktime_get();

	if (!umad_retry_is_queued(&env->one))
		umad_retry_queue_add(&env->queue, &env->one);
	env->queue.has_turn = false;
	umad_retry_queue_arm(&env->queue, now);
	KUNIT_EXPECT_TRUE(test, list_empty(&env->queue.turn.node));
	return ktime_to_ns(ktime_sub(env->pace.next, now));
}

static void pace_leaves_seven_eighths(struct kunit *test)
{
	struct retry_env *env = test->priv;

	/* As slow as can be before one is known to have left. */
	KUNIT_EXPECT_EQ(test, US(1000), between_turns(test));
	msleep(20);
	umad_pace_took(&env->pace, US(40));
	KUNIT_EXPECT_EQ(test, US(320), between_turns(test));
}

static void pace_has_bounds(struct kunit *test)
{
	struct retry_env *env = test->priv;

	umad_pace_took(&env->pace, US(60000000));
	KUNIT_EXPECT_EQ(test, US(1000), between_turns(test));
	msleep(20);
	umad_pace_took(&env->pace, 0);
	KUNIT_EXPECT_EQ(test, US(100), between_turns(test));
}

/* Of one that becomes the wait entry nobody hears when it has left. */
static void pace_after_an_unknown(struct kunit *test)
{
	struct retry_env *env = test->priv;
	ktime_t now = ktime_get();

	umad_pace_took(&env->pace, US(20));
	umad_pace_unknown(&env->pace, now);
	KUNIT_EXPECT_EQ(test, US(1000),
			ktime_to_ns(ktime_sub(env->pace.next, now)));
}

/* A file has one turn at a time, and none if nothing waits. */
static void retry_turn_of_a_file(struct kunit *test)
{
	struct retry_env *env = test->priv;

	umad_retry_queue_arm(&env->queue, ktime_get());
	msleep(50);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&env->runs));

	umad_retry_queue_add(&env->queue, &env->one);
	umad_retry_queue_arm(&env->queue, ktime_get());
	umad_retry_queue_arm(&env->queue, ktime_get());
	KUNIT_EXPECT_TRUE(test, ran(env, 1));
	msleep(50);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&env->runs));

	env->queue.has_turn = false;
	umad_retry_queue_arm(&env->queue, ktime_get());
	KUNIT_EXPECT_TRUE(test, ran(env, 2));
}

/* The turn has not come: the work runs later, by itself. */
static void retry_waits_for_its_turn(struct kunit *test)
{
	struct retry_env *env = test->priv;
	ktime_t turn = ktime_add_ms(ktime_get(), 50);

	env->pace.next = turn;
	umad_retry_queue_add(&env->queue, &env->one);
	umad_retry_queue_arm(&env->queue, ktime_get());
	KUNIT_EXPECT_FALSE(test, list_empty(&env->queue.turn.node));
	KUNIT_EXPECT_TRUE(test, ran(env, 1));
	KUNIT_EXPECT_GE(test, ktime_get(), turn);
}

/* Files that go take no turn with them. */
static void retry_gone_files_take_no_turns(struct kunit *test)
{
	struct retry_env *env = test->priv;
	struct umad_retry something;
	struct umad_retry_queue *gone;
	int i;

	gone = kunit_kzalloc(test, sizeof(*gone), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, gone);
	umad_retry_init(&something, &somewhere);
	for (i = 0; i < 1000; i++) {
		umad_retry_queue_init(gone, &env->pace, &env->program,
				      run_nothing);
		umad_retry_queue_add(gone, &something);
		umad_retry_queue_arm(gone, ktime_get());
		umad_retry_queue_remove(gone, &something);
		umad_retry_queue_destroy(gone);
	}
	KUNIT_EXPECT_LE(test, env->pace.next, ktime_add_ms(ktime_get(), 1));
	KUNIT_EXPECT_TRUE(test, list_empty(&env->pace.root.below));
}

#define FILES	10

/**
 * struct many - files of one program, each with something to send again
 * @cgroup: has no other
 * @program: theirs
 * @files: those that wait, the first @n
 * @waits: what is to be sent again
 * @n: how many have come so far
 */
struct many {
	struct umad_turn cgroup, program;
	struct umad_retry_queue files[FILES];
	struct umad_retry waits[FILES];
	int n;
};

/* One file more waits for a turn. */
static void one_more(struct kunit *test, struct many *many, ktime_t now)
{
	struct retry_env *env = test->priv;
	int i = many->n++;

	umad_retry_queue_init(&many->files[i], &env->pace, &many->program, run_nothing);
	umad_retry_init(&many->waits[i], &somewhere);
	umad_retry_queue_add(&many->files[i], &many->waits[i]);
	umad_retry_queue_arm(&many->files[i], now);
}

/* Below @parent, or below a cgroup of its own; the other one has one file. */
static void expect_turns_shared(struct kunit *test, struct umad_turn *parent)
{
	struct retry_env *env = test->priv;
	ktime_t turn = ktime_add_ms(ktime_get(), 3600 * MSEC_PER_SEC);
	struct many *many = kunit_kzalloc(test, sizeof(*many), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, many);
	umad_turn_init(&many->cgroup, &env->pace.root);
	umad_turn_init(&many->program, parent ?: &many->cgroup);
	env->pace.next = turn;
	for (i = 0; i < FILES - 2; i++)
		one_more(test, many, 0);
	umad_retry_queue_add(&env->queue, &env->one);
	umad_retry_queue_arm(&env->queue, 0);
	/* Two turns: with each comes one file more. */
	one_more(test, many, turn);
	KUNIT_EXPECT_TRUE(test, list_empty(&many->files[0].turn.node));
	KUNIT_EXPECT_FALSE(test, list_empty(&env->queue.turn.node));
	one_more(test, many, ktime_add_ms(turn, 1));
	KUNIT_EXPECT_TRUE(test, list_empty(&env->queue.turn.node));
	KUNIT_EXPECT_TRUE(test, list_empty(&env->program.node));
	for (i = 1; i < FILES; i++)
		KUNIT_EXPECT_FALSE(test, list_empty(&many->files[i].turn.node));

	for (i = 0; i < FILES; i++) {
		umad_retry_queue_remove(&many->files[i], &many->waits[i]);
		umad_retry_queue_destroy(&many->files[i]);
	}
	KUNIT_EXPECT_TRUE(test, list_empty(&many->program.below));
	KUNIT_EXPECT_TRUE(test, list_empty(&env->pace.root.below));
}

/* Whoever has many files delays the others' by one turn at a time. */
static void retry_programs_take_turns(struct kunit *test)
{
	struct retry_env *env = test->priv;

	expect_turns_shared(test, &env->cgroup);
}

static void retry_cgroups_take_turns(struct kunit *test)
{
	expect_turns_shared(test, NULL);
}

/* The n-th entry is for the n-th letter's destination; they are taken as in @want. */
static void expect_turns(struct kunit *test, struct umad_retry *entries,
			 const char *want)
{
	struct retry_env *env = test->priv;
	struct umad_retry *entry;
	int i;

	for (i = 0; want[i]; i++) {
		entry = umad_retry_queue_next(&env->queue);
		KUNIT_ASSERT_NOT_NULL(test, entry);
		KUNIT_EXPECT_FALSE(test, umad_retry_is_queued(entry));
		KUNIT_EXPECT_EQ(test, want[i] - 'a', (int)(entry - entries));
	}
	KUNIT_EXPECT_NULL(test, umad_retry_queue_next(&env->queue));
	KUNIT_EXPECT_TRUE(test, RB_EMPTY_ROOT(&env->queue.all.dests));
	KUNIT_EXPECT_TRUE(test, RB_EMPTY_ROOT(&env->queue.apart.dests));
}

#define ENTRIES		8

static void join_all(struct kunit *test, struct umad_retry *entries,
		     const char *dests)
{
	static const struct umad_addr to[] = {
		{ .lid = cpu_to_be16(1) }, { .lid = cpu_to_be16(2) },
		{ .grh = true, .gid = { 3 } },
	};
	struct retry_env *env = test->priv;
	int i;

	for (i = 0; dests[i]; i++) {
		umad_retry_init(&entries[i], &to[toupper(dests[i]) - 'A']);
		entries[i].apart = !!islower(dests[i]);
		umad_retry_queue_add(&env->queue, &entries[i]);
		KUNIT_EXPECT_TRUE(test, umad_retry_is_queued(&entries[i]));
	}
}

/* Who has much to be sent to delays the others by one at a time. */
static void retry_destinations_take_turns(struct kunit *test)
{
	struct umad_retry entries[ENTRIES];

	join_all(test, entries, "AAAABBCA");
	expect_turns(test, entries, "aegbfcdh");
}

/* Small letters stand for what is apart. */
static void retry_apart_has_each_second(struct kunit *test)
{
	struct umad_retry entries[ENTRIES];

	join_all(test, entries, "AAAaaBAb");
	expect_turns(test, entries, "dahfebcg");
}

/* Whoever leaves is replaced by the next to the same destination. */
static void retry_leaving_changes_no_order(struct kunit *test)
{
	struct retry_env *env = test->priv;
	struct umad_retry entries[ENTRIES];

	join_all(test, entries, "AAABBC");
	umad_retry_queue_remove(&env->queue, &entries[0]);	/* the first */
	umad_retry_queue_remove(&env->queue, &entries[2]);	/* the last */
	umad_retry_queue_remove(&env->queue, &entries[5]);	/* the only one */
	umad_retry_queue_remove(&env->queue, &entries[5]);
	KUNIT_EXPECT_FALSE(test, umad_retry_is_queued(&entries[0]));
	umad_retry_queue_add(&env->queue, &entries[0]);
	expect_turns(test, entries, "bdae");
}

static void retry_apart_leaves_its_line(struct kunit *test)
{
	struct retry_env *env = test->priv;
	struct umad_retry entries[ENTRIES];

	join_all(test, entries, "AAaabA");
	umad_retry_queue_remove(&env->queue, &entries[2]);	/* the first */
	umad_retry_queue_add(&env->queue, &entries[2]);
	umad_retry_queue_remove(&env->queue, &entries[4]);	/* the only one */
	umad_retry_queue_add(&env->queue, &entries[4]);
	expect_turns(test, entries, "daebcf");
}

static struct kunit_case again_cases[] = {
	KUNIT_CASE(pace_leaves_seven_eighths),
	KUNIT_CASE(pace_has_bounds),
	KUNIT_CASE(pace_after_an_unknown),
	KUNIT_CASE(retry_turn_of_a_file),
	KUNIT_CASE(retry_waits_for_its_turn),
	KUNIT_CASE(retry_gone_files_take_no_turns),
	KUNIT_CASE(retry_programs_take_turns),
	KUNIT_CASE(retry_cgroups_take_turns),
	KUNIT_CASE(retry_destinations_take_turns),
	KUNIT_CASE(retry_apart_has_each_second),
	KUNIT_CASE(retry_leaving_changes_no_order),
	KUNIT_CASE(retry_apart_leaves_its_line),
	{}
};

static struct kunit_suite retry_suite = {
	.name = "umad_retry_queue",
	.init = retry_env_init,
	.exit = retry_env_exit,
	.test_cases = again_cases,
};

kunit_test_suite(retry_suite);
