// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rmpp_rx_env.h"

#include <linux/limits.h>

const struct rmpp_layout rmpp_layout_sa = { .hdr = 56, .data = 200 };

int rx_env_init(struct kunit *test)
{
	struct rx_env *env;

	env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	if (!env)
		return -ENOMEM;
	test->priv = env;
	env->now = 5 * MS;
	env->window = WINDOW;
	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 1, env->now);
	return 0;
}

/* A packet comes; what is to be done in the end, an ACK is made. */
enum rmpp_rx_verdict give(struct rx_env *env, struct rmpp_packet packet)
{
	enum rmpp_rx_verdict verdict;

	verdict = rmpp_rx_receive(&env->rx, &packet, env->now);
	if (verdict == RMPP_RX_STORE)
		verdict = rmpp_rx_stored(&env->rx, &packet, env->now);
	if (verdict == RMPP_RX_ACK)
		rmpp_rx_format_ack(&env->rx, env->window, &env->ack);
	return verdict;
}

/* The deadline comes; an ACK is made. */
enum rmpp_rx_verdict rx_expire(struct rx_env *env)
{
	enum rmpp_rx_verdict verdict;

	env->now = rmpp_rx_deadline(&env->rx);
	verdict = rmpp_rx_timer(&env->rx, env->now);
	if (verdict == RMPP_RX_ACK)
		rmpp_rx_format_ack(&env->rx, env->window, &env->ack);
	return verdict;
}

/* To where 1 to @seg have arrived. */
void give_up_to(struct rx_env *env, u32 seg)
{
	u32 i;

	for (i = env->rx.expected; i <= seg; i++)
		give(env, segment(i));
}

/* Dead, with a status, and silent forever after. */
void expect_dead(struct kunit *test, u8 status)
{
	struct rx_env *env = test->priv;

	KUNIT_EXPECT_EQ(test, (int)env->rx.state, (int)RMPP_RX_CLOSED);
	KUNIT_EXPECT_EQ(test, (int)env->rx.status, (int)status);
	KUNIT_EXPECT_EQ(test, rmpp_rx_deadline(&env->rx), U64_MAX);
	EXPECT_VERDICT(test, give(env, segment(1)), RMPP_RX_DROP);
	EXPECT_VERDICT(test, rmpp_rx_timer(&env->rx, env->now + 2 * IDLE_MAX),
		       RMPP_RX_DROP);
}

/* The last packet was answered with this; @line: of the test. */
void expect_ack(struct kunit *test, enum rmpp_rx_verdict verdict, u32 seg,
		u32 window_last, int line)
{
	struct rx_env *env = test->priv;

	KUNIT_EXPECT_EQ_MSG(test, (int)verdict, (int)RMPP_RX_ACK, "line %d",
			    line);
	KUNIT_EXPECT_EQ_MSG(test, (int)env->ack.version, 1, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(test, (int)env->ack.type, IB_MGMT_RMPP_TYPE_ACK,
			    "line %d", line);
	KUNIT_EXPECT_EQ_MSG(test, (int)env->ack.status, 0, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(test, env->ack.seg, seg, "line %d", line);
	KUNIT_EXPECT_EQ_MSG(test, env->ack.len, window_last, "line %d", line);
}
