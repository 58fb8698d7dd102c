/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a hostile program, or one peer, does beside a well-behaved one. Each is
 * a load of promise_load.h that goes on until its process is killed.
 */
#ifndef PROMISE_NOISE_H
#define PROMISE_NOISE_H

#include "promise_load.h"

/* What they are made of. */
int noise_client(struct load *load);
int noise_on_thread(struct load *load, void *(*fn)(void *));
void noise_flood(struct load *load, struct umad_msg *msg);
int noise_files(struct load *load, int n, const struct umad_msg *msg);

int noise_none(struct load *load);
int noise_computes(struct load *load);
int noise_floods_writes(struct load *load);
int noise_floods_requests(struct load *load);
int noise_is_stopped(struct load *load);
int noise_is_over_high(struct load *load);
int noise_is_at_max(struct load *load);
int noise_holds_files(struct load *load);
int noise_writes_garbage(struct load *load);
int noise_peer_floods(struct load *load);
int noise_peer_begins_messages(struct load *load);
int noise_peer_sends_segments(struct load *load);

/* promise_again.c */
int noise_retries_of_files(struct load *load);
int noise_resends(struct load *load);
int noise_unread_answers(struct load *load);
int noise_floods_gets(struct load *load);
int noise_floods_refused(struct load *load);
int noise_bulk(struct load *load);
int noise_shorts(struct load *load);
int noise_late(struct load *load);
int noise_polls(struct load *load);
int noise_fails(struct load *load);
int noise_windows(struct load *load);
int noise_resolves_many(struct load *load);
int noise_windows_of_one(struct load *load);

#endif /* PROMISE_NOISE_H */
