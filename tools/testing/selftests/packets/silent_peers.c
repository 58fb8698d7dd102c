// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Nodes of a RoCE network that send messages and whose address does not resolve:
 * each answer to them takes the kernel a second, to no avail. Whoever else sends a
 * message is answered meanwhile, and files close. Needs the setup step rxe-remote.
 */
#include "kselftest_harness.h"
#include "wire.h"

#define FLOOD		4000	/* messages; a second each, one by one: UMAD_FLOOD */
#define SOON_MS		3000
#define REPEAT_MS	500	/* as a sender does that is not answered */
#define METHOD_OTHER	0x13
#define GOOD		0	/* its address resolves */

FIXTURE(silent) {
	struct wire wire;
	int attacked, other;
	uint64_t tid;
};

FIXTURE_VARIANT(silent) {
	uint8_t flags;		/* of the packets that flood */
	uint32_t seg;
	unsigned int sources;	/* that they come from */
};

/* What is complete at once is under no bound of what is being reassembled. */
FIXTURE_VARIANT_ADD(silent, whole_messages) {
	.flags = RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST, .seg = 1,
	.sources = 4,
};

FIXTURE_VARIANT_ADD(silent, begun_messages) {
	.flags = RMPP_ACTIVE | RMPP_FIRST, .seg = 1, .sources = 4,
};

FIXTURE_VARIANT_ADD(silent, begun_messages_of_many) {
	.flags = RMPP_ACTIVE | RMPP_FIRST, .seg = 1, .sources = 100,
};

/* Refused with ABORT. */
FIXTURE_VARIANT_ADD(silent, packets_of_no_message) {
	.flags = RMPP_ACTIVE, .seg = 0, .sources = 4,
};

FIXTURE_SETUP(silent)
{
	struct rmpp_agent server = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.method = METHOD_TABLE,
	};

	ASSERT_EQ(0, wire_open(&self->wire, "roce"));
	self->attacked = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_EQ(0, rmpp_register(self->attacked, &server));
	self->other = umad_open(O_RDWR | O_NONBLOCK);
	server.method = METHOD_OTHER;
	ASSERT_EQ(0, rmpp_register(self->other, &server));
}

FIXTURE_TEARDOWN(silent)
{
	close(self->attacked);
	if (self->other >= 0)
		close(self->other);
	wire_close(&self->wire);
}

/* A DATA packet that somebody sends to the port: GOOD, or a silent one. */
static int data(FIXTURE_DATA(silent) *self, int peer, uint8_t method,
		uint64_t tid, const struct rmpp_pkt *pkt)
{
	struct ib_hwsim_frame frame = { .len = MAD_LEN };
	struct mad_hdr *mad = frame_mad(&frame);

	mad->base_version = 1;
	mad->mgmt_class = CLASS_RMPP;
	mad->class_version = 1;
	mad->method = method;
	mad->tid = htobe64(tid);
	mad->attr_id = htobe16(0x35);
	rmpp_put(frame.mad, pkt);
	mad_put_oui(frame.mad);
	/* Those who are silent have GIDs of their own. */
	wire_from_peer(&self->wire, &frame, GOOD, true);
	frame.grh[GRH_SGID + 12] = peer >> 8;
	frame.grh[GRH_SGID + 13] = peer;
	return wire_inject(&self->wire, &frame);
}

static void flood(struct __test_metadata *_metadata,
		  FIXTURE_DATA(silent) *self,
		  const FIXTURE_VARIANT(silent) *variant)
{
	const struct rmpp_pkt pkt = {
		.version = 1, .type = RMPP_DATA, .flags = variant->flags,
		.seg = variant->seg, .len = variant->flags & RMPP_LAST ?
			RMPP_PAYLOAD : 2 * RMPP_PAYLOAD,
	};
	int i, n = env_long("UMAD_FLOOD", FLOOD);
	struct rmpp_msg got = { 0 };

	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, data(self, 1 + i % variant->sources,
				  METHOD_TABLE, ++self->tid, &pkt));
		/* It reads: its queue stays short. */
		while (fuzz_read(self->attacked, &got) > 0)
			;
		if (i % 64 == 63)
			sleep_ms(1);
	}
	rmpp_msg_free(&got);
}

/* ms until a peer whose address resolves is answered; it may repeat itself. */
static int ms_to_answer(FIXTURE_DATA(silent) *self, uint8_t method,
			bool repeats)
{
	const struct rmpp_pkt first = {
		.version = 1, .type = RMPP_DATA, .seg = 1, .len = RMPP_PAYLOAD,
		.flags = RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST,
	};
	struct ib_hwsim_frame frame;
	uint64_t start = now_ms(), next = start;
	uint64_t tid = ++self->tid;

	while (now_ms() - start < 30000) {
		if (now_ms() >= next) {
			next = repeats ? now_ms() + REPEAT_MS : UINT64_MAX;
			if (data(self, GOOD, method, tid, &first))
				return -EIO;
		}
		if (wire_capture(&self->wire, &frame, 100))
			continue;
		if (wire_peer_of(&self->wire, &frame) == GOOD &&
		    frame_mad(&frame)->tid == htobe64(tid))
			return now_ms() - start;
	}
	return -ETIMEDOUT;
}

TEST_F_TIMEOUT(silent, others_are_answered, 120)
{
	int ms;

	flood(_metadata, self, variant);
	ms = ms_to_answer(self, METHOD_OTHER, true);
	TH_LOG("another file's answered after %d ms", ms);
	EXPECT_LE(0, ms);
	EXPECT_GT(SOON_MS, ms);
	/*
	 * It is in line, and its turn comes; but where too many messages are begun
	 * its own is refused at first, as any other.
	 */
	ms = ms_to_answer(self, METHOD_TABLE, !(variant->flags & RMPP_LAST));
	TH_LOG("the same file's answered after %d ms", ms);
	EXPECT_LE(0, ms);
	EXPECT_GT(SOON_MS, ms);
}

TEST_F_TIMEOUT(silent, other_files_close, 120)
{
	const struct rmpp_pkt first = {
		.version = 1, .type = RMPP_DATA, .seg = 1,
		.len = 2 * RMPP_PAYLOAD, .flags = RMPP_ACTIVE | RMPP_FIRST,
	};
	uint64_t start;

	flood(_metadata, self, variant);
	ASSERT_EQ(0, data(self, 1, METHOD_OTHER, ++self->tid,
			  &first));
	sleep_ms(100);
	start = now_ms();
	close(self->other);
	self->other = -1;
	TH_LOG("closed after %llu ms", (unsigned long long)(now_ms() - start));
	EXPECT_GT(SOON_MS, now_ms() - start);
}

TEST_HARNESS_MAIN
