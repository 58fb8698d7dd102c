// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The medium: order and times of deliveries, and that no packet is leaked. */
#include "sim_medium.h"

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/time64.h>
#include "sim_compat.h"
#include "sim_kunit.h"

#define ARRIVED_MAX	4096
#define SOON		(10 * HZ)
#define MS		NSEC_PER_MSEC

/**
 * struct medium_env - a medium and the packets that it has delivered
 * @medium: under test
 * @begin: when the test began
 * @arrived: number of packets that have arrived
 * @id: of each, the lower half of its TID
 * @at: of each, when it arrived, in ns since @begin
 * @inside: calls of deliver() in progress
 * @mistakes: calls of deliver() while another was in progress
 */
struct medium_env {
	struct sim_medium medium;
	u64 begin;
	u32 arrived;
	u32 id[ARRIVED_MAX];
	u64 at[ARRIVED_MAX];
	atomic_t inside;
	u32 mistakes;
};

static void deliver(void *ctx, struct sim_packet *packet)
{
	struct medium_env *env = ctx;
	u32 n = env->arrived;

	might_sleep();
	if (atomic_inc_return(&env->inside) != 1)
		env->mistakes++;
	if (n < ARRIVED_MAX) {
		env->id[n] = get_unaligned_be32(packet->mad + 12);
		env->at[n] = ktime_get_ns() - env->begin;
		/* Pairs with wait_for(). */
		smp_store_release(&env->arrived, n + 1);
	}
	sim_packet_free(packet);
	atomic_dec(&env->inside);
}

static int medium_env_init(struct kunit *test)
{
	struct medium_env *env;

	env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	if (!env || sim_medium_init(&env->medium, SIM_OUT, deliver, env))
		return -ENOMEM;
	env->begin = ktime_get_ns();
	test->priv = env;
	return 0;
}

static void medium_env_exit(struct kunit *test)
{
	struct medium_env *env = test->priv;
	u32 arrived;

	if (!env)
		return;
	sim_medium_exit(&env->medium);
	arrived = env->arrived;
	msleep(20);
	KUNIT_EXPECT_EQ(test, arrived, env->arrived);
	KUNIT_EXPECT_EQ(test, 0U, env->mistakes);
}

static void rule(struct kunit *test, const char *line)
{
	struct medium_env *env = test->priv;

	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(env->medium.rules, line));
}

static void chance(struct kunit *test, const char *line)
{
	struct medium_env *env = test->priv;

	KUNIT_ASSERT_EQ(test, 0, sim_random_set(&env->medium.random, line));
}

static void send(struct kunit *test, u32 id)
{
	struct medium_env *env = test->priv;
	struct sim_packet *packet = sim_kunit_packet(SIM_MAD_LEN);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, packet);
	put_unaligned_be32(id, packet->mad + 12);
	sim_medium_send(&env->medium, packet);
}

static void send_range(struct kunit *test, u32 from, u32 to)
{
	for (; from <= to; from++)
		send(test, from);
}

/* Wait until that many have arrived. */
static void wait_for(struct kunit *test, u32 arrived)
{
	struct medium_env *env = test->priv;
	unsigned long end = jiffies + SOON;

	/* Pairs with deliver(). */
	while (smp_load_acquire(&env->arrived) < arrived &&
	       time_before(jiffies, end))
		usleep_range(500, 1000);
}

/* Wait until that many were sent, and the medium is empty. */
static void wait_until_empty(struct kunit *test, u32 sent)
{
	struct medium_env *env = test->priv;
	unsigned long end = jiffies + SOON;

	while ((atomic64_read(&env->medium.counts[SIM_MEDIUM_SENT]) < sent ||
		atomic_read(&env->medium.inside)) && time_before(jiffies, end))
		usleep_range(500, 1000);
}

/* Exactly these have arrived, in this order; 0 ends the list. */
static void expect(struct kunit *test, const u32 *ids)
{
	struct medium_env *env = test->priv;
	u32 n = 0;

	while (ids[n])
		n++;
	wait_for(test, n);
	msleep(30);
	KUNIT_EXPECT_EQ(test, n, env->arrived);
	for (n = 0; ids[n]; n++)
		KUNIT_EXPECT_EQ_MSG(test, ids[n], env->id[n], "packet %u", n);
}

#define EXPECT(test, ...) expect(test, (const u32[]){ __VA_ARGS__, 0 })

