// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The receive queue: its budget to the byte, its order, who is woken. */
#include "rxq.h"

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "kunit_thread.h"

#define RECORDS		8
#define BUDGET		1000

/**
 * struct record - a record that counts how often it is released
 * @msg: as the queue sees it
 * @released: so often; a record is never freed before the test ends
 */
struct record {
	struct umad_rx_entry msg;
	unsigned int released;
};

/**
 * struct rxq_env - a queue under test
 * @q: under test
 * @records: for it, not queued
 * @sleeper: waits on @q for a record, as a reader does
 * @ready: what @sleeper found when it was woken
 */
struct rxq_env {
	struct umad_rxq q;
	struct record records[RECORDS];
	struct thread sleeper;
	bool ready;
};

static void release_record(struct umad_rxq *q, struct umad_rx_entry *msg, bool here)
{
	container_of(msg, struct record, msg)->released++;
}

static const struct umad_rx_ops record_ops = { .release = release_record };

static int rxq_env_init(struct kunit *test)
{
	struct rxq_env *env;
	int i;

	env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	if (!env)
		return -ENOMEM;
	test->priv = env;
	umad_rxq_init(&env->q, BUDGET);
	for (i = 0; i < RECORDS; i++)
		env->records[i].msg.ops = &record_ops;
	return 0;
}

static void rxq_env_exit(struct kunit *test)
{
	struct rxq_env *env = test->priv;

	if (!env)
		return;
	umad_rxq_shutdown(&env->q);
	thread_stop(&env->sleeper);
}

/* Charge and queue record @i. */
static bool push(struct rxq_env *env, unsigned int i, size_t bytes)
{
	struct umad_rx_entry *msg = &env->records[i].msg;
	bool queued = umad_rxq_charge(&env->q, msg, bytes) && umad_rxq_push(&env->q, msg);

	umad_rxq_wake(&env->q);
	return queued;
}

static unsigned int released(struct rxq_env *env)
{
	unsigned int n = 0, i;

	for (i = 0; i < RECORDS; i++)
		n += env->records[i].released;
	return n;
}

/**
 * struct charge_case - two charges to a budget
 * @name: of the case
 * @budget: of the queue
 * @first: bytes
 * @second: bytes
 * @first_fits: what comes of the first
 * @second_fits: what comes of the second
 */
struct charge_case {
	const char *name;
	size_t budget;
	size_t first;
	size_t second;
	bool first_fits;
	bool second_fits;
};

static const struct charge_case charge_cases[] = {
	{ "all of it", 1000, 1000, 0, true, true },
	{ "all of it and one more", 1000, 1000, 1, true, false },
	{ "one too many", 1000, 1001, 1000, false, true },
	{ "two that fit", 1000, 400, 600, true, true },
	{ "two that miss by one", 1000, 400, 601, true, false },
	{ "no budget", 0, 0, 1, true, false },
	{ "a sum that wraps", 1000, 1000, SIZE_MAX, true, false },
	{ "a sum that wraps to zero", 1000, 1, SIZE_MAX, true, false },
	{ "the largest", U32_MAX, U32_MAX, 1, true, false },
	{ "the largest in two", U32_MAX, 1, U32_MAX - 1, true, true },
	{ "larger than a message can be", SIZE_MAX, 1ULL << 40, 1, false, true },
};

