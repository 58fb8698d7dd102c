/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef UMAD_ISSM_H
#define UMAD_ISSM_H

#include <linux/fs.h>

struct umad_port;

extern const struct file_operations umad_issm_fops;

void umad_issm_shutdown(struct umad_port *port);
void umad_issm_clear(struct umad_port *port);

#endif /* UMAD_ISSM_H */
