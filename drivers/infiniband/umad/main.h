/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the module is known by to ib_core. */
#ifndef UMAD_MAIN_H
#define UMAD_MAIN_H

#include <rdma/ib_verbs.h>

extern struct ib_client umad_client;
extern struct ib_client umad_issm_client;

#endif /* UMAD_MAIN_H */