static void charge_desc(const struct charge_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(charge, charge_cases, charge_desc);

static void rxq_charge(struct kunit *test)
{
	const struct charge_case *c = test->param_value;
	struct rxq_env *env = test->priv;
	struct umad_rx_entry *first = &env->records[0].msg;
	struct umad_rx_entry *second = &env->records[1].msg;
	size_t sum = (c->first_fits ? c->first : 0) +
		     (c->second_fits ? c->second : 0);

	umad_rxq_init(&env->q, c->budget);
	KUNIT_EXPECT_EQ(test, umad_rxq_charge(&env->q, first, c->first),
			c->first_fits);
	KUNIT_EXPECT_EQ(test, umad_rxq_charge(&env->q, second, c->second),
			c->second_fits);
	KUNIT_EXPECT_EQ(test, env->q.charged, sum);
	/* One that was refused has nothing to give back. */
	umad_rxq_free(&env->q, second);
	KUNIT_EXPECT_EQ(test, env->q.charged, c->first_fits ? c->first : 0);
	umad_rxq_free(&env->q, first);
	KUNIT_EXPECT_EQ(test, env->q.charged, 0);
	KUNIT_EXPECT_EQ(test, env->records[0].released, 1);
	KUNIT_EXPECT_EQ(test, env->records[1].released, 1);
}

/* A record that a reader copies out takes memory as one in the queue does. */
static void rxq_charged_until_free(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	struct umad_rx_entry *msg;

	KUNIT_ASSERT_TRUE(test, push(env, 0, BUDGET));
	msg = umad_rxq_pop(&env->q);
	KUNIT_ASSERT_PTR_EQ(test, msg, &env->records[0].msg);
	KUNIT_EXPECT_EQ(test, env->q.charged, BUDGET);
	KUNIT_EXPECT_FALSE(test, push(env, 1, 1));

	KUNIT_EXPECT_FALSE(test, umad_rxq_put_back(&env->q, msg));
	KUNIT_EXPECT_EQ(test, env->q.charged, BUDGET);
	KUNIT_EXPECT_FALSE(test, push(env, 1, 1));

	KUNIT_ASSERT_PTR_EQ(test, umad_rxq_pop(&env->q), msg);
	umad_rxq_free(&env->q, msg);
	KUNIT_EXPECT_EQ(test, env->q.charged, 0);
	KUNIT_EXPECT_TRUE(test, push(env, 1, BUDGET));
}

/* The caller's own timeouts come even when nothing else does. */
static void rxq_uncharged_always_fits(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	int i;

	KUNIT_ASSERT_TRUE(test, push(env, 0, BUDGET));
	for (i = 1; i < RECORDS; i++)
		KUNIT_EXPECT_TRUE(test, umad_rxq_push(&env->q,
						      &env->records[i].msg));
	KUNIT_EXPECT_EQ(test, env->q.charged, BUDGET);
	KUNIT_EXPECT_EQ(test, env->q.queued, RECORDS);
	for (i = 0; i < RECORDS; i++) {
		KUNIT_ASSERT_PTR_EQ(test, umad_rxq_pop(&env->q),
				    &env->records[i].msg);
		umad_rxq_free(&env->q, &env->records[i].msg);
		KUNIT_EXPECT_EQ(test, env->q.charged, 0);
	}
}

/* What was acknowledged to its sender is kept, and weighs all the same. */
static void rxq_charge_always(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	struct umad_rx_entry *msg = &env->records[1].msg;

	KUNIT_EXPECT_TRUE(test, umad_rxq_has_room(&env->q));
	KUNIT_ASSERT_TRUE(test, push(env, 0, BUDGET - 1));
	KUNIT_EXPECT_TRUE(test, umad_rxq_has_room(&env->q));
	umad_rxq_charge_always(&env->q, msg, 10);
	KUNIT_EXPECT_EQ(test, env->q.charged, BUDGET + 9);
	KUNIT_EXPECT_FALSE(test, umad_rxq_has_room(&env->q));
	KUNIT_EXPECT_FALSE(test, push(env, 2, 1));
	KUNIT_EXPECT_FALSE(test, push(env, 2, 0));

	umad_rxq_free(&env->q, msg);
	KUNIT_EXPECT_EQ(test, env->q.charged, BUDGET - 1);
	KUNIT_EXPECT_TRUE(test, umad_rxq_has_room(&env->q));
	KUNIT_EXPECT_TRUE(test, push(env, 2, 1));
	KUNIT_EXPECT_FALSE(test, umad_rxq_has_room(&env->q));
	umad_rxq_shutdown(&env->q);
	KUNIT_EXPECT_EQ(test, env->q.charged, 0);
	KUNIT_EXPECT_FALSE(test, umad_rxq_has_room(&env->q));
}

static void rxq_order(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	struct umad_rx_entry *msg;
	int i;

	KUNIT_EXPECT_NULL(test, umad_rxq_pop(&env->q));
	KUNIT_EXPECT_FALSE(test, umad_rxq_is_ready(&env->q));
	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_TRUE(test, push(env, i, 1));
	KUNIT_EXPECT_TRUE(test, umad_rxq_is_ready(&env->q));

	/* One that could not be handed out is the next again. */
	msg = umad_rxq_pop(&env->q);
	KUNIT_EXPECT_EQ(test, env->q.queued, 3);
	/* It was found empty in the beginning, but they have been woken since. */
	KUNIT_EXPECT_FALSE(test, umad_rxq_put_back(&env->q, msg));
	KUNIT_EXPECT_EQ(test, env->q.queued, 4);
	KUNIT_ASSERT_TRUE(test, push(env, 4, 1));
	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_TRUE(test, umad_rxq_is_ready(&env->q));
		KUNIT_EXPECT_PTR_EQ(test, umad_rxq_pop(&env->q),
				    &env->records[i].msg);
	}
	KUNIT_EXPECT_EQ(test, env->q.queued, 0);
	KUNIT_EXPECT_FALSE(test, umad_rxq_is_ready(&env->q));
	KUNIT_EXPECT_NULL(test, umad_rxq_pop(&env->q));
	KUNIT_EXPECT_EQ(test, released(env), 0);
}

