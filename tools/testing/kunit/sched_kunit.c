// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The schedule of a port's segments: how many at a time, whose, and when. */
#include "rmpp/sched.h"

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/minmax.h>
#include <linux/spinlock.h>
#include "rmpp/tx.h"

/* As in sched.c. */
#define GRANTED_MAX	32
#define GRANTED_AROUND	8
#define TURN_SEGS	16
#define PAUSE_MAX	(3 * NSEC_PER_MSEC)
#define SOON_MS		2000	/* for what has to happen */
#define WHILE_MS	50	/* for what must not */

struct sched_file {
	struct umad_sched_queue queue;
	struct umad_sched_entry message;	/* ready, if it is to be sent */
	spinlock_t lock;	/* as that of a file */
	unsigned int sent, turns;
};

struct sched_env {
	struct umad_sched sched;
	struct umad_turn process[3][UMAD_SCHED_CLASSES];
	struct sched_file long_file[3];	/* the first two are of process 0 */
	struct sched_file short_file;	/* of process 2 */
	struct sched_file own_short_file;	/* of process 0 */
};

/* It sends all that it may, and has more, as long as it has a message. */
static void send_all(struct work_struct *work)
{
	struct sched_file *file = container_of(work, struct sched_file, queue.work);

	spin_lock(&file->lock);
	if (list_empty(&file->queue.ready)) {
		umad_sched_queue_end_turn(&file->queue, file->queue.grant);
	} else {
		file->sent += file->queue.grant;
		file->turns++;
		umad_sched_queue_end_turn(&file->queue, 0);
	}
	spin_unlock(&file->lock);
}

static void file_init(struct sched_env *env, struct sched_file *file,
		      enum umad_sched_class class, struct umad_turn *process)
{
	spin_lock_init(&file->lock);
	umad_sched_entry_init(&file->message);
	umad_sched_queue_init(&file->queue, &env->sched, class, process, send_all);
}

static int sched_env_init(struct kunit *test)
{
	struct sched_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	unsigned int i, class;

	if (!env)
		return -ENOMEM;
	test->priv = env;
	umad_sched_init(&env->sched);
	for (i = 0; i < ARRAY_SIZE(env->process); i++)
		for (class = 0; class < UMAD_SCHED_CLASSES; class++)
			umad_turn_init(&env->process[i][class], &env->sched.root[class]);
	for (i = 0; i < ARRAY_SIZE(env->long_file); i++)
		file_init(env, &env->long_file[i], UMAD_SCHED_LONG, env->process[i / 2]);
	file_init(env, &env->short_file, UMAD_SCHED_SHORT, env->process[2]);
	file_init(env, &env->own_short_file, UMAD_SCHED_SHORT, env->process[0]);
	return 0;
}

static void want(struct sched_file *file)
{
	spin_lock(&file->lock);
	if (!umad_sched_entry_is_ready(&file->message))
		umad_sched_queue_add(&file->queue, &file->message, 1);
	umad_sched_queue_wait(&file->queue);
	spin_unlock(&file->lock);
}

static void want_no_more(struct sched_file *file)
{
	spin_lock(&file->lock);
	umad_sched_queue_del(&file->message);
	spin_unlock(&file->lock);
}

static void left(struct sched_env *env, unsigned int n)
{
	while (n--)
		umad_sched_put(&env->sched, true);
}

static void sched_env_exit(struct kunit *test)
{
	struct sched_env *env = test->priv;
	unsigned int i;

	if (!env)
		return;
	for (i = 0; i < ARRAY_SIZE(env->long_file); i++)
		want_no_more(&env->long_file[i]);
	want_no_more(&env->short_file);
	want_no_more(&env->own_short_file);
	for (i = 0; i < ARRAY_SIZE(env->long_file); i++)
		umad_sched_queue_destroy(&env->long_file[i].queue);
	umad_sched_queue_destroy(&env->short_file.queue);
	umad_sched_queue_destroy(&env->own_short_file.queue);
	left(env, env->sched.granted);
	umad_sched_destroy(&env->sched);
}

/* Single MADs, for as long as the test takes. */
static void singles_stay(struct sched_env *env)
{
	env->sched.single_at = ktime_get_ns() + 100 * NSEC_PER_SEC;
}

/* And short messages of others. */
static void shorts_stay(struct sched_env *env)
{
	env->sched.other_short_at = ktime_get_ns() + 100 * NSEC_PER_SEC;
}

