// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fields of a packet: their places, and how to read and write them by name.
 * Self-contained: nothing here allocates, locks or sleeps.
 */
#include "sim_field.h"

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <rdma/ib_mad.h>
#include "sim_compat.h"

/* Which MADs have a field, and where. */
enum sim_field_kind {
	SIM_FIELD_ADDRESS,	/* of struct sim_packet, host order */
	SIM_FIELD_MAD,		/* of the common MAD header, big endian */
	SIM_FIELD_RMPP,		/* of the RMPP header, big endian */
	SIM_FIELD_RMPP_KIND,	/* RMPPType, or 0 if it is not an RMPP packet */
};

/**
 * struct sim_field - a field of a packet
 * @name: in a rule
 * @kind: where to look
 * @offset: from the beginning of the packet or of the MAD
 * @bytes: the bytes that contain it
 * @high: its highest bit in these
 * @low: its lowest bit
 * @types: RMPP types that have the field, as a mask; 0: all
 * @fixed: cannot be set
 */
struct sim_field {
	const char *name;
	enum sim_field_kind kind;
	u16 offset;
	u8 bytes;
	u8 high;
	u8 low;
	u8 types;
	bool fixed;
};

#define AT(member)	offsetof(struct sim_packet, member)
/* RMPP types, as a mask */
#define DATA		BIT(SIM_RMPP_DATA)
#define ACK		BIT(SIM_RMPP_ACK)

/* Offsets in MADs are those of IBA 13.4.2 and 13.6.2. */
static const struct sim_field fields[] = {
	{ "slid", SIM_FIELD_ADDRESS, AT(slid), 4, 31 },
	{ "dlid", SIM_FIELD_ADDRESS, AT(dlid), 4, 31 },
	{ "sqp", SIM_FIELD_ADDRESS, AT(src_qp), 4, 31 },
	{ "dqp", SIM_FIELD_ADDRESS, AT(dest_qp), 4, 31 },
	{ "qkey", SIM_FIELD_ADDRESS, AT(qkey), 4, 31 },
	{ "pkey", SIM_FIELD_ADDRESS, AT(pkey), 2, 15 },
	{ "sl", SIM_FIELD_ADDRESS, AT(sl), 1, 7 },
	{ "len", SIM_FIELD_ADDRESS, AT(len), 4, 31, .fixed = true },
	{ "base", SIM_FIELD_MAD, 0, 1, 7 },
	{ "class", SIM_FIELD_MAD, 1, 1, 7 },
	{ "classver", SIM_FIELD_MAD, 2, 1, 7 },
	{ "method", SIM_FIELD_MAD, 3, 1, 7 },
	{ "status", SIM_FIELD_MAD, 4, 2, 15 },
	{ "tid", SIM_FIELD_MAD, 8, 8, 63 },
	{ "attr", SIM_FIELD_MAD, 16, 2, 15 },
	{ "mod", SIM_FIELD_MAD, 20, 4, 31 },
	{ "rmpp", SIM_FIELD_RMPP_KIND, .high = 7, .fixed = true },
	{ "rmppver", SIM_FIELD_RMPP, 24, 1, 7 },
	{ "rmpptype", SIM_FIELD_RMPP, 25, 1, 7 },
	{ "rtime", SIM_FIELD_RMPP, 26, 1, 7, 3 },
	{ "flags", SIM_FIELD_RMPP, 26, 1, 2, 0 },
	{ "rmppstatus", SIM_FIELD_RMPP, 27, 1, 7 },
	{ "seg", SIM_FIELD_RMPP, 28, 4, 31, 0, DATA | ACK },
	{ "paylen", SIM_FIELD_RMPP, 32, 4, 31, 0, DATA },
	{ "nwl", SIM_FIELD_RMPP, 32, 4, 31, 0, ACK },
};

/* read_host() and write_host() rely on these. */
static_assert(sizeof_field(struct sim_packet, slid) == 4);
static_assert(sizeof_field(struct sim_packet, dlid) == 4);
static_assert(sizeof_field(struct sim_packet, src_qp) == 4);
static_assert(sizeof_field(struct sim_packet, dest_qp) == 4);
static_assert(sizeof_field(struct sim_packet, qkey) == 4);
static_assert(sizeof_field(struct sim_packet, pkey) == 2);
static_assert(sizeof_field(struct sim_packet, sl) == 1);
static_assert(sizeof_field(struct sim_packet, len) == 4);
static_assert(offsetof(struct ib_rmpp_mad, rmpp_hdr) == 24);

/**
 * sim_mad_has_rmpp() - check whether the MAD has an RMPP header
 * @packet: its packet
 *
 * Context: any.
 * Return: true if its class has one, and the MAD is long enough.
 */
bool sim_mad_has_rmpp(const struct sim_packet *packet)
{
	const struct ib_mad_hdr *hdr = (const void *)packet->mad;

	if (packet->len < IB_MGMT_RMPP_HDR)
		return false;
	switch (hdr->mgmt_class) {
	case IB_MGMT_CLASS_SUBN_ADM:
	case IB_MGMT_CLASS_DEVICE_MGMT:
	case IB_MGMT_CLASS_DEVICE_ADM:
	case IB_MGMT_CLASS_BIS:
	case IB_MGMT_CLASS_VENDOR_RANGE2_START ... IB_MGMT_CLASS_VENDOR_RANGE2_END:
		return true;
	}
	return false;
}

