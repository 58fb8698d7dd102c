// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a hostile caller writes. See fuzz_gen.h; memory is in fuzz_mem.c. */
#include "fuzz_gen.h"

#define CLASS_SMI	0x01
#define CLASS_SMI_DR	0x81
#define METHOD_SET	0x02
#define ANY(rng, list)	(list)[fuzz_below(rng, sizeof(list) / sizeof(*(list)))]

/* The upper halves of some TIDs that ib_core has given out. */
static uint32_t seen_high[8];

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

void fuzz_seed(struct fuzz_rng *rng, uint64_t seed, uint64_t thread,
	       uint64_t call)
{
	rng->state = mix(mix(mix(seed) + thread) + call);
}

uint64_t fuzz_u64(struct fuzz_rng *rng)
{
	rng->state += 0x9e3779b97f4a7c15ull;
	return mix(rng->state);
}

uint32_t fuzz_below(struct fuzz_rng *rng, uint32_t n)
{
	return (fuzz_u64(rng) >> 32) * n >> 32;
}

bool fuzz_one_in(struct fuzz_rng *rng, uint32_t n)
{
	return !fuzz_below(rng, n);
}

/*
 * Agents take turns with their upper halves, so responses find somebody: this is
 * what does not follow from the seed alone.
 */
void fuzz_saw_tid(uint64_t tid)
{
	static unsigned int turn;

	__atomic_store_n(&seen_high[turn++ % 8], tid >> 32, __ATOMIC_RELAXED);
}

/* Each length up to 4 KiB, those that matter more often, some of GBs. */
size_t fuzz_len(struct fuzz_rng *rng)
{
	static const size_t edges[] = {
		0, 1, 23, 24, 35, 36, 55, 56, 63, 64, 91, 92, 99, 100, 119, 120,
		255, 256, 311, 312, 313, 319, 320, 321, 2047, 2048, 2103, 2104,
		2111, 2112, 2113, 4095, 4096, 65536, 1u << 20, 1u << 30,
		(size_t)1 << 31, (size_t)3 << 30, 0x7ffff000, 0x7fffffff,
		0x80000000u, 0xfffff000u, 0xffffffffu, SIZE_MAX / 2, SIZE_MAX,
	};

	if (fuzz_one_in(rng, 3))
		return ANY(rng, edges);
	return fuzz_below(rng, 4097);
}

static uint8_t any_class(struct fuzz_rng *rng)
{
	static const uint8_t classes[] = {
		CLASS_SA, CLASS_SA, CLASS_VENDOR1, CLASS_VENDOR1, CLASS_VENDOR2,
		CLASS_VENDOR2, CLASS_BM, CLASS_DEVMGMT, CLASS_SMI, CLASS_SMI_DR,
		CLASS_SMI_DR, 0x04, 0x07, 0x08, 0x30, 0x4f, 0x00, 0xff,
	};
	uint8_t class = ANY(rng, classes);

	if (fuzz_one_in(rng, 12))
		class = fuzz_below(rng, 256);
	return class == CLASS_LEDGER ? CLASS_VENDOR2 : class;
}

static uint8_t any_method(struct fuzz_rng *rng)
{
	static const uint8_t methods[] = {
		METHOD_GET, METHOD_SEND, METHOD_TRAP, METHOD_REPRESS, 0x12,
		METHOD_TEST, METHOD_TEST, METHOD_TEST2, METHOD_NOBODY,
		METHOD_GET | METHOD_RESP, METHOD_TEST | METHOD_RESP,
		METHOD_TEST2 | METHOD_RESP, 0x92,
	};

	return fuzz_one_in(rng, 12) ? fuzz_below(rng, 256) : ANY(rng, methods);
}

static uint32_t any_timeout(struct fuzz_rng *rng)
{
	static const uint32_t timeouts[] = {
		0, 0, 0, 1, 1, 3, 10, 30, 100, 5000, 0x7fffffff, 0x80000000,
		0xffffffff, 0xfffffffe,
	};

	return ANY(rng, timeouts);
}

static uint32_t any_retries(struct fuzz_rng *rng)
{
	static const uint32_t retries[] = {
		0, 0, 0, 1, 2, 3, 15, 0x7fffffff, 0x80000000, 0xffffffff,
	};

	return ANY(rng, retries);
}

/* An RMPP header, from none to nonsense. */
static void any_rmpp(struct fuzz_rng *rng, uint8_t *mad)
{
	static const uint32_t numbers[] = {
		0, 1, 1, 2, 3, 64, 0x7fffffff, 0xffffffff,
	};
	uint32_t word;

	if (fuzz_one_in(rng, 2))
		return;
	mad[24] = fuzz_one_in(rng, 8) ? fuzz_below(rng, 256) : 1;
	mad[25] = fuzz_below(rng, fuzz_one_in(rng, 8) ? 256 : 6);
	mad[26] = fuzz_below(rng, fuzz_one_in(rng, 4) ? 256 : 8);
	if (fuzz_one_in(rng, 2))
		mad[26] |= 1;
	mad[27] = fuzz_one_in(rng, 8) ? fuzz_below(rng, 256) : 0;
	word = htobe32(ANY(rng, numbers));
	memcpy(mad + 28, &word, 4);
	word = htobe32(fuzz_one_in(rng, 2) ? fuzz_below(rng, 2048) :
					     ANY(rng, numbers));
	memcpy(mad + 32, &word, 4);
}