static bool has_sent(struct sched_file *file, unsigned int segs)
{
	unsigned int ms;

	for (ms = 0; ms < SOON_MS && READ_ONCE(file->sent) < segs; ms += 20)
		msleep(20);
	msleep(WHILE_MS);
	return READ_ONCE(file->sent) == segs;
}

/* So many in ib_core, and a turn more when that much has left. */
static void sched_is_bounded(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct sched_file *file = &env->long_file[0];

	want(file);
	KUNIT_EXPECT_TRUE(test, has_sent(file, GRANTED_MAX));
	KUNIT_EXPECT_EQ(test, file->turns, GRANTED_MAX / TURN_SEGS);
	left(env, TURN_SEGS - 1);
	KUNIT_EXPECT_TRUE(test, has_sent(file, GRANTED_MAX));
	left(env, 1);
	KUNIT_EXPECT_TRUE(test, has_sent(file, GRANTED_MAX + TURN_SEGS));
	want_no_more(file);
	left(env, GRANTED_MAX);
	KUNIT_EXPECT_TRUE(test, has_sent(file, GRANTED_MAX + TURN_SEGS));
	KUNIT_EXPECT_EQ(test, env->sched.granted, 0);
}

/* One process has two files, and not two turns for one of the other's. */
static void sched_processes_take_turns(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct sched_file *file = env->long_file;
	unsigned int i;

	want(&file[0]);
	KUNIT_EXPECT_TRUE(test, has_sent(&file[0], GRANTED_MAX));
	want(&file[1]);
	want(&file[2]);
	for (i = 0; i < 20; i++) {
		left(env, TURN_SEGS);
		msleep(20);
	}
	msleep(WHILE_MS);
	KUNIT_EXPECT_EQ(test, file[0].turns + file[1].turns, GRANTED_MAX / TURN_SEGS + 10);
	KUNIT_EXPECT_EQ(test, file[2].turns, 10);
	KUNIT_EXPECT_GE(test, file[1].turns, 4);
}

/* A turn beside others is the only one, and shorter the slower segments are. */
static void sched_turns_are_short_beside_others(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct sched_file *file = &env->long_file[0];

	singles_stay(env);
	env->sched.seg_ns = 20 * NSEC_PER_USEC;
	want(file);
	KUNIT_EXPECT_TRUE(test, has_sent(file, 4));
	left(env, 3);
	KUNIT_EXPECT_TRUE(test, has_sent(file, 4));
}

/* They come now and then: fewer, but no pauses. */
static void sched_few_while_others_are_around(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct sched_file *file = &env->long_file[0];

	umad_sched_note_single(&env->sched);
	msleep(WHILE_MS);
	want(file);
	KUNIT_EXPECT_TRUE(test, has_sent(file, GRANTED_AROUND));
	left(env, GRANTED_AROUND / 2);
	KUNIT_EXPECT_TRUE(test, has_sent(file, GRANTED_AROUND + GRANTED_AROUND / 2));
}

/* Beside short messages, the time that a turn has taken decides on the pause after it. */
static void sched_pauses_beside_short_messages(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct sched_file *file = &env->long_file[0];
	ktime_t now;

	shorts_stay(env);
	env->sched.seg_ns = NSEC_PER_MSEC;
	want(file);
	KUNIT_EXPECT_TRUE(test, has_sent(file, 1));
	env->sched.seg_ns = 1;
	now = ktime_get();
	left(env, 1);
	KUNIT_EXPECT_LE(test, PAUSE_MAX, ktime_to_ns(ktime_sub(env->sched.next, now)));
}

/* It is taken to last 1 ms, and has not left; no more are to be sent. */
static void send_one_beside_singles(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct sched_file *file = &env->long_file[0];

	singles_stay(env);
	env->sched.seg_ns = NSEC_PER_MSEC;
	want(file);
	KUNIT_EXPECT_TRUE(test, has_sent(file, 1));
	want_no_more(file);
}

/* Beside single MADs, the time that its segments should have taken. */
static void sched_does_not_pause_for_others_load(struct kunit *test)
{
	struct sched_env *env = test->priv;

	send_one_beside_singles(test);
	env->sched.seg_ns = 1;
	left(env, 1);
	KUNIT_EXPECT_GE(test, ktime_to_ns(ktime_sub(ktime_get(), env->sched.next)), -2);
}

