/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What rmpp_pair sends, by what, and through what. */
#ifndef UMAD_KUNIT_RMPP_PROFILES_H
#define UMAD_KUNIT_RMPP_PROFILES_H

#include "rmpp_intree.h"
#include "rmpp_pipe.h"

#define SEGS_MAX	8000
#define SEGS_SHORT	120
#define ALL_BAD		{ .lost = 500, .twice = 1000, .late = 1000, \
			  .late_ms = 20, .delay_ms = 20 }

/**
 * struct profile - a kind of transfer
 * @name: of the case
 * @seeds: how many transfers
 * @segs: at most, by the seed
 * @fault: of the pipe
 * @window: what the receiver gives, and all messages have @segs; 0: by the seed
 * @intree_tx: the sender is the model of the in-tree one
 * @intree_rx: the receiver is
 * @rewind: what the model of the sender does
 * @most: segments that it has outstanding; 0: as many as it may
 * @turns: the receiver lets the sender wait between windows
 * @may_fail: a stated error will do
 * @base_ms: in that time and @seg_us for each segment the sender must end
 * @seg_us: see there
 */
struct profile {
	const char *name;
	u32 seeds;
	u32 segs;
	struct pipe_fault fault;
	u32 window;
	bool intree_tx;
	bool intree_rx;
	enum rewind rewind;
	u32 most;
	bool turns;
	bool may_fail;
	u32 base_ms;
	u32 seg_us;
};