/**
 * sim_mad_is_rmpp() - check whether the MAD is an RMPP packet
 * @packet: its packet
 *
 * Context: any.
 * Return: true if it has an RMPP header with the flag Active.
 */
bool sim_mad_is_rmpp(const struct sim_packet *packet)
{
	const struct ib_rmpp_mad *mad = (const void *)packet->mad;

	return sim_mad_has_rmpp(packet) &&
	       (mad->rmpp_hdr.rmpp_rtime_flags & IB_MGMT_RMPP_FLAG_ACTIVE);
}

static u8 rmpp_kind(const struct sim_packet *packet)
{
	const struct ib_rmpp_mad *mad = (const void *)packet->mad;

	return sim_mad_is_rmpp(packet) ? mad->rmpp_hdr.rmpp_type : 0;
}

/* All bytes that contain a field, with their other bits. */
static u64 read_host(const void *at, u8 bytes)
{
	switch (bytes) {
	case 1:
		return *(const u8 *)at;
	case 2:
		return *(const u16 *)at;
	default:
		return *(const u32 *)at;
	}
}

static void write_host(void *at, u8 bytes, u64 raw)
{
	switch (bytes) {
	case 1:
		*(u8 *)at = raw;
		break;
	case 2:
		*(u16 *)at = raw;
		break;
	default:
		*(u32 *)at = raw;
	}
}

static u64 read_wire(const void *at, u8 bytes)
{
	switch (bytes) {
	case 1:
		return *(const u8 *)at;
	case 2:
		return get_unaligned_be16(at);
	case 4:
		return get_unaligned_be32(at);
	default:
		return get_unaligned_be64(at);
	}
}

static void write_wire(void *at, u8 bytes, u64 raw)
{
	switch (bytes) {
	case 1:
		*(u8 *)at = raw;
		break;
	case 2:
		put_unaligned_be16(raw, at);
		break;
	case 4:
		put_unaligned_be32(raw, at);
		break;
	default:
		put_unaligned_be64(raw, at);
	}
}

/**
 * sim_field_find() - look up a field
 * @name: as in a rule
 *
 * Context: any.
 * Return: the field, or NULL.
 */
const struct sim_field *sim_field_find(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

/**
 * sim_field_max() - get the greatest value of a field
 * @field: the field
 *
 * Context: any.
 * Return: the value.
 */
u64 sim_field_max(const struct sim_field *field)
{
	return GENMASK_ULL(field->high - field->low, 0);
}

/**
 * sim_field_settable() - check whether a field can be set
 * @field: the field
 *
 * Context: any.
 * Return: true if it can.
 */
bool sim_field_settable(const struct sim_field *field)
{
	return !field->fixed;
}

/**
 * sim_field_get() - read a field
 * @field: the field
 * @packet: the packet
 * @value: set to its value, if the packet has the field
 *
 * The fields of an RMPP header exist only with the flag Active.
 * Context: any.
 * Return: true if the packet has the field.
 */
bool sim_field_get(const struct sim_field *field,
		   const struct sim_packet *packet, u64 *value)
{
	u64 raw;

	switch (field->kind) {
	case SIM_FIELD_ADDRESS:
		raw = read_host((const u8 *)packet + field->offset,
				field->bytes);
		break;
	case SIM_FIELD_RMPP_KIND:
		raw = rmpp_kind(packet);
		break;
	case SIM_FIELD_RMPP:
		if (!sim_mad_is_rmpp(packet))
			return false;
		if (field->types && (rmpp_kind(packet) > SIM_RMPP_ABORT ||
				     !(field->types & BIT(rmpp_kind(packet)))))
			return false;
		fallthrough;
	default:
		if (field->offset + field->bytes > packet->len)
			return false;
		raw = read_wire(packet->mad + field->offset, field->bytes);
	}
	*value = (raw >> field->low) & sim_field_max(field);
	return true;
}

/**
 * sim_field_set() - write a field
 * @field: the field, which can be set
 * @packet: the packet
 * @value: its new value; bits that do not fit are ignored
 *
 * An RMPP header is also written without the flag Active.
 * Context: any.
 * Return: true if the packet has the field.
 */
bool sim_field_set(const struct sim_field *field, struct sim_packet *packet,
		   u64 value)
{
	u64 mask = sim_field_max(field) << field->low;
	void *at;

	value = (value << field->low) & mask;
	if (field->kind == SIM_FIELD_ADDRESS) {
		at = (u8 *)packet + field->offset;
		write_host(at, field->bytes,
			   (read_host(at, field->bytes) & ~mask) | value);
		return true;
	}
	if (field->kind == SIM_FIELD_RMPP && !sim_mad_has_rmpp(packet))
		return false;
	if (field->offset + field->bytes > packet->len)
		return false;
	at = packet->mad + field->offset;
	write_wire(at, field->bytes,
		   (read_wire(at, field->bytes) & ~mask) | value);
	return true;
}
