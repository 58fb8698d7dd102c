/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * ib_umad_race: stops a task at a point of ib_umad's code, so that a test can do
 * something else meanwhile. See README.rst.
 */
#ifndef IB_UMAD_RACE_H
#define IB_UMAD_RACE_H

#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/types.h>

struct seq_file;

#define RACE_STOPS	4
#define RACE_NAME	96

/**
 * enum race_kind - what is at a point
 * @RACE_AT: an instruction; a task is stopped before it
 * @RACE_CALL: a call; a task is stopped before it, and may be spared it
 * @RACE_RETURN: a function or a jump out of one; stopped when that returns
 */
enum race_kind {
	RACE_AT,
	RACE_CALL,
	RACE_RETURN,
};

/**
 * struct race_point - where a task can be stopped
 * @kp: the probe
 * @kind: what is there
 * @node: in the list of all points
 * @name: "FUNCTION WHERE"
 * @address: in ib_umad as it is loaded now, or 0
 * @planted: the probe is there
 * @hits: tasks that came along
 */
struct race_point {
	struct kprobe kp;
	enum race_kind kind;
	struct list_head node;
	char name[RACE_NAME];
	unsigned long address;
	bool planted;
	unsigned long hits;
};

/* What race_stub.S has saved, as it lies on the stack. */
struct race_frame {
	unsigned long r15, r14, r13, r12, r11, r10, r9, r8;
	unsigned long bp, di, si, dx, cx, bx, ax;
	unsigned long flags;
	unsigned long ip;	/* where the stub goes on */
};

/* race_stub.S */
void race_stub(void);

/* race_main.c */
int race_hit(struct kprobe *kp, struct pt_regs *regs);
void race_stopped(struct race_frame *frame);
unsigned long race_lookup(const char *symbol);
void race_forget(const struct race_point *point);

/* race_points.c */
int race_points_init(void);
void race_points_exit(void);
struct race_point *race_point_get(const char *function, const char *where);
int race_points_show(struct seq_file *s, void *unused);

#endif