/* But not for long. */
static void sched_pauses_beside_others(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct sched_file *file = &env->long_file[0];
	ktime_t now;

	singles_stay(env);
	env->sched.seg_ns = 20 * NSEC_PER_MSEC;
	want(file);
	KUNIT_EXPECT_TRUE(test, has_sent(file, 1));
	/* It took longer than the longest pause is. */
	now = ktime_get();
	left(env, 1);
	KUNIT_EXPECT_LE(test, PAUSE_MAX, ktime_to_ns(ktime_sub(env->sched.next, now)));
	KUNIT_EXPECT_GE(test, PAUSE_MAX + NSEC_PER_MSEC + ktime_to_ns(ktime_sub(ktime_get(), now)),
			ktime_to_ns(ktime_sub(env->sched.next, now)));
	/* By the timer. */
	KUNIT_EXPECT_TRUE(test, has_sent(file, 2));
}

/* Else a node that sends one now and then would make long messages wait as if somebody did. */
static void sched_pauses_for_less_if_no_single_came(struct kunit *test)
{
	struct sched_env *env = test->priv;

	send_one_beside_singles(test);
	env->sched.looked_at = env->sched.single_at + 1;
	left(env, 1);
	KUNIT_EXPECT_GE(test, NSEC_PER_MSEC, ktime_to_ns(ktime_sub(env->sched.next, ktime_get())));
	KUNIT_EXPECT_GT(test, env->sched.single_at, env->sched.looked_at);
}

/* Without others there is none. */
static void sched_does_not_pause_alone(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct sched_file *file = &env->long_file[0];

	env->sched.next = ktime_add_ms(ktime_get(), 10 * SOON_MS);
	want(file);
	KUNIT_EXPECT_TRUE(test, has_sent(file, GRANTED_MAX));
}

static void sched_short_messages_do_not_pause(struct kunit *test)
{
	struct sched_env *env = test->priv;
	ktime_t end = ktime_add_ms(ktime_get(), 10 * SOON_MS);

	singles_stay(env);
	env->sched.next = end;
	want(&env->long_file[0]);
	want(&env->short_file);
	msleep(20);
	KUNIT_EXPECT_EQ(test, 0, env->long_file[0].sent);
	want_no_more(&env->short_file);
	KUNIT_EXPECT_LE(test, 1, env->short_file.sent);
	KUNIT_EXPECT_GE(test, GRANTED_AROUND, env->short_file.sent);
}

/* Unless they take more than three quarters of the time. */
static void sched_short_messages_have_a_share(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct sched_file *file = &env->short_file;
	unsigned int i;

	env->sched.next = ktime_add_ms(ktime_get(), 10 * SOON_MS);
	env->sched.mean_ns = NSEC_PER_MSEC;
	shorts_stay(env);
	want(file);
	/* Their first turn has used up the 4 ms that they had, and another 4 ms. */
	for (i = 0; i < 3; i++) {
		msleep(20);
		env->sched.next = ktime_add_ms(ktime_get(), 10 * SOON_MS);
		env->sched.mean_ns = NSEC_PER_MSEC;
	}
	KUNIT_EXPECT_EQ(test, UMAD_SCHED_SHORT_SEGS, file->sent);
}

/* Then they take turns with long ones; and what they owe has a bound. */
static void sched_short_messages_leave_turns(struct kunit *test)
{
	struct sched_env *env = test->priv;
	ktime_t begin = ktime_get();
	unsigned int i, in_their_time;

	env->sched.mean_ns = NSEC_PER_MSEC;
	want(&env->short_file);
	want(&env->long_file[0]);
	want(&env->long_file[2]);
	for (i = 0; i < 100; i++) {
		left(env, min(env->sched.granted, 32U));
		env->sched.mean_ns = NSEC_PER_MSEC;
		usleep_range(100, 200);
	}
	/* From -4 ms to the 1 ms that a turn needs at three quarters of the time. */
	in_their_time = ktime_ms_delta(ktime_get(), begin) / 6;
	KUNIT_EXPECT_GE(test, env->long_file[0].turns + env->long_file[2].turns + 3 +
			in_their_time, env->short_file.turns);
	KUNIT_EXPECT_GE(test, env->short_file.turns + 5,
			env->long_file[0].turns + env->long_file[2].turns);
	KUNIT_EXPECT_LE(test, 5, env->short_file.turns);
	KUNIT_EXPECT_LE(test, -4 * (s64)NSEC_PER_MSEC, env->sched.short_ns);
}

