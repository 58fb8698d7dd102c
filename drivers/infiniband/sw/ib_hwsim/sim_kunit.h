/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the suites of ib_hwsim share: packets made by hand.
 */
#ifndef SIM_KUNIT_H
#define SIM_KUNIT_H

#include <linux/seq_file.h>
#include "sim_packet.h"

struct kunit;

struct sim_packet *sim_kunit_packet(u32 len);
struct sim_packet *sim_kunit_test_packet(struct kunit *test);
char *sim_kunit_show(struct kunit *test, struct seq_file *s);

#endif
