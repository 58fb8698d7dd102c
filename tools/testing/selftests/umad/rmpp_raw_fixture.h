/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What fixtures of tests of the kernel's RMPP have in common: a file whose RMPP is the
 * kernel's, and a peer made by hand.
 */
#ifndef RMPP_RAW_FIXTURE_H
#define RMPP_RAW_FIXTURE_H

#include "kselftest_harness.h"
#include "rmpp_util.h"

#define SOON	5000	/* ms; for what has to happen */
#define WHILE	400	/* ms; for what must not */
#define SEG	216	/* data bytes of a segment of this class */

#define TYPE(t)	(1u << RMPP_##t)

/* The first members of a FIXTURE. */
#define RAW_MEMBERS							\
	struct test_port port;						\
	int fd;			/* the kernel's side, agent 0 */	\
	struct rmpp_raw raw;	/* the peer, agent 0 */			\
	struct rmpp_pkt pkt;						\
	struct rmpp_msg msg;						\
	struct rmpp_msg got

#define RAW_OPEN(serves)						\
	raw_open(_metadata, &self->port, &self->fd, &self->raw, serves)

/* Opens and registers both: the kernel's side serves METHOD_TABLE, or the peer does. */
static void raw_open(struct __test_metadata *_metadata, struct test_port *port, int *fd,
		     struct rmpp_raw *raw, bool serves)
{
	struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP,
		.rmpp_version = 1,
		.method = serves ? METHOD_TABLE : 0,
	};
	struct rmpp_agent peer = {
		.mgmt_class = CLASS_RMPP,
		/* Both ways to be raw. */
		.rmpp_version = serves,
		.flags = serves ? IB_USER_MAD_USER_RMPP : 0,
		.method = serves ? 0 : METHOD_TABLE,
	};

	ASSERT_EQ(0, umad_port_find(port));
	*fd = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, *fd);
	ASSERT_EQ(0, rmpp_register(*fd, &agent));
	raw->fd = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, raw->fd);
	ASSERT_EQ(0, rmpp_register(raw->fd, &peer));
	raw->port = port;
	raw->mgmt_class = CLASS_RMPP;
	raw->method = METHOD_TABLE | (serves ? 0 : METHOD_RESP);
}

#define RAW_CLOSE()							\
	do {								\
		close(self->fd);					\
		close(self->raw.fd);					\
		rmpp_msg_free(&self->msg);				\
		rmpp_msg_free(&self->got);				\
	} while (0)

#endif /* RMPP_RAW_FIXTURE_H */
