/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Helpers shared by the umad selftests: open, register, build, send, receive.
 * Every function that can fail returns a negative errno, never -1 with errno.
 * The wire and user layouts are written down here a second time on purpose:
 * a test must not take its oracle from the code it tests.
 */
#ifndef UMAD_UTIL_H
#define UMAD_UTIL_H

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <rdma/ib_user_mad.h>
#include <rdma/rdma_user_ioctl.h>

#define HDR_NEW		64	/* struct ib_user_mad_hdr */
#define HDR_OLD		56	/* the same without the P_Key index */
#define MAD_LEN		256
#define MAD_HDR_LEN	24
#define MSG_LEN		(HDR_NEW + MAD_LEN)
#define TIMED_OUT_LEN	(HDR_NEW + MAD_HDR_LEN)
#define MAX_AGENTS	32

/* Classes the tests use; nobody else in the guest answers for them. */
#define CLASS_VENDOR1	0x0a	/* vendor range 1: no RMPP, no OUI */
#define CLASS_VENDOR1B	0x0b
#define CLASS_VENDOR2	0x3a	/* vendor range 2: RMPP header and OUI */
#define CLASS_SA	0x03
#define CLASS_BM	0x05
#define CLASS_DEVMGMT	0x06
#define TEST_OUI	0x00aabb

#define METHOD_GET	0x01
#define METHOD_SEND	0x03
#define METHOD_TRAP	0x05
#define METHOD_REPRESS	0x07
#define METHOD_TEST	0x10	/* served by the peer of a fixture */
#define METHOD_TEST2	0x11
#define METHOD_NOBODY	0x1f	/* nobody serves it, ib_core stays silent */
#define METHOD_RESP	0x80

#define GSI_QKEY	0x80010000u

struct mad_hdr {
	uint8_t base_version;
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t method;
	uint16_t status;	/* big endian, like all below */
	uint16_t class_specific;
	uint64_t tid;
	uint16_t attr_id;
	uint16_t resv;
	uint32_t attr_mod;
};

struct umad_msg {
	struct ib_user_mad_hdr hdr;
	union {
		struct mad_hdr mad;
		uint8_t data[1024];
	};
};

/*
 * Where the tests run: device, node, netdev and the IPv6 GID of the port; of an
 * InfiniBand port the LID, and no netdev.
 */
struct test_port {
	char ibdev[64];
	char node[32];		/* "umad0" */
	char netdev[32];
	uint8_t gid[16];
	int gid_index;
	uint16_t lid;
};

int umad_port_find(struct test_port *port);
const char *umad_ibdev(void);
int umad_node_of(const char *ibdev, char *node, size_t len);
int umad_open_node(const char *node, int flags);
int umad_open_ibdev(const char *ibdev, int flags);
int umad_open(int flags);

void mask_set(uint64_t mask[2], unsigned int method);
void reg_init(struct ib_user_mad_reg_req2 *req, uint8_t mgmt_class,
	      uint8_t version);
int umad_reg2(int fd, struct ib_user_mad_reg_req2 *req);
int umad_reg_client(int fd);
int umad_reg_server(int fd, uint8_t mgmt_class, unsigned int method);
int umad_unreg(int fd, uint32_t id);
int umad_ioctl(int fd, unsigned long cmd, void *arg);

void mad_put_oui(uint8_t *mad);
void msg_init(struct umad_msg *msg, const struct test_port *port, uint32_t id,
	      uint8_t mgmt_class, uint8_t method, uint64_t tid);
void msg_init_usual(struct umad_msg *msg, const struct test_port *port, uint32_t id,
		    uint8_t mgmt_class, uint8_t method, uint64_t tid);
void msg_init_silent(struct umad_msg *msg, const struct test_port *port, unsigned int thread,
		     unsigned int n);
void msg_reply(struct umad_msg *reply, const struct umad_msg *req, uint32_t id);
int msg_write_len(int fd, const struct umad_msg *msg, size_t len);
int msg_write(int fd, const struct umad_msg *msg);
int msg_read_len(int fd, struct umad_msg *msg, size_t len, int wait_ms);
int msg_read(int fd, struct umad_msg *msg, int wait_ms);
int msg_round_trip(int fd, int srv, const struct test_port *port, uint64_t tid);
uint32_t msg_tid(const struct umad_msg *msg);
uint64_t msg_tid64(const struct umad_msg *msg);

long umad_counter(const struct test_port *port, const char *name);
int umad_read_file(const char *path, char *buf, size_t len);
int umad_read_sysfs(const char *path, char *buf, size_t len);
int umad_write_sysfs(const char *path, const char *text);
long env_long(const char *name, long value);
bool kernel_from(unsigned int major, unsigned int minor);
bool kernel_debugs(void);

uint64_t now_ms(void);
uint64_t now_us(void);
void sleep_ms(unsigned int ms);

/* A call that runs in a thread of its own, so that a test can see it hang. */
struct side_call {
	pthread_t thread;
	void *(*fn)(void *arg);
	void *arg;
	int done;
	bool started;
};

void side_start(struct side_call *call, void *(*fn)(void *arg), void *arg);
bool side_done(struct side_call *call, unsigned int wait_ms);
void side_join(struct side_call *call);
bool side_kick(struct side_call *call, unsigned int wait_ms);
void side_allow_kick(void);
bool wait_asleep(pid_t tid, unsigned int wait_ms);

#endif /* UMAD_UTIL_H */