static void sleep_on_queue(void *arg)
{
	struct rxq_env *env = arg;

	wait_event_interruptible(env->q.wait, umad_rxq_is_ready(&env->q) ||
				 kthread_should_stop());
	env->ready = umad_rxq_is_ready(&env->q);
}

static void sleep_as_exclusive_poller(void *arg)
{
	struct rxq_env *env = arg;

	wait_event_interruptible_exclusive(env->q.wait, umad_rxq_is_ready(&env->q) ||
					   kthread_should_stop());
}

static void sleep_as_reader(void *arg)
{
	struct rxq_env *env = arg;

	wait_event_interruptible(env->q.readers,
				 umad_rxq_is_ready(&env->q) || kthread_should_stop());
}

/* A thread that sleeps on the queue, and does so when this returns. */
static void start_sleeper(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	unsigned long end = jiffies + THREAD_SOON;

	KUNIT_ASSERT_EQ(test, 0, thread_start(&env->sleeper, sleep_on_queue,
					      env));
	/* No barrier: a stale answer only makes this look once more. */
	while (!waitqueue_active(&env->q.wait) && time_before(jiffies, end))
		usleep_range(1000, 2000);
	/* No barrier: nobody leaves the wait queue before he is woken. */
	KUNIT_ASSERT_TRUE(test, waitqueue_active(&env->q.wait));
	/* From the entry in the queue it is a few steps into sleep. */
	msleep(20);
	KUNIT_ASSERT_FALSE(test, thread_is_done(&env->sleeper, 1));
}

static void rxq_push_wakes(struct kunit *test)
{
	struct rxq_env *env = test->priv;

	start_sleeper(test);
	KUNIT_EXPECT_TRUE(test, push(env, 0, 1));
	KUNIT_EXPECT_TRUE(test, thread_is_done(&env->sleeper, THREAD_SOON));
	KUNIT_EXPECT_TRUE(test, env->ready);
}

