// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rmpp_tx_env.h"

int tx_env_init(struct kunit *test)
{
	struct tx_env *env;

	env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	if (!env)
		return -ENOMEM;
	test->priv = env;
	env->now = 5 * MS;
	rmpp_tx_init(&env->tx, SEGS, 1, 0, 2, env->now);
	return 0;
}

/* Take all there is to send; returns how many. */
u32 drain(struct tx_env *env)
{
	u32 count = 0, seg;

	env->first = 0;
	env->last = 0;
	while ((seg = rmpp_tx_next(&env->tx, env->now))) {
		rmpp_tx_sent(&env->tx, env->now);
		if (!count++)
			env->first = seg;
		env->last = seg;
	}
	return count;
}

/* An ACK comes; returns how many segments go out for it. */
u32 ack(struct tx_env *env, u32 seg, u32 window_last)
{
	struct rmpp_packet packet = ack_packet(seg, window_last);

	rmpp_tx_receive(&env->tx, &packet, env->now);
	return drain(env);
}

/* The time of the deadline comes. */
void expire(struct tx_env *env)
{
	env->now = rmpp_tx_deadline(&env->tx);
	rmpp_tx_timer(&env->tx, env->now);
}

/* To where segment 1 is acknowledged and 2 to 65 are out, 2 ms a round trip. */
void open_window(struct kunit *test)
{
	struct tx_env *env = test->priv;

	KUNIT_ASSERT_EQ(test, drain(env), 1u);
	env->now += 2 * MS;
	KUNIT_ASSERT_EQ(test, ack(env, 1, 65), 64u);
	KUNIT_ASSERT_EQ(test, env->tx.next, 66u);
}
