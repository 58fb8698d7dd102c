/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Files on the soft-RoCE device rxe0, which send to the port's own GID: what
 * one writes, another one on the same port reads.
 */
#ifndef UMAD_KUNIT_RXE_ENV_H
#define UMAD_KUNIT_RXE_ENV_H

#include <kunit/test.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_user_mad.h>
#include <rdma/ib_verbs.h>
#include "hdr.h"
#include "stats.h"

struct umad_agent;
struct rxe_peer;
struct umad_file;

#define RXE_FILES	4
#define RXE_PORT	1
/* A vendor class with OUI, and with an RMPP header. */
#define RXE_CLASS	0x40
#define RXE_GET		IB_MGMT_METHOD_GET
#define RXE_TIMEOUT_INFINITE	0x80000000

/* Long enough for anything that happens at all, on a slow machine too. */
#define RXE_SOON	(10 * HZ)
/* Long enough for something that must not happen to show. */
#define RXE_WHILE	(HZ / 5)

/**
 * struct rxe_env - a port and what a test has open on it
 * @ib_dev: rxe0, kept until the exit
 * @port: its port, with an active reference until the exit
 * @gid: of the port, IPv6
 * @gid_index: of @gid in the port's table
 * @files: open, NULL for a free slot
 * @peer: stopped in the exit, or NULL
 * @stats: the port's counters when the test began
 */
struct rxe_env {
	struct ib_device *ib_dev;
	struct umad_port *port;
	union ib_gid gid;
	u8 gid_index;
	struct umad_file *files[RXE_FILES];
	struct rxe_peer *peer;
	s64 stats[UMAD_STAT_COUNT];
};

/**
 * struct rxe_record - what a program would have read
 * @hdr: header
 * @mad: the MAD
 * @raw: its bytes
 * @len: bytes of @mad
 */
struct rxe_record {
	struct ib_user_mad_hdr hdr;
	union {
		struct ib_vendor_mad mad;
		u8 raw[sizeof(struct ib_vendor_mad)];
	};
	size_t len;
};

int rxe_env_init(struct kunit *test);
void rxe_env_exit(struct kunit *test);
s64 rxe_stat(struct kunit *test, enum umad_stat stat);
bool rxe_stat_becomes(struct kunit *test, enum umad_stat stat, s64 value);

struct umad_file *rxe_open(struct kunit *test);
void rxe_close(struct kunit *test, struct umad_file *file);
unsigned int rxe_outstanding(struct umad_file *file);
bool rxe_all_done(struct umad_file *file);

void rxe_reg(struct umad_reg *reg, u8 mgmt_class);
u32 rxe_publish(struct kunit *test, struct umad_file *file,
		const struct umad_reg *reg);
u32 rxe_client(struct kunit *test, struct umad_file *file);
u32 rxe_server(struct kunit *test, struct umad_file *file);

void rxe_address(struct kunit *test, struct ib_user_mad_hdr *hdr, u32 id);
struct ib_vendor_mad *rxe_mad(struct kunit *test, u8 method, u64 tid);
int rxe_send(struct kunit *test, struct umad_file *file, u32 id, u64 tid,
	     u32 timeout_ms, u32 retries);
int rxe_reply(struct kunit *test, struct umad_file *file,
	      const struct rxe_record *request, u8 method);

bool rxe_read(struct umad_file *file, struct rxe_record *record,
	      unsigned long jiffies);
void rxe_read_request(struct kunit *test, struct umad_file *file,
		      struct rxe_record *record);
void rxe_read_timeout(struct kunit *test, struct umad_file *file, u64 tid);
unsigned int rxe_read_all(struct umad_file *file);

#endif /* UMAD_KUNIT_RXE_ENV_H */