/* Two sleep when so many are queued, all before anybody is woken: then both are. */
static void wakes_both(struct kunit *test, void (*sleep)(void *arg), unsigned int queued)
{
	struct rxq_env *env = test->priv;
	struct thread first = {}, second = {};
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, thread_start(&first, sleep, env));
	KUNIT_ASSERT_EQ(test, 0, thread_start(&second, sleep, env));
	msleep(50);
	for (i = 0; i < queued; i++)
		KUNIT_EXPECT_TRUE(test, umad_rxq_push(&env->q, &env->records[i].msg));
	KUNIT_EXPECT_FALSE(test, thread_is_done(&second, 2));
	umad_rxq_wake(&env->q);
	KUNIT_EXPECT_TRUE(test, thread_is_done(&first, THREAD_SOON));
	KUNIT_EXPECT_TRUE(test, thread_is_done(&second, THREAD_SOON));
	thread_stop(&first);
	thread_stop(&second);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&env->q.to_wake));
}

/* The first may be kept from running for long. */
static void rxq_wakes_all_readers(struct kunit *test)
{
	wakes_both(test, sleep_as_reader, 1);
}

/* As many of these as there are entries. */
static void rxq_wakes_exclusive_pollers(struct kunit *test)
{
	wakes_both(test, sleep_as_exclusive_poller, 2);
}

/* At once. */
static void rxq_put_back_wakes_readers(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	struct thread first = {}, second = {};
	struct umad_rx_entry *msg;

	KUNIT_ASSERT_TRUE(test, push(env, 0, 1));
	msg = umad_rxq_pop(&env->q);
	KUNIT_ASSERT_EQ(test, 0, thread_start(&first, sleep_as_reader, env));
	KUNIT_ASSERT_EQ(test, 0, thread_start(&second, sleep_as_reader, env));
	msleep(50);
	/* They have found it empty, as pollers may have. */
	KUNIT_EXPECT_TRUE(test, umad_rxq_put_back(&env->q, msg));
	KUNIT_EXPECT_TRUE(test, thread_is_done(&first, THREAD_SOON));
	KUNIT_EXPECT_TRUE(test, thread_is_done(&second, THREAD_SOON));
	thread_stop(&first);
	thread_stop(&second);
}

static void rxq_put_back_wakes(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	struct umad_rx_entry *msg;

	/* The queue is empty while a reader copies out its only record. */
	KUNIT_ASSERT_TRUE(test, push(env, 0, 1));
	msg = umad_rxq_pop(&env->q);
	start_sleeper(test);
	KUNIT_ASSERT_TRUE(test, umad_rxq_put_back(&env->q, msg));
	umad_rxq_wake_pollers(&env->q);
	KUNIT_EXPECT_TRUE(test, thread_is_done(&env->sleeper, THREAD_SOON));
	KUNIT_EXPECT_TRUE(test, env->ready);
	KUNIT_EXPECT_PTR_EQ(test, umad_rxq_pop(&env->q), msg);
}

/* Who is about to wake all does it for others, too. */
static void rxq_wake_is_owed_once(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	struct umad_rx_entry *msg;
	int i;

	KUNIT_ASSERT_TRUE(test, push(env, 0, 1));
	for (i = 0; i < 4; i++) {
		msg = umad_rxq_pop(&env->q);
		/* A read that finds nothing is as good as poll(). */
		if (i & 2)
			KUNIT_EXPECT_NULL(test, umad_rxq_pop(&env->q));
		else
			KUNIT_EXPECT_FALSE(test, umad_rxq_is_ready(&env->q));
		KUNIT_EXPECT_EQ(test, !(i & 1), umad_rxq_put_back(&env->q, msg));
		if (i & 1)
			umad_rxq_wake_pollers(&env->q);
	}
}

static void rxq_kill_wakes(struct kunit *test)
{
	struct rxq_env *env = test->priv;

	start_sleeper(test);
	umad_rxq_shutdown(&env->q);
	KUNIT_EXPECT_TRUE(test, thread_is_done(&env->sleeper, THREAD_SOON));
	KUNIT_EXPECT_TRUE(test, env->ready);
	KUNIT_EXPECT_NULL(test, umad_rxq_pop(&env->q));
}