static void medium_in_order(struct kunit *test)
{
	struct medium_env *env = test->priv;
	u32 i;

	send_range(test, 1, ARRIVED_MAX);
	wait_for(test, ARRIVED_MAX);
	KUNIT_ASSERT_EQ(test, (u32)ARRIVED_MAX, env->arrived);
	for (i = 0; i < ARRIVED_MAX; i++)
		KUNIT_ASSERT_EQ(test, i + 1, env->id[i]);
}

static void medium_drop(struct kunit *test)
{
	rule(test, "every=2 action=drop");
	send_range(test, 1, 6);
	EXPECT(test, 1, 3, 5);
}

static void medium_dup(struct kunit *test)
{
	rule(test, "nth=2 action=dup");
	rule(test, "nth=3 action=dup copies=3");
	send_range(test, 1, 4);
	EXPECT(test, 1, 2, 2, 3, 3, 3, 3, 4);
}

static void medium_late_dup(struct kunit *test)
{
	struct medium_env *env = test->priv;

	rule(test, "nth=1 action=dup ms=60");
	send_range(test, 1, 3);
	EXPECT(test, 1, 2, 3, 1);
	KUNIT_EXPECT_GE(test, env->at[3], 60ULL * MS);
}

/* One is late; the others do not wait for it. */
static void medium_delay(struct kunit *test)
{
	struct medium_env *env = test->priv;

	rule(test, "nth=1 action=delay ms=120");
	rule(test, "nth=3 action=delay ms=60");
	send_range(test, 1, 4);
	EXPECT(test, 2, 4, 3, 1);
	KUNIT_EXPECT_GE(test, env->at[2], 60ULL * MS);
	KUNIT_EXPECT_GE(test, env->at[3], 120ULL * MS);
	KUNIT_EXPECT_LT(test, env->at[0], env->at[2]);
}

static void medium_reorder(struct kunit *test)
{
	struct medium_env *env = test->priv;

	rule(test, "nth=1 action=reorder");
	rule(test, "nth=4 action=reorder behind=3");
	send_range(test, 1, 8);
	EXPECT(test, 2, 1, 3, 5, 6, 7, 4, 8);
	KUNIT_EXPECT_LT(test, env->at[7], 90ULL * MS);
}

/* Two in a row: a packet that is reordered does not overtake another one. */
static void medium_reorder_two(struct kunit *test)
{
	rule(test, "count=2 action=reorder");
	send_range(test, 1, 4);
	EXPECT(test, 3, 1, 2, 4);
}

static void medium_reorder_last(struct kunit *test)
{
	struct medium_env *env = test->priv;

	rule(test, "nth=2 action=reorder behind=2");
	send_range(test, 1, 3);
	EXPECT(test, 1, 3, 2);
	KUNIT_EXPECT_GE(test, env->at[2], 100ULL * MS);
	KUNIT_EXPECT_LT(test, env->at[2], 5000ULL * MS);
}

/* A packet that was sent before and arrives later does not count as overtaking. */
static void medium_reorder_and_delay(struct kunit *test)
{
	rule(test, "nth=1 action=delay ms=30");
	rule(test, "nth=2 action=reorder");
	send_range(test, 1, 2);
	EXPECT(test, 1, 2);
}

static void medium_mutate(struct kunit *test)
{
	rule(test, "tid=2/0xffffffff action=mutate field=tid value=77");
	send_range(test, 1, 3);
	EXPECT(test, 1, 77, 3);
}

/* Random delays keep the order. */
static void medium_random_delay(struct kunit *test)
{
	struct medium_env *env = test->priv;
	u32 i;

	chance(test, "delay=20ms jitter=20ms seed=1");
	/* A packet that a rule excepts from the delay does not overtake either. */
	rule(test, "nth=50 action=pass");
	send_range(test, 1, 200);
	wait_for(test, 200);
	KUNIT_ASSERT_EQ(test, 200U, env->arrived);
	for (i = 0; i < 200; i++)
		KUNIT_EXPECT_EQ(test, i + 1, env->id[i]);
	KUNIT_EXPECT_GE(test, env->at[0], 20ULL * MS);
}

/* Whatever random faults do, a packet that is not lost arrives. */
static void medium_random_all(struct kunit *test)
{
	struct medium_env *env = test->priv;
	struct sim_random *random = &env->medium.random;
	u32 want;

	chance(test, "drop=10% dup=10% reorder=10% behind=3 jitter=3ms seed=5");
	send_range(test, 1, 2000);
	wait_until_empty(test, 2000);
	want = 2000 - random->dropped + random->duplicated;
	KUNIT_EXPECT_EQ(test, want, env->arrived);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&env->medium.inside));
	KUNIT_EXPECT_GT(test, random->dropped, 100ULL);
	KUNIT_EXPECT_GT(test, random->reordered, 100ULL);
}