/* However long a segment really takes: of them something is in ib_core all the time. */
static void sched_long_messages_have_turns(struct kunit *test)
{
	struct sched_env *env = test->priv;
	unsigned int i;

	env->sched.seg_ns = 20 * NSEC_PER_USEC;
	env->sched.mean_ns = 20 * NSEC_PER_USEC;
	want(&env->short_file);
	msleep(20);
	want(&env->long_file[0]);
	for (i = 0; i < 1000; i++) {
		usleep_range(100, 200);
		left(env, min(READ_ONCE(env->sched.granted), 1U));
	}
	KUNIT_EXPECT_LE(test, 1, env->long_file[0].turns);
	KUNIT_EXPECT_LE(test, 10, env->short_file.turns);
	/* It is known now, although there was no end. */
	KUNIT_EXPECT_LE(test, 50 * NSEC_PER_USEC, env->sched.seg_ns);
}

/* Also when it takes longer than is taken for possible. */
static void sched_long_messages_wait_for_so_long(struct kunit *test)
{
	struct sched_env *env = test->priv;
	unsigned int i;

	singles_stay(env);
	want(&env->short_file);
	msleep(20);
	want(&env->long_file[0]);
	for (i = 0; i < 60; i++) {
		msleep(20);
		env->sched.short_ns = 4 * NSEC_PER_MSEC;
		left(env, min(READ_ONCE(env->sched.granted), 1U));
	}
	KUNIT_EXPECT_LE(test, 2, env->long_file[0].turns);
}

/* Of what ib_core does not say when it leaves, nothing is learned. */
static void sched_unseen_segments_take_no_time(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct sched_file *file = &env->long_file[0];
	unsigned int i, n;

	env->sched.seg_ns = NSEC_PER_MSEC;
	for (i = 0; i < 20; i++) {
		want(file);
		msleep(20);
		want_no_more(file);
		for (n = env->sched.granted; n; n--)
			umad_sched_put(&env->sched, false);
		msleep(20);
	}
	KUNIT_EXPECT_EQ(test, NSEC_PER_MSEC, env->sched.seg_ns);
}

/* Nor of the few among them of which it does say. */
static void sched_few_seen_segments_tell_nothing(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct sched_file *file = &env->long_file[0];
	unsigned int i, n;

	env->sched.seg_ns = 100 * NSEC_PER_USEC;
	for (i = 0; i < 20; i++) {
		want(file);
		msleep(20);
		want_no_more(file);
		KUNIT_ASSERT_LE(test, 3, env->sched.granted);
		for (n = env->sched.granted; n > 1; n--)
			umad_sched_put(&env->sched, false);
		left(env, 1);
		msleep(20);
	}
	KUNIT_EXPECT_EQ(test, 100 * NSEC_PER_USEC, env->sched.seg_ns);
}

/* Those of another process count as others, but only if there are long ones. */
static void sched_short_messages_are_others(struct kunit *test)
{
	struct sched_env *env = test->priv;
	s64 never = ktime_get_ns() - 10 * NSEC_PER_SEC;

	env->sched.other_short_at = never;
	want(&env->short_file);
	msleep(WHILE_MS);
	want_no_more(&env->short_file);
	KUNIT_EXPECT_EQ(test, env->sched.other_short_at, never);
	left(env, env->sched.granted);
	msleep(WHILE_MS);
	want(&env->long_file[0]);
	msleep(20);
	/* A process does not wait for itself. */
	env->sched.long_waits_since = ktime_get_ns();
	want(&env->own_short_file);
	msleep(20);
	want_no_more(&env->own_short_file);
	KUNIT_EXPECT_LE(test, 1, env->own_short_file.sent);
	KUNIT_EXPECT_EQ(test, env->sched.other_short_at, never);
	want(&env->short_file);
	left(env, env->sched.granted);
	msleep(20);
	KUNIT_EXPECT_NE(test, env->sched.other_short_at, never);
}

/* A file that is closed while its work is queued gives back what that may send. */
static void sched_grant_of_a_closed_file(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct sched_file *file = &env->long_file[1];

	want(file);
	want_no_more(file);
	umad_sched_queue_destroy(&file->queue);
	KUNIT_EXPECT_EQ(test, env->sched.granted, file->sent);
}