/* Neither a charge nor a release wakes who waits for a record. */
static void rxq_no_needless_wake(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	struct umad_rx_entry *msg = &env->records[0].msg;

	start_sleeper(test);
	KUNIT_EXPECT_TRUE(test, umad_rxq_charge(&env->q, msg, 1));
	umad_rxq_free(&env->q, msg);
	KUNIT_EXPECT_FALSE(test, thread_is_done(&env->sleeper, THREAD_WHILE));
}

static void rxq_kill(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	struct umad_rx_entry *popped;
	int i;

	for (i = 0; i < 4; i++)
		KUNIT_ASSERT_TRUE(test, push(env, i, 10));
	popped = umad_rxq_pop(&env->q);
	KUNIT_ASSERT_PTR_EQ(test, popped, &env->records[0].msg);

	umad_rxq_shutdown(&env->q);
	KUNIT_EXPECT_TRUE(test, umad_rxq_is_ready(&env->q));
	KUNIT_EXPECT_EQ(test, env->q.queued, 0);
	KUNIT_EXPECT_EQ(test, released(env), 3);
	/* What a reader holds is the reader's, and still charged. */
	KUNIT_EXPECT_EQ(test, env->records[0].released, 0);
	KUNIT_EXPECT_EQ(test, env->q.charged, 10);

	/* It comes too late to be put back: it is released instead. */
	KUNIT_EXPECT_FALSE(test, umad_rxq_put_back(&env->q, popped));
	KUNIT_EXPECT_EQ(test, env->records[0].released, 1);
	KUNIT_EXPECT_EQ(test, env->q.charged, 0);
	KUNIT_EXPECT_EQ(test, env->q.queued, 0);
	KUNIT_EXPECT_NULL(test, umad_rxq_pop(&env->q));

	umad_rxq_shutdown(&env->q);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, env->records[i].released, 1);
}

static void rxq_push_after_kill(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	struct umad_rx_entry *msg = &env->records[0].msg;

	umad_rxq_shutdown(&env->q);
	KUNIT_EXPECT_TRUE(test, umad_rxq_charge(&env->q, msg, 10));
	KUNIT_EXPECT_FALSE(test, umad_rxq_push(&env->q, msg));
	/* It stays the caller's. */
	KUNIT_EXPECT_EQ(test, env->records[0].released, 0);
	KUNIT_EXPECT_EQ(test, env->q.queued, 0);
	KUNIT_EXPECT_NULL(test, umad_rxq_pop(&env->q));
	umad_rxq_free(&env->q, msg);
	KUNIT_EXPECT_EQ(test, env->records[0].released, 1);
	KUNIT_EXPECT_EQ(test, env->q.charged, 0);
}

static const struct umad_rx_ops unasked_ops = { .release = release_record, .unasked = true };

/* Of five, each of so many bytes, the first, second and fourth may go. */
#define SHED_SIZE	10

static void push_to_be_shed(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	int i;

	for (i = 0; i < 5; i++) {
		struct umad_rx_entry *msg = &env->records[i].msg;

		if (i != 2 && i != 4)
			msg->ops = &unasked_ops;
		KUNIT_ASSERT_TRUE(test, umad_rxq_charge(&env->q, msg, SHED_SIZE));
		KUNIT_ASSERT_TRUE(test, umad_rxq_push(&env->q, msg));
	}
}

