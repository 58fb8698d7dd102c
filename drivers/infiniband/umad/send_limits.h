/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How much of what they have written a process, and a cgroup, may have outstanding. */
#ifndef UMAD_SEND_LIMITS_H
#define UMAD_SEND_LIMITS_H

struct umad_file;

/**
 * enum umad_send_kind - what a process has written
 * @UMAD_SEND_UNTIMED: a single MAD without a timeout, as an answer
 * @UMAD_SEND_TIMED: a single MAD that waits for a response
 * @UMAD_SEND_MESSAGE: of RMPP
 */
enum umad_send_kind {
	UMAD_SEND_UNTIMED,
	UMAD_SEND_TIMED,
	UMAD_SEND_MESSAGE,
};

int umad_send_limits_take(struct umad_file *file, enum umad_send_kind kind);
void umad_send_limits_give(struct umad_file *file, enum umad_send_kind kind);

#endif /* UMAD_SEND_LIMITS_H */
