/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The fields of a packet by name, which a rule can match and change.
 */
#ifndef SIM_FIELD_H
#define SIM_FIELD_H

#include <linux/types.h>
#include "sim_packet.h"

/* RMPPType (IBA 13.6.2.1) */
#define SIM_RMPP_DATA	1
#define SIM_RMPP_ACK	2
#define SIM_RMPP_STOP	3
#define SIM_RMPP_ABORT	4

struct sim_field;

const struct sim_field *sim_field_find(const char *name);
u64 sim_field_max(const struct sim_field *field);
bool sim_field_get(const struct sim_field *field,
		   const struct sim_packet *packet, u64 *value);
bool sim_field_set(const struct sim_field *field, struct sim_packet *packet,
		   u64 value);
bool sim_field_settable(const struct sim_field *field);

bool sim_mad_has_rmpp(const struct sim_packet *packet);
bool sim_mad_is_rmpp(const struct sim_packet *packet);

#endif