/* The newest first, but not the oldest, and what may not go stays where it is. */
static void rxq_shed(struct kunit *test)
{
	static const int left[] = { 0, 2, 4 };
	struct rxq_env *env = test->priv;
	LIST_HEAD(gone);
	unsigned int n;
	int i;

	push_to_be_shed(test);
	KUNIT_EXPECT_EQ(test, umad_rxq_shed(&env->q, BUDGET, &gone, &n), 2 * SHED_SIZE);
	KUNIT_EXPECT_EQ(test, n, 2);
	KUNIT_EXPECT_EQ(test, env->q.charged, 3 * SHED_SIZE);
	KUNIT_EXPECT_EQ(test, env->q.queued, 3);
	KUNIT_EXPECT_PTR_EQ(test, gone.next, &env->records[1].msg.node);
	KUNIT_EXPECT_PTR_EQ(test, gone.prev, &env->records[3].msg.node);
	for (i = 0; i < ARRAY_SIZE(left); i++) {
		struct umad_rx_entry *msg = umad_rxq_pop(&env->q);

		KUNIT_ASSERT_PTR_EQ(test, msg, &env->records[left[i]].msg);
		umad_rxq_free(&env->q, msg);
	}
	/* Its caller releases what it has got. */
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, env->records[i].released, i != 1 && i != 3);
	KUNIT_EXPECT_EQ(test, env->q.charged, 0);
}

static void rxq_shed_no_more_than_asked(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	LIST_HEAD(gone);
	unsigned int n;

	push_to_be_shed(test);
	KUNIT_EXPECT_EQ(test, umad_rxq_shed(&env->q, 1, &gone, &n), SHED_SIZE);
	KUNIT_EXPECT_EQ(test, n, 1);
	KUNIT_EXPECT_PTR_EQ(test, gone.next, &env->records[3].msg.node);
	KUNIT_EXPECT_EQ(test, env->q.queued, 4);
	umad_rxq_shutdown(&env->q);
}

/* Whatever they are, they come out as they went in; and what was put back comes first. */
static void rxq_order_of_both_kinds(struct kunit *test)
{
	struct rxq_env *env = test->priv;
	struct umad_rx_entry *msg;
	int i;

	/* Their numbers wrap around. */
	env->q.seq = U32_MAX - 1;
	push_to_be_shed(test);
	for (i = 0; i < 5; i++) {
		msg = umad_rxq_pop(&env->q);
		KUNIT_ASSERT_PTR_EQ(test, msg, &env->records[i].msg);
		KUNIT_EXPECT_FALSE(test, umad_rxq_put_back(&env->q, msg));
		msg = umad_rxq_pop(&env->q);
		KUNIT_ASSERT_PTR_EQ(test, msg, &env->records[i].msg);
		umad_rxq_free(&env->q, msg);
	}
	KUNIT_EXPECT_NULL(test, umad_rxq_pop(&env->q));
}

static struct kunit_case rxq_cases[] = {
	KUNIT_CASE_PARAM(rxq_charge, charge_gen_params),
	KUNIT_CASE(rxq_charged_until_free),
	KUNIT_CASE(rxq_uncharged_always_fits),
	KUNIT_CASE(rxq_charge_always),
	KUNIT_CASE(rxq_order),
	KUNIT_CASE(rxq_push_wakes),
	KUNIT_CASE(rxq_wakes_all_readers),
	KUNIT_CASE(rxq_wakes_exclusive_pollers),
	KUNIT_CASE(rxq_put_back_wakes_readers),
	KUNIT_CASE(rxq_put_back_wakes),
	KUNIT_CASE(rxq_wake_is_owed_once),
	KUNIT_CASE(rxq_kill_wakes),
	KUNIT_CASE(rxq_no_needless_wake),
	KUNIT_CASE(rxq_kill),
	KUNIT_CASE(rxq_push_after_kill),
	KUNIT_CASE(rxq_order_of_both_kinds),
	KUNIT_CASE(rxq_shed),
	KUNIT_CASE(rxq_shed_no_more_than_asked),
	{}
};

static struct kunit_suite rxq_suite = {
	.name = "umad_rxq",
	.init = rxq_env_init,
	.exit = rxq_env_exit,
	.test_cases = rxq_cases,
};

kunit_test_suite(rxq_suite);