/* Times without a turn are no silence of the receiver's. */
static void tx_held_puts_off_timeouts(struct kunit *test)
{
	const struct rmpp_packet ack = {
		.version = IB_MGMT_RMPP_VERSION, .type = IB_MGMT_RMPP_TYPE_ACK,
		.seg = 1, .len = 64,
	};
	u64 begin = NSEC_PER_SEC, held = 60ULL * NSEC_PER_SEC;
	struct rmpp_tx tx;

	rmpp_tx_init(&tx, 100, 1, 1000, 0, begin);
	KUNIT_EXPECT_TRUE(test, rmpp_tx_may_send(&tx));
	KUNIT_EXPECT_EQ(test, 1, rmpp_tx_next(&tx, begin));
	KUNIT_EXPECT_FALSE(test, rmpp_tx_may_send(&tx));
	rmpp_tx_sent(&tx, begin);
	rmpp_tx_receive(&tx, &ack, begin);
	KUNIT_EXPECT_TRUE(test, rmpp_tx_may_send(&tx));
	rmpp_tx_held(&tx, begin, begin + held);
	KUNIT_EXPECT_LT(test, begin + held, rmpp_tx_deadline(&tx));
	rmpp_tx_timer(&tx, begin + held);
	KUNIT_EXPECT_EQ(test, (int)RMPP_TX_SENDING, (int)tx.state);
	KUNIT_EXPECT_FALSE(test, tx.send_probe);
	KUNIT_EXPECT_EQ(test, 2, rmpp_tx_next(&tx, begin + held));
}

static void expect_takes(struct kunit *test, struct umad_sched_queue *queue,
			 struct umad_sched_entry *entry)
{
	KUNIT_EXPECT_PTR_EQ(test, umad_sched_queue_take(queue), entry);
	if (entry)
		KUNIT_EXPECT_FALSE(test, umad_sched_entry_is_ready(entry));
}

static void sched_shortest_message_first(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct umad_sched_queue *queue = &env->long_file[0].queue;
	struct umad_sched_entry entry[4];
	static const u32 left[] = { 30, 10, 20, 10 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(entry); i++) {
		umad_sched_entry_init(&entry[i]);
		umad_sched_queue_add(queue, &entry[i], left[i]);
	}
	/* Of equal ones the first. */
	expect_takes(test, queue, &entry[1]);
	expect_takes(test, queue, &entry[3]);
	umad_sched_queue_del(&entry[2]);
	umad_sched_queue_del(&entry[2]);
	expect_takes(test, queue, &entry[0]);
	expect_takes(test, queue, NULL);
}

/* However many short ones there are. */
static void sched_long_message_is_not_kept(struct kunit *test)
{
	struct sched_env *env = test->priv;
	struct umad_sched_queue *queue = &env->long_file[0].queue;
	struct umad_sched_entry first, second;
	unsigned int i;

	umad_sched_entry_init(&first);
	umad_sched_entry_init(&second);
	umad_sched_queue_add(queue, &first, U32_MAX);
	for (i = 1; i <= 8; i++) {
		if (!umad_sched_entry_is_ready(&second))
			umad_sched_queue_add(queue, &second, 1);
		if (!umad_sched_entry_is_ready(&first))
			umad_sched_queue_add(queue, &first, U32_MAX - i);
		expect_takes(test, queue, i % 4 ? &second : &first);
	}
	umad_sched_queue_del(&first);
	umad_sched_queue_del(&second);
}

static struct kunit_case sched_cases[] = {
	KUNIT_CASE(sched_is_bounded),
	KUNIT_CASE(sched_processes_take_turns),
	KUNIT_CASE(sched_turns_are_short_beside_others),
	KUNIT_CASE(sched_few_while_others_are_around),
	KUNIT_CASE(sched_pauses_beside_short_messages),
	KUNIT_CASE(sched_does_not_pause_for_others_load),
	KUNIT_CASE(sched_pauses_beside_others),
	KUNIT_CASE(sched_pauses_for_less_if_no_single_came),
	KUNIT_CASE(sched_does_not_pause_alone),
	KUNIT_CASE(sched_short_messages_do_not_pause),
	KUNIT_CASE(sched_short_messages_have_a_share),
	KUNIT_CASE(sched_short_messages_leave_turns),
	KUNIT_CASE(sched_long_messages_have_turns),
	KUNIT_CASE(sched_long_messages_wait_for_so_long),
	KUNIT_CASE(sched_unseen_segments_take_no_time),
	KUNIT_CASE(sched_few_seen_segments_tell_nothing),
	KUNIT_CASE(sched_short_messages_are_others),
	KUNIT_CASE(sched_grant_of_a_closed_file),
	KUNIT_CASE(sched_shortest_message_first),
	KUNIT_CASE(sched_long_message_is_not_kept),
	KUNIT_CASE(tx_held_puts_off_timeouts),
	{}
};

static struct kunit_suite sched_suite = {
	.name = "umad_sched",
	.init = sched_env_init,
	.exit = sched_env_exit,
	.test_cases = sched_cases,
};

kunit_test_suite(sched_suite);