/* A directed route that begins here, and mostly ends here. */
static void any_route(struct fuzz_rng *rng, struct umad_msg *msg)
{
	uint16_t status = fuzz_one_in(rng, 2) ? 0x8000 : 0;

	msg->hdr.qpn = 0;
	msg->hdr.lid = 0xffff;
	msg->hdr.grh_present = 0;
	if (msg->mad.mgmt_class != CLASS_SMI_DR)
		return;
	msg->mad.status = htobe16(status);
	msg->data[6] = fuzz_one_in(rng, 4) ? fuzz_below(rng, 256) : 0;
	msg->data[7] = fuzz_one_in(rng, 4) ? fuzz_below(rng, 256) : 0;
	memset(msg->data + 32, 0xff, 4);
	msg->mad.attr_id = htobe16(0x0010 + fuzz_below(rng, 17));
}

static void any_address(struct fuzz_rng *rng, struct umad_msg *msg)
{
	if (!fuzz_one_in(rng, 10))
		return;
	msg->hdr.qpn = htobe32(fuzz_below(rng, 4));
	msg->hdr.qkey = fuzz_u64(rng);
	msg->hdr.lid = fuzz_u64(rng);
	msg->hdr.sl = fuzz_u64(rng);
	msg->hdr.path_bits = fuzz_u64(rng);
	msg->hdr.grh_present = fuzz_below(rng, 3);
	msg->hdr.gid_index = fuzz_u64(rng);
	msg->hdr.pkey_index = fuzz_below(rng, 2) ? fuzz_u64(rng) : 0;
	/* Most of those that resolve take no second for it. */
	if (fuzz_one_in(rng, 20))
		msg->hdr.gid[15] = fuzz_u64(rng);
}

/*
 * A header and a MAD, or message, in mem->mad; returns how long it is meant to
 * be. No Set of an SMP: that would change the port under everybody.
 */
size_t fuzz_mad(struct fuzz_rng *rng, struct fuzz_mem *mem,
		const struct test_port *port)
{
	struct umad_msg *msg = (void *)mem->mad;
	size_t len = MSG_LEN, i;

	msg_init(msg, port, fuzz_below(rng, 3), any_class(rng), any_method(rng),
		 fuzz_below(rng, 256));
	if (fuzz_one_in(rng, 8))
		msg->hdr.id = fuzz_u64(rng);
	if (fuzz_one_in(rng, 8))
		msg->mad.tid = fuzz_u64(rng);
	else if (msg->mad.method & METHOD_RESP)
		msg->mad.tid = htobe64((uint64_t)ANY(rng, seen_high) << 32 |
				       fuzz_below(rng, 256));
	msg->hdr.timeout_ms = any_timeout(rng);
	msg->hdr.retries = any_retries(rng);
	msg->hdr.status = fuzz_one_in(rng, 4) ? fuzz_u64(rng) : 0;
	msg->hdr.length = fuzz_one_in(rng, 4) ? fuzz_u64(rng) : 0;
	any_address(rng, msg);
	if (msg->mad.mgmt_class == CLASS_SMI ||
	    msg->mad.mgmt_class == CLASS_SMI_DR)
		any_route(rng, msg);
	else
		any_rmpp(rng, msg->data);
	if (fuzz_one_in(rng, 16))
		for (i = 0; i < MSG_LEN; i += 8)
			*(uint64_t *)(mem->mad + i) = fuzz_u64(rng);
	if (fuzz_one_in(rng, 6))
		len = fuzz_len(rng);
	else if (msg->data[26] & 1 && fuzz_one_in(rng, 4))
		len = fuzz_below(rng, FUZZ_MAX_LEN);
	if (msg->mad.mgmt_class == CLASS_LEDGER)
		msg->mad.mgmt_class = CLASS_VENDOR2;
	if (msg->mad.method == METHOD_SET)
		msg->mad.method = METHOD_GET;
	return len;
}

void fuzz_reg(struct fuzz_rng *rng, struct ib_user_mad_reg_req2 *req)
{
	reg_init(req, any_class(rng), fuzz_below(rng, 3));
	if (req->mgmt_class == CLASS_SA)
		req->mgmt_class_version = 2;
	if (fuzz_one_in(rng, 4))
		req->mgmt_class = 0;
	req->qpn = !(req->mgmt_class == CLASS_SMI ||
		     req->mgmt_class == CLASS_SMI_DR);
	mask_set((uint64_t *)req->method_mask, any_method(rng) & 0x7f);
	if (fuzz_one_in(rng, 4))
		mask_set((uint64_t *)req->method_mask, fuzz_below(rng, 128));
	req->oui = TEST_OUI;
	req->rmpp_version = fuzz_below(rng, 2);
	req->flags = fuzz_one_in(rng, 3);
	if (fuzz_one_in(rng, 10)) {
		req->qpn = fuzz_u64(rng);
		req->oui = fuzz_u64(rng);
		req->rmpp_version = fuzz_u64(rng);
		req->flags = fuzz_u64(rng);
	}
}