static const struct profile profiles[] = {
	{ "clean", 700, 1000, { .delay_ms = 5 }, .base_ms = 100,
	  .seg_us = 12000 },
	{ "lost 1 %", 1500, SEGS_SHORT, { .lost = 100, .delay_ms = 5 },
	  .base_ms = 2000, .seg_us = 100000 },
	{ "lost 5 %", 1500, SEGS_SHORT, { .lost = 500, .delay_ms = 5 },
	  .base_ms = 5000, .seg_us = 200000 },
	{ "lost 20 %", 1500, SEGS_SHORT, { .lost = 2000, .delay_ms = 5 },
	  .may_fail = true, .base_ms = 20000, .seg_us = 1000000 },
	{ "lost 50 %", 500, SEGS_SHORT, { .lost = 5000, .delay_ms = 5 },
	  .may_fail = true, .base_ms = 40000, .seg_us = 4000000 },
	{ "late", 1500, SEGS_SHORT,
	  { .late = 1000, .late_ms = 20, .delay_ms = 5 },
	  .base_ms = 500, .seg_us = 60000 },
	{ "twice", 1500, SEGS_SHORT, { .twice = 1000, .delay_ms = 5 },
	  .base_ms = 500, .seg_us = 60000 },
	{ "all bad", 2500, SEGS_SHORT, ALL_BAD, .may_fail = true,
	  .base_ms = 10000, .seg_us = 500000 },
	{ "all bad, long", 12, SEGS_MAX, ALL_BAD, .may_fail = true,
	  .base_ms = 10000, .seg_us = 300000 },
	{ "lost 1 %, long", 12, SEGS_MAX, { .lost = 100, .delay_ms = 1 },
	  .base_ms = 10000, .seg_us = 10000 },
	{ "lost 300 in a row", 100, 1500,
	  { .burst = 300, .delay_ms = 10 }, .window = 336, .base_ms = 700 },
	{ "lost 10 in a row", 100, 500,
	  { .burst = 10, .delay_ms = 10 }, .window = 336, .base_ms = 300 },
	{ "lost 1, in a wide window", 20, SEGS_MAX,
	  { .burst = 1, .delay_ms = 1 }, .window = 1024, .base_ms = 450 },
	{ "to in-tree, lost 60 in a row", 100, 500,
	  { .burst = 60, .delay_ms = 10 }, .window = 64, .intree_rx = true,
	  .base_ms = 2000 },
	{ "in turns", 300, 320, { .delay_ms = 5 }, .window = 32, .turns = true,
	  .base_ms = 1000, .seg_us = 14000 },
	{ "in turns, lost 1 %", 300, 320, { .lost = 100, .delay_ms = 5 },
	  .window = 32, .turns = true, .base_ms = 4000, .seg_us = 100000 },
	{ "in turns, all bad", 300, 320, ALL_BAD, .window = 32, .turns = true,
	  .may_fail = true, .base_ms = 10000, .seg_us = 500000 },
	{ "in turns from in-tree", 300, 320, { .delay_ms = 5 }, .window = 32,
	  .turns = true, .intree_tx = true, .base_ms = 1000, .seg_us = 14000 },
	{ "in turns from in-tree, lost 1 %", 300, 320,
	  { .lost = 100, .delay_ms = 5 }, .window = 32, .turns = true,
	  .intree_tx = true, .base_ms = 20000, .seg_us = 500000 },
	{ "in turns from Figure 178", 300, 320, { .delay_ms = 5 }, .window = 32,
	  .turns = true, .intree_tx = true, .rewind = REWIND_NEW,
	  .base_ms = 2000, .seg_us = 50000 },
	{ "in turns from IBAL", 300, 320, { .delay_ms = 5 }, .window = 32,
	  .turns = true, .intree_tx = true, .rewind = REWIND_ANY,
	  .base_ms = 2000, .seg_us = 50000 },
	{ "cut", 300, 1000, { .cut = true, .delay_ms = 5 }, .may_fail = true,
	  .base_ms = 10000, .seg_us = 12000 },
	{ "to in-tree, clean", 200, 1000, { .delay_ms = 5 },
	  .intree_rx = true, .base_ms = 100, .seg_us = 12000 },
	{ "to in-tree, lost 1 %", 400, 300, { .lost = 100, .delay_ms = 5 },
	  .intree_rx = true, .base_ms = 5000, .seg_us = 200000 },
	{ "to in-tree, all bad", 400, SEGS_SHORT, ALL_BAD,
	  .intree_rx = true, .may_fail = true, .base_ms = 20000,
	  .seg_us = 500000 },
	{ "from in-tree, clean", 200, 1000, { .delay_ms = 5 },
	  .intree_tx = true, .base_ms = 100, .seg_us = 12000 },
	{ "from in-tree, lost 1 %", 400, 300, { .lost = 100, .delay_ms = 5 },
	  .intree_tx = true, .base_ms = 20000, .seg_us = 500000 },
	{ "from in-tree, all bad", 400, SEGS_SHORT, ALL_BAD,
	  .intree_tx = true, .may_fail = true, .base_ms = 40000,
	  .seg_us = 2000000 },
	{ "from Figure 178", 300, 2000, { .delay_ms = 20 },
	  .intree_tx = true, .rewind = REWIND_NEW, .base_ms = 2000,
	  .seg_us = 50000 },
	{ "from Figure 178, lost 1 %", 300, 300, { .lost = 100, .delay_ms = 5 },
	  .intree_tx = true, .rewind = REWIND_NEW, .base_ms = 20000,
	  .seg_us = 500000 },
	{ "from IBAL", 300, 2000, { .delay_ms = 20 },
	  .intree_tx = true, .rewind = REWIND_ANY, .base_ms = 2000,
	  .seg_us = 50000 },
	{ "from IBAL, lost 1 %", 300, 300, { .lost = 100, .delay_ms = 5 },
	  .intree_tx = true, .rewind = REWIND_ANY, .base_ms = 20000,
	  .seg_us = 500000 },
	{ "from one with 64 outstanding", 20, 2000, { .delay_ms = 1 },
	  .window = 336, .intree_tx = true, .most = 64, .base_ms = 500 },
	{ "from one with 100 outstanding, wide window", 20, 4000, { .delay_ms = 1 },
	  .window = 1024, .intree_tx = true, .most = 100, .base_ms = 500 },
};

#endif /* UMAD_KUNIT_RMPP_PROFILES_H */
