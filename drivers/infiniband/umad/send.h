/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A single MAD, from write() to its request. */
#ifndef UMAD_SEND_H
#define UMAD_SEND_H

#include <linux/types.h>

struct ib_mad_send_buf;
struct ib_user_mad_hdr;
struct umad_file;
struct umad_request;

int umad_send_mad(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		  void *mad, size_t len);
bool umad_send_rearm(struct umad_request *req, const struct ib_mad_send_buf *used);

#endif /* UMAD_SEND_H */
