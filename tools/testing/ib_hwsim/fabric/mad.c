// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * MADs differ between a port and ibsim. ibsim takes a directed-route SMP as its sender
 * made it and delivers it with the hop pointer unchanged, while ib_core has counted the
 * sender's hop and expects the others to be counted (IBA 14.2.2). And ibsim overwrites
 * the upper 16 bits of a request's TID with the client's number, by which it sends the
 * response back.
 */
#include <endian.h>
#include <string.h>

#include "mad.h"

/* Of all MADs: IBA 13.4.3, 14.2.1.2 */
#define BASE_VERSION	0
#define CLASS_VERSION	2
#define METHOD		3
#define STATUS		4
#define HOP_POINTER	6
#define HOP_COUNT	7
#define TID		8
#define ATTR_ID		16
#define ATTR_MODIFIER	20
#define DR_SLID		32
#define DR_DLID		34

#define RESPONSE	0x80	/* in METHOD */
#define DIRECTION	0x80	/* in the first byte of STATUS */
#define PERMISSIVE	0xffff

#define TID_LOW		((1ULL << 48) - 1)

/* Of PortInfo: IBA 14.2.5.6 */
#define PI_GID_PREFIX	8
#define PI_CAPABILITIES	20
#define PI_STATE	32	/* lower half: PortState */
#define PI_PHYS_STATE	33	/* upper half: PortPhysicalState */

#define CAP_IS_SM	0x02
#define STATE_DOWN	0x01
#define PHYS_DISABLED	0x30

#define FULL_MEMBER	0x8000
#define DEFAULT_PKEY	0xffff

static __u16 get16(const __u8 *p)
{
	return p[0] << 8 | p[1];
}

static void put16(__u8 *p, __u16 value)
{
	p[0] = value >> 8;
	p[1] = value;
}

static __u64 get_tid(const __u8 *mad)
{
	__u64 tid;

	memcpy(&tid, mad + TID, sizeof(tid));
	return be64toh(tid);
}

static void put_tid(__u8 *mad, __u64 tid)
{
	tid = htobe64(tid);
	memcpy(mad + TID, &tid, sizeof(tid));
}

static size_t hash(__u64 tid)
{
	return (tid ^ tid >> 29) & (MAD_FLOWS - 1);
}

/* A request that changes what a port is. */
static bool changes_port(const __u8 *mad)
{
	__u16 attr = get16(mad + ATTR_ID);

	return mad_is_smp(mad) && mad[METHOD] == MAD_SET &&
	       (attr == MAD_PORT_INFO || attr == MAD_PKEY_TABLE);
}

/**
 * mad_fits_ibsim() - check whether ibsim can handle a MAD
 * @mad: a MAD
 * @len: its length
 *
 * Return: false for MADs of OPA or of an unknown version, and for directed routes that
 * begin or end in a LID-routed part.
 */
bool mad_fits_ibsim(const __u8 *mad, size_t len)
{
	if (len != MAD_LEN || mad[BASE_VERSION] != 1 || mad[CLASS_VERSION] > 2)
		return false;
	return !mad_is_directed(mad) || (get16(mad + DR_SLID) == PERMISSIVE &&
					 get16(mad + DR_DLID) == PERMISSIVE);
}

/**
 * mad_to_ibsim() - convert a MAD that a port has sent for ibsim
 * @flows: outstanding requests of the port
 * @mad: the MAD
 */
void mad_to_ibsim(struct mad_flows *flows, __u8 *mad)
{
	__u64 tid = get_tid(mad);
	size_t i = hash(tid & TID_LOW);

	/* ib_core has counted one hop already: C14-9:1 and C14-13:1. */
	if (mad_is_directed(mad))
		mad[HOP_POINTER] = 0;
	if (mad[METHOD] & RESPONSE)
		return;		/* the TID has the asker's number */
	flows->slot[i].tid = tid & TID_LOW;
	flows->slot[i].top = tid >> 48;
	flows->slot[i].set = changes_port(mad);
}

/**
 * mad_from_ibsim() - convert a MAD from ibsim for a port
 * @flows: outstanding requests of the port
 * @mad: the MAD
 *
 * Return: which port it has changed, as the response to a Set.
 */
