/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The bytes of MADs that differ between a port and ibsim, and attributes of a port.
 */
#ifndef HWSIM_MAD_H
#define HWSIM_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define MAD_LEN		256
#define MAD_DATA	64	/* where an SMP's attribute begins */
#define MAD_DATA_LEN	64

#define MAD_GET		0x01
#define MAD_SET		0x02

#define MAD_PORT_INFO	0x0015
#define MAD_PKEY_TABLE	0x0016

/* Must be powers of two. */
#define MAD_FLOWS	4096

/**
 * struct mad_flows - outstanding requests of a port
 * @slot: a hash table; of two requests in one slot, the later one stays
 */
struct mad_flows {
	struct {
		__u64 tid;	/* without its upper 16 bits */
		__u16 top;	/* these bits */
		bool set;	/* it is to change a port */
	} slot[MAD_FLOWS];
};

/* What a response means for a port: */
enum mad_news {
	MAD_NO_NEWS,
	MAD_OWN_PORT,		/* it has changed the port it came to */
	MAD_SOME_PORT,		/* it has changed a port */
};

static inline bool mad_is_smp(const __u8 *mad)
{
	return mad[1] == 0x01 || mad[1] == 0x81;
}

static inline bool mad_is_directed(const __u8 *mad)
{
	return mad[1] == 0x81;
}

bool mad_fits_ibsim(const __u8 *mad, size_t len);
void mad_to_ibsim(struct mad_flows *flows, __u8 *mad);
enum mad_news mad_from_ibsim(struct mad_flows *flows, __u8 *mad);

void mad_make_smp(__u8 *mad, __u8 method, __u16 attr, __u32 modifier,
		  const __u8 *data);
bool mad_is_answer(const __u8 *mad, __u16 attr);

void mad_default_prefix(__u8 *port_info);
void mad_set_down(__u8 *port_info);
bool mad_is_sm(const __u8 *port_info);
__u16 mad_full_pkey(const __u8 *pkeys);

#endif
