/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Helpers of the tests that need ib_hwsim: devices that come and go, the files
 * of a port, and the far end of its wire. As in umad_util.h, what can fail
 * returns a negative errno.
 */
#ifndef HWSIM_UTIL_H
#define HWSIM_UTIL_H

#include <stddef.h>
#include <stdint.h>

#include "ib_hwsim.h"
#include "umad_util.h"

#define PERMISSIVE	0xffff
#define CLASS_SMI_LID	0x01
#define CLASS_SMI_DR	0x81
#define METHOD_SET	0x02
#define METHOD_GET_RESP	0x81
#define ATTR_NODE_INFO	0x0011
#define ATTR_PORT_INFO	0x0015
#define ATTR_PKEY_TABLE	0x0016
#define SMP_DATA	64	/* where the attribute is in an SMP */

int hwsim_new(unsigned int id, const char *options);
int hwsim_del(unsigned int id);
int hwsim_set(unsigned int id, unsigned int port, const char *file,
	      const char *text);
int hwsim_get(unsigned int id, unsigned int port, const char *file, char *text,
	      size_t len);
long hwsim_counter(unsigned int id, unsigned int port, const char *name);
int hwsim_sysfs(unsigned int id, unsigned int port, const char *file,
		char *text, size_t len);
int hwsim_umad(unsigned int id, unsigned int port, const char *kind, char *node,
	       size_t len);
int hwsim_open(unsigned int id, unsigned int port, int flags);
int hwsim_client(unsigned int id, unsigned int port);
int hwsim_request(int fd, uint8_t mgmt_class, uint64_t tid, int timeout_ms);
int64_t hwsim_late_by(int fd, uint64_t tid, int timeout_ms);

int raw_attach(unsigned int id, unsigned int port);
int raw_read(int fd, struct ib_hwsim_frame *frame, int wait_ms);
int raw_write(int fd, const struct ib_hwsim_frame *frame);
void frame_init(struct ib_hwsim_frame *frame, uint8_t mgmt_class,
		uint8_t method, uint64_t tid);
void frame_smp(struct ib_hwsim_frame *frame, uint8_t method, uint16_t attr,
	       uint32_t modifier);

static inline struct mad_hdr *frame_mad(struct ib_hwsim_frame *frame)
{
	return (struct mad_hdr *)frame->mad;
}

#endif
