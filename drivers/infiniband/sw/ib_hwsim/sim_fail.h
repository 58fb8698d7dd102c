/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Verbs that fail on demand: each verb calls sim_fail_hit() first.
 */
#ifndef SIM_FAIL_H
#define SIM_FAIL_H

#include <linux/spinlock.h>
#include <linux/types.h>
#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
#include <linux/fault-inject.h>
#endif

struct dentry;

/* Verbs that can fail; their names and default errors are in sim_fail.c. */
enum sim_verb {
	SIM_VERB_REG,
	SIM_VERB_QUERY_DEVICE,
	SIM_VERB_QUERY_PORT,
	SIM_VERB_QUERY_PKEY,
	SIM_VERB_QUERY_GID,
	SIM_VERB_MODIFY_PORT,
	SIM_VERB_ALLOC_PD,
	SIM_VERB_CREATE_CQ,
	SIM_VERB_CREATE_QP,
	SIM_VERB_MODIFY_QP,
	SIM_VERB_CREATE_AH,
	SIM_VERB_POST_SEND,
	SIM_VERB_POST_RECV,
	SIM_VERB_REQ_NOTIFY,
	SIM_VERB_PROCESS_MAD,
	SIM_VERB_SEND_WC,	/* a send completes with an error */
	SIM_VERBS
};

enum sim_fail_mode {
	SIM_FAIL_OFF,
	SIM_FAIL_NTH,
	SIM_FAIL_EVERY,
	SIM_FAIL_ALL,
};

/**
 * struct sim_fail_verb - how one verb fails
 * @fail: the failing verbs of the device; constant
 * @mode: which calls fail
 * @n: the n-th, or each n-th
 * @error: -errno to fail with
 * @calls: calls of the verb since @mode was set
 * @hits: those that failed
 * @attr: attributes of the kernel's fault injection
 */
struct sim_fail_verb {
	struct sim_fail *fail;
	enum sim_fail_mode mode;
	u64 n;
	int error;
	u64 calls;
	u64 hits;
#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
	struct fault_attr attr;
#endif
};

/**
 * struct sim_fail - the failing verbs of one device
 * @lock: a leaf, taken in any context; protects @verb
 * @verb: by enum sim_verb
 */
struct sim_fail {
	spinlock_t lock;	/* all of @verb */
	struct sim_fail_verb verb[SIM_VERBS];
};

void sim_fail_init(struct sim_fail *fail, struct sim_fail *like);
void sim_fail_debugfs(struct sim_fail *fail, struct dentry *dir);
int sim_fail_set(struct sim_fail *fail, enum sim_verb what, const char *text);
int sim_fail_hit(struct sim_fail *fail, enum sim_verb verb);

#endif
