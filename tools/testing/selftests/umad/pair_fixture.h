/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What fixtures of tests of single MADs have in common: a client and a server on one
 * port, each a file of its own.
 */
#ifndef PAIR_FIXTURE_H
#define PAIR_FIXTURE_H

#include "kselftest_harness.h"
#include "umad_util.h"

/* The first members of a FIXTURE: files, each with its agent 0, and room for MADs. */
#define PAIR_MEMBERS							\
	struct test_port port;						\
	int fd;			/* a client */				\
	int peer;		/* serves METHOD_TEST */		\
	struct umad_msg msg;						\
	struct umad_msg got

#define PAIR_OPEN(flags)						\
	pair_open(_metadata, &self->port, &self->fd, &self->peer, &self->msg, flags)

/* Opens and registers both, the server with these flags; @msg is a request to it. */
static void pair_open(struct __test_metadata *_metadata, struct test_port *port, int *fd,
		      int *peer, struct umad_msg *msg, int flags)
{
	ASSERT_EQ(0, umad_port_find(port));
	*fd = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, *fd);
	*peer = umad_open(flags);
	ASSERT_LE(0, *peer);
	ASSERT_EQ(0, umad_reg_client(*fd));
	ASSERT_EQ(0, umad_reg_server(*peer, CLASS_VENDOR1, METHOD_TEST));
	msg_init(msg, port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
}

#endif /* PAIR_FIXTURE_H */