enum mad_news mad_from_ibsim(struct mad_flows *flows, __u8 *mad)
{
	bool known, response = mad[METHOD] & RESPONSE;
	__u64 tid = get_tid(mad) & TID_LOW;
	size_t i = hash(tid);

	if (mad_is_directed(mad)) {
		/*
		 * A response is at the end of its route: C14-13:3. So would be
		 * a request with HopPointer = HopCount, but ib_core passes that
		 * to its SMA, and drops it if the device has none (no
		 * process_mad); a returning MAD goes to the SM.
		 */
		mad[STATUS] |= DIRECTION;
		mad[HOP_POINTER] = response ? 1 : 0;
	}
	if (!response)
		return MAD_NO_NEWS;	/* its TID has to go back as it is */
	known = flows->slot[i].tid == tid;
	put_tid(mad, tid | (known ? (__u64)flows->slot[i].top << 48 : 0));
	if (!known || !flows->slot[i].set)
		return MAD_NO_NEWS;
	if (mad_is_directed(mad) && !mad[HOP_COUNT])
		return MAD_OWN_PORT;
	return MAD_SOME_PORT;
}

/**
 * mad_make_smp() - make a LID-routed SMP
 * @mad: where
 * @method: MAD_GET or MAD_SET
 * @attr: attribute
 * @modifier: its modifier
 * @data: its value, or NULL
 */
void mad_make_smp(__u8 *mad, __u8 method, __u16 attr, __u32 modifier,
		  const __u8 *data)
{
	static __u64 tid;

	memset(mad, 0, MAD_LEN);
	mad[BASE_VERSION] = 1;
	mad[1] = 0x01;
	mad[CLASS_VERSION] = 1;
	mad[METHOD] = method;
	put_tid(mad, ++tid);
	put16(mad + ATTR_ID, attr);
	put16(mad + ATTR_MODIFIER, modifier >> 16);
	put16(mad + ATTR_MODIFIER + 2, modifier);
	if (data)
		memcpy(mad + MAD_DATA, data, MAD_DATA_LEN);
}

/**
 * mad_is_answer() - check for an SMA's response about an attribute, without error
 * @mad: a MAD
 * @attr: attribute
 *
 * Return: whether it is.
 */
bool mad_is_answer(const __u8 *mad, __u16 attr)
{
	return mad_is_smp(mad) && mad[METHOD] == (MAD_GET | RESPONSE) &&
	       !(get16(mad + STATUS) & ~(DIRECTION << 8)) &&
	       get16(mad + ATTR_ID) == attr;
}

/**
 * mad_default_prefix() - set the default prefix if there is none
 * @port_info: PortInfo. ibsim's has 0 until a subnet manager comes, where a
 *	port's has to be fe80::/64.
 */
void mad_default_prefix(__u8 *port_info)
{
	static const __u8 none[8];
	static const __u8 link_local[8] = { 0xfe, 0x80 };

	if (!memcmp(port_info + PI_GID_PREFIX, none, sizeof(none)))
		memcpy(port_info + PI_GID_PREFIX, link_local, sizeof(none));
}

/**
 * mad_set_down() - set a port down
 * @port_info: PortInfo to set. With Polling the port would try to come up again.
 */
void mad_set_down(__u8 *port_info)
{
	port_info[PI_STATE] = (port_info[PI_STATE] & 0xf0) | STATE_DOWN;
	port_info[PI_PHYS_STATE] = (port_info[PI_PHYS_STATE] & 0x0f) |
				   PHYS_DISABLED;
}

/**
 * mad_is_sm() - check the bit IsSM
 * @port_info: PortInfo
 *
 * Return: whether it is set.
 */
bool mad_is_sm(const __u8 *port_info)
{
	return port_info[PI_CAPABILITIES + 3] & CAP_IS_SM;
}

/**
 * mad_full_pkey() - get the P_Key by which a port receives MADs
 * @pkeys: the first block of its table
 *
 * Return: that of the default partition, or the first.
 */
__u16 mad_full_pkey(const __u8 *pkeys)
{
	size_t i;

	for (i = 0; i < MAD_DATA_LEN; i += 2)
		if ((get16(pkeys + i) | FULL_MEMBER) == DEFAULT_PKEY)
			return get16(pkeys + i);
	return get16(pkeys);
}
