/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a device on its way out does not complete, so that its removal ends. */
#ifndef UMAD_FLUSH_H
#define UMAD_FLUSH_H

#include <linux/workqueue.h>

struct ib_qp;
struct umad_port;

/**
 * struct umad_flush - of a port
 * @work: while its device is removed
 * @qp: of QP0 and QP1, NULL before the first agent; each is set to one value only
 */
struct umad_flush {
	struct delayed_work work;
	struct ib_qp *qp[2];
};

void umad_flush_init(struct umad_port *port);
void umad_flush_qp(struct umad_port *port, struct ib_qp *qp);
void umad_flush_begin(struct umad_port *port);
void umad_flush_end(struct umad_port *port);

#endif /* UMAD_FLUSH_H */
