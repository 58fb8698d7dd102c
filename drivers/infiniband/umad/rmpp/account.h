/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef UMAD_RMPP_ACCOUNT_H
#define UMAD_RMPP_ACCOUNT_H

#include <linux/types.h>

struct umad_file;
struct umad_xfer_rx;

void umad_rmpp_count(struct umad_xfer_rx *rx);
void umad_rmpp_charge(struct umad_xfer_rx *rx, size_t bytes);
void umad_rmpp_uncount(struct umad_xfer_rx *rx);
bool umad_rmpp_answer_enter(struct umad_file *file);
void umad_rmpp_answer_leave(struct umad_file *file);

#endif /* UMAD_RMPP_ACCOUNT_H */
