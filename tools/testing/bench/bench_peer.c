// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What RMPP messages between a program on rxe0 and ib_core's own RMPP on rxe1
 * (ib_umad_peer.ko) take.
 *
 *	bench_peer LABEL there|back SIZE COUNT LIMIT
 *
 * "there": a request of SIZE bytes, answered with their length and hash in one
 * segment, so it is the module's sender and the in-tree receiver. "back": a small
 * request, answered with SIZE bytes, so the in-tree sender and the module's
 * receiver. From before write() to after read(); LIMIT seconds are waited.
 */
#include "rmpp_remote.h"

#include <stddef.h>
#include <stdio.h>
#include "bench_util.h"

#define MANY_MAX	1024

static bool good_sum(struct remote *f, uint32_t size)
{
	const uint8_t *mad = rmpp_mad_bytes(&f->got);
	uint32_t len, hash;

	if (f->got.mad_len != 40 + sizeof(f->state))
		return false;
	memcpy(&len, mad + 40 + offsetof(struct remote_state, len), 4);
	memcpy(&hash, mad + 40 + offsetof(struct remote_state, hash), 4);
	return be32toh(len) == size &&
	       be32toh(hash) == remote_hash(rmpp_mad_bytes(&f->msg) + 40, size);
}

/* Seconds, or less than 0. */
static double exchange(struct remote *f, bool there, uint32_t size, int limit_ms)
{
	uint64_t begin = now_us();
	int ret;

	ret = there ? remote_request(f, OP_SUM, 0, 0, size, limit_ms) :
	      remote_request(f, OP_GENERATE, size, f->tid, REMOTE_WORDS, limit_ms);
	/* An in-tree receiver may have what it sent to the last one. */
	while (ret >= 0) {
		ret = rmpp_msg_read(f->fd, &f->got, HDR_NEW, limit_ms + 1000);
		if (ret > 0 && rmpp_tid(&f->got) == f->tid)
			break;
	}
	if (ret < 0 || rmpp_user_hdr(&f->got)->status)
		return -1;
	begin = now_us() - begin;
	if (there ? !good_sum(f, size) :
	    !rmpp_msg_has(&f->got, size, f->tid - 1)) {
		fprintf(stderr, "bench_peer: wrong bytes\n");
		exit(1);
	}
	return begin / 1e6;
}

int main(int argc, char **argv)
{
	double took[MANY_MAX], seconds, sum = 0;
	struct remote f = { 0 };
	int count, done = 0, i;
	uint32_t size;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 6 || atoi(argv[4]) > MANY_MAX) {
		fprintf(stderr,
			"usage: bench_peer LABEL there|back SIZE COUNT LIMIT\n");
		return 2;
	}
	size = strtoul(argv[3], NULL, 0) << 10;
	count = atoi(argv[4]);
	setenv("UMAD_IBDEV", "rxe0", 1);
	setenv("UMAD_PEER", "rxe1", 1);
	if (remote_open(&f)) {
		fprintf(stderr, "bench_peer: no peer\n");
		return 1;
	}
	f.retries = 3;
	for (i = 0; i < count; i++) {
		seconds = exchange(&f, argv[2][0] == 't', size,
				   atoi(argv[5]) * 1000);
		if (seconds < 0) {
			printf("# %s %s %d: not within %s s\n", argv[1], argv[2],
			       i, argv[5]);
			continue;
		}
		printf("# %s %s %d: %.4f s\n", argv[1], argv[2], i, seconds);
		took[done++] = seconds;
		sum += seconds;
		sleep_ms(100);
	}
	qsort(took, done, sizeof(*took), bench_compare);
	printf("bench %s %s size=%u done=%d/%d", argv[1], argv[2], size, done,
	       count);
	if (done)
		printf(" min=%.4f median=%.4f max=%.4f mean=%.4f s", took[0],
		       took[done / 2], took[done - 1], sum / done);
	printf("\n");
	return 0;
}