/* Packets in a medium that is stopped are freed; kmemleak checks that. */
static void medium_exit_waiting(struct kunit *test)
{
	rule(test, "nth=1 action=delay ms=60000");
	rule(test, "nth=2 action=dup copies=5 ms=60000");
	rule(test, "nth=3 action=reorder behind=5");
	chance(test, "delay=1s seed=1");
	send_range(test, 1, 20);
	msleep(20);
	send_range(test, 21, 40);
}

#define THREADS	3
#define EACH	1000

static int send_many(void *arg)
{
	struct kunit *test = arg;

	send_range(test, 1, EACH);
	while (!kthread_should_stop())
		usleep_range(500, 1000);
	return 0;
}

static void start_senders(struct kunit *test, struct task_struct **thread)
{
	int i;

	for (i = 0; i < THREADS; i++)
		thread[i] = kthread_run(send_many, test, "sim_kunit%d", i);
}

static void stop_senders(struct task_struct **thread)
{
	int i;

	for (i = 0; i < THREADS; i++)
		if (!IS_ERR(thread[i]))
			kthread_stop(thread[i]);
}

static void medium_senders(struct kunit *test)
{
	struct task_struct *thread[THREADS];
	struct medium_env *env = test->priv;

	start_senders(test, thread);
	wait_for(test, THREADS * EACH);
	stop_senders(thread);
	KUNIT_EXPECT_EQ(test, (u32)(THREADS * EACH), env->arrived);
}

/* Rules and random faults change while packets pass; the counters add up. */
static void medium_changes(struct kunit *test)
{
	struct task_struct *thread[THREADS];
	struct medium_env *env = test->priv;
	atomic64_t *counts = env->medium.counts;
	struct seq_file s;
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sim_kunit_show(test, &s));
	start_senders(test, thread);
	for (i = 0; i < 100; i++) {
		chance(test, "drop=5% dup=10% reorder=10% delay=100us jitter=1ms seed=2");
		rule(test, "every=3 action=delay ms=2");
		rule(test, "every=5 action=dup copies=4 ms=3");
		rule(test, "every=7 action=reorder behind=3");
		rule(test, "every=11 action=drop");
		usleep_range(500, 1000);
		s.count = 0;
		sim_rules_show(env->medium.rules, &s);
		sim_random_show(&env->medium.random, &s);
		sim_random_reseed(&env->medium.random, i);
		sim_rules_clear(env->medium.rules);
		chance(test, "off");
	}
	wait_until_empty(test, THREADS * EACH);
	stop_senders(thread);
	KUNIT_EXPECT_EQ(test, (s64)(THREADS * EACH),
			atomic64_read(&counts[SIM_MEDIUM_SENT]));
	KUNIT_EXPECT_GT(test, atomic64_read(&counts[SIM_MEDIUM_DROPPED]), (s64)0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&counts[SIM_MEDIUM_DELIVERED]),
			atomic64_read(&counts[SIM_MEDIUM_SENT]) -
			atomic64_read(&counts[SIM_MEDIUM_DROPPED]) +
			atomic64_read(&counts[SIM_MEDIUM_DUPLICATED]));
}

static struct kunit_case medium_cases[] = {
	KUNIT_CASE(medium_in_order),
	KUNIT_CASE(medium_drop),
	KUNIT_CASE(medium_dup),
	KUNIT_CASE(medium_late_dup),
	KUNIT_CASE(medium_delay),
	KUNIT_CASE(medium_reorder),
	KUNIT_CASE(medium_reorder_two),
	KUNIT_CASE(medium_reorder_last),
	KUNIT_CASE(medium_reorder_and_delay),
	KUNIT_CASE(medium_mutate),
	KUNIT_CASE(medium_random_delay),
	KUNIT_CASE(medium_random_all),
	KUNIT_CASE(medium_exit_waiting),
	KUNIT_CASE(medium_senders),
	KUNIT_CASE(medium_changes),
	{}
};

static struct kunit_suite medium_suite = {
	.name = "sim_medium",
	.init = medium_env_init,
	.exit = medium_env_exit,
	.test_cases = medium_cases,
};

kunit_test_suite(medium_suite);
