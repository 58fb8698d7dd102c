/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Races by construction. A trial stops what the first operation of a pair does
 * at one point of ib_umad's code, has the second done meanwhile, lets the first
 * go on, and sees that both end, and each request exactly once.
 *
 * A worker process has the file open and makes the calls; the runner is the far
 * end of the wire, and deals with the device, the module and the worker.
 */
#ifndef RACE_H
#define RACE_H

#include "hwsim_util.h"

#define DEVICE		40
#define FAR_LID		0x30
#define SIDES		2

/* race_stops.c: the files of ib_umad_race. */
#define STOP_MAIN	0	/* where the first operation is stopped */
#define STOP_OF(side)	(1 + (side))	/* what an operation needs itself */
#define POINTS_MAX	1024
#define POINT_LEN	96

struct point {
	char name[POINT_LEN];	/* "FUNCTION WHERE" */
	unsigned long hits;
	unsigned int met;	/* as a first operation of a pair was stopped there */
};

struct points {
	unsigned int n;
	struct point point[POINTS_MAX];
};

int points_read(struct points *points);
int stop_arm(unsigned int stop, const char *point, const char *options);
void stop_release(unsigned int stop);
bool stop_is(unsigned int stop, const char *state);
bool stop_wait(unsigned int stop, const char *state, unsigned int wait_ms);
int module_load(void);

/* race_worker.c: the process with the file. */
enum order {
	DO_WRITE, DO_MESSAGE, DO_READ, DO_POLL, DO_REGISTER, DO_UNREGISTER,
	DO_CLOSE, DO_DRAIN,
};

struct command {
	enum order order;
	uint32_t tid;
	uint32_t timeout_ms;
	uint32_t retries;
	uint32_t count;
};

struct worker {
	pid_t pid;
	int channel[SIDES];	/* commands out, results in */
	bool busy[SIDES];
};

int worker_start(struct worker *worker, const char *node);
void worker_send(struct worker *worker, int side, const struct command *command);
bool worker_wait(struct worker *worker, int side, int wait_ms, int *result);
bool worker_end(struct worker *worker, int wait_ms);

/* race_memory.c: the worker's cgroup, where memory can be reclaimed. */
void memory_init(void);
void memory_enter(void);
void memory_leave(void);
bool memory_is_limited(void);
void *memory_reclaim(void *arg);

/* race_ops.c: the operations. */
struct trial {
	struct worker worker;
	int raw;
	struct ib_hwsim_frame request[SIDES];	/* what the far end was sent */
	struct side_call call[SIDES];		/* the runner's own part */
	unsigned int nth;			/* of all trials */
	bool gone;	/* the device */
	bool unloaded;	/* the module */
};

struct op {
	const char *name;
	/* Before anything is stopped; NULL for none. 0, or what is in the way. */
	int (*prepare)(struct trial *trial, int side);
	/* May be left to the worker, or to a thread: act_wait() waits for both. */
	void (*act)(struct trial *trial, int side);
	unsigned int linger_ms;	/* until its consequences have come */
	bool ends_file;		/* requests need not end after it */
	unsigned int come_ms;	/* until it comes by itself, as the first */
	bool is_dropped;	/* by ib_core: the module sees nothing of it */
};

extern const struct op ops[];
extern const unsigned int ops_n;

bool act_wait(struct trial *trial, int side, int wait_ms);

/* race_run.c: one trial. */
enum outcome {
	MET,		/* the one was stopped while the other was done */
	MISSED,		/* it did not come to the point */
	SKIPPED,	/* could not be prepared */
	FAILED,
};

int run_init(struct trial *trial);
void run_exit(struct trial *trial);
int run_profile(struct trial *trial, const struct op *op, struct points *points);
enum outcome run_pair(struct trial *trial, const struct op *first,
		      const char *point, const struct op *second, char *why,
		      size_t why_len);

#endif /* RACE_H */
