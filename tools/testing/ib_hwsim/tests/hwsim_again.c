// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Each further attempt has the bytes of the first, whatever has become of the buffer that
 * this was in: it waits, has failed, or has been used up by a response that came to nothing.
 */
#include "hwsim_peers.h"

#define TIMEOUT	100	/* ms */
#define RETRIES	3
#define OTHER	(DEVICE + 1)	/* device */

/* How many attempts of it leave, the one that has been seen included; those that differ. */
static int attempts(FIXTURE_DATA(peers) *self, int *differ)
{
	const struct ib_hwsim_frame first = self->seen;
	const struct mad_hdr *mad = (const struct mad_hdr *)first.mad;
	int n = 1;

	*differ = 0;
	while (see(self, 10 * TIMEOUT) >= 0) {
		/* Nor an ACK of what has come of its answer. */
		if (frame_mad(&self->seen)->tid != mad->tid ||
		    frame_mad(&self->seen)->method != mad->method ||
		    self->pkt.flags & RMPP_ACTIVE)
			continue;
		n++;
		*differ += !!memcmp(first.mad, self->seen.mad, MAD_LEN);
	}
	return n;
}

static void expect_attempts(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			    int wanted)
{
	int differ;

	EXPECT_EQ(wanted, attempts(self, &differ));
	EXPECT_EQ(0, differ);
}

/* A response comes at once. */
static void expect_read(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			uint32_t status)
{
	ASSERT_LE(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, status ? SOON : WHILE));
	EXPECT_EQ(status, rmpp_user_hdr(&self->got)->status);
}

static int ask(FIXTURE_DATA(peers) *self, uint64_t *tid)
{
	self->asked++;
	return request_retried(self, 180, TIMEOUT, RETRIES, tid);
}

TEST_F(peers, nobody_answers)
{
	uint64_t tid;

	ASSERT_EQ(0, ask(self, &tid));
	expect_attempts(_metadata, self, 1 + RETRIES);
}

/* Of them ib_core counts the hops, in the buffer itself. */
TEST_F(peers, directed_route_SMP)
{
	struct umad_msg msg = { .hdr = { .lid = htobe16(PERMISSIVE), .timeout_ms = TIMEOUT,
					 .retries = RETRIES } };
	struct ib_user_mad_reg_req2 req;
	int fd, i;

	fd = hwsim_open(DEVICE, 1, O_RDWR);
	reg_init(&req, 0, 0);
	req.qpn = 0;
	ASSERT_EQ(0, umad_reg2(fd, &req));
	for (i = 24; i < MAD_LEN; i++)
		msg.data[i] = i;
	msg.mad = (struct mad_hdr){ .base_version = 1, .mgmt_class = CLASS_SMI_DR,
				    .class_version = 1, .method = METHOD_GET,
				    .attr_id = htobe16(ATTR_NODE_INFO), .tid = htobe64(77) };
	/* Two hops: the first is to leave by port 1. */
	msg.data[7] = 2;
	memset(msg.data + 32, 0xff, 4);
	msg.data[129] = 1;
	msg.data[130] = 5;
	ASSERT_EQ(MSG_LEN, msg_write(fd, &msg));
	ASSERT_LE(0, see(self, SOON));
	EXPECT_EQ(1, self->seen.mad[6]);
	expect_attempts(_metadata, self, 1 + RETRIES);
	close(fd);
}

/*
 * Nor without retries. What came at another port is not the response, and uses up what waits
 * for that: the copy must not be taken for one that has come home, or this host would answer.
 */
TEST_F(peers, directed_route_SMP_without_retries)
{
	struct umad_msg msg = { .hdr = { .lid = htobe16(PERMISSIVE), .timeout_ms = SOON } };
	struct ib_hwsim_frame first;
	struct ib_user_mad_reg_req2 req;
	int fd, other;

	ASSERT_EQ(0, hwsim_new(OTHER, "lid=0x21"));
	other = raw_attach(OTHER, 1);
	ASSERT_LE(0, other);
	fd = hwsim_open(DEVICE, 1, O_RDWR);
	reg_init(&req, 0, 0);
	req.qpn = 0;
	ASSERT_EQ(0, umad_reg2(fd, &req));
	memset(msg.data, 0, MAD_LEN);
	msg.mad = (struct mad_hdr){ .base_version = 1, .mgmt_class = CLASS_SMI_DR,
				    .class_version = 1, .method = METHOD_GET,
				    .attr_id = htobe16(ATTR_NODE_INFO), .tid = htobe64(77) };
	msg.data[7] = 1;
	memset(msg.data + 32, 0xff, 4);
	msg.data[129] = 1;
	ASSERT_EQ(MSG_LEN, msg_write(fd, &msg));
	ASSERT_LE(0, see(self, SOON));
	first = self->seen;
	self->frame = first;
	frame_mad(&self->frame)->method |= METHOD_RESP;
	frame_mad(&self->frame)->status = htobe16(0x8000);
	ASSERT_EQ(0, raw_write(other, &self->frame));
	/* In-tree takes that for the response. */
	if (!access("/sys/module/ib_umad/parameters/recv_budget", F_OK)) {
		EXPECT_LE(0, see(self, SOON));
		EXPECT_EQ(0, memcmp(first.mad, self->seen.mad, MAD_LEN));
		memset(self->frame.mad + 64, 0xbb, 40);
		ASSERT_EQ(0, raw_write(self->wire, &self->frame));
		EXPECT_EQ(MSG_LEN, msg_read(fd, &msg, SOON));
		EXPECT_EQ(0, msg.hdr.status);
		EXPECT_EQ(0xbb, msg.data[64]);
	}
	close(fd);
	close(other);
	EXPECT_EQ(0, hwsim_del(OTHER));
}

TEST_F(peers, first_attempt_fails)
{
	uint64_t tid;

	ASSERT_EQ(0, set_fail("send_wc", "nth 1"));
	ASSERT_EQ(0, ask(self, &tid));
	EXPECT_EQ(tid, be64toh(frame_mad(&self->seen)->tid));
	/* The first has not left. */
	expect_attempts(_metadata, self, RETRIES);
}

TEST_F(peers, answer_is_aborted)
{
	uint64_t tid;

	ASSERT_EQ(0, ask(self, &tid));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1000));
	sleep_ms(TIMEOUT / 10);
	ASSERT_EQ(0, abort_answer(self, tid));
	expect_attempts(_metadata, self, 1 + RETRIES);
}

/* From now on agent 0 is of a file that can keep so many bytes. */
static int use_file_with_budget(FIXTURE_DATA(peers) *self, long bytes)
{
	long budget = rmpp_param_set("recv_budget", bytes);

	close(self->fd);
	self->fd = open_server(METHOD_TABLE);
	if (budget >= 0)
		rmpp_param_set("recv_budget", budget);
	return self->fd < 0 ? self->fd : 0;
}

static int use_file_without_budget(FIXTURE_DATA(peers) *self)
{
	return use_file_with_budget(self, 0);
}

TEST_F(peers, answer_cannot_be_kept)
{
	uint64_t tid;

	ASSERT_EQ(0, use_file_without_budget(self));
	ASSERT_EQ(0, ask(self, &tid));
	ASSERT_EQ(0, answer_plainly(self, tid));
	expect_attempts(_metadata, self, 1 + RETRIES);
	EXPECT_EQ(1, module_counter(self, "recv_dropped_budget"));
}

/* Until its deadline another response may come, which ib_core must not drop. */
static void expect_response_is_seen(struct __test_metadata *_metadata,
				    FIXTURE_DATA(peers) *self, uint64_t tid)
{
	long seen;

	EXPECT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 0));
	seen = module_counter(self, "recv_dropped_budget");
	ASSERT_EQ(0, answer_plainly(self, tid));
	sleep_ms(WHILE);
	EXPECT_EQ(seen + 1, module_counter(self, "recv_dropped_budget"));
}

TEST_F(peers, response_of_one_MAD_to_a_message_cannot_be_kept)
{
	uint64_t tid;

	ASSERT_EQ(0, use_file_without_budget(self));
	ASSERT_EQ(0, message_arrived(self, 2 * SOON, &tid));
	ASSERT_EQ(0, answer_plainly(self, tid));
	expect_response_is_seen(_metadata, self, tid);
}

TEST_F(peers, response_to_a_message_cannot_begin)
{
	uint64_t tid;

	ASSERT_EQ(0, use_file_without_budget(self));
	ASSERT_EQ(0, message_arrived(self, 2 * SOON, &tid));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1000));
	expect_response_is_seen(_metadata, self, tid);
	EXPECT_EQ(1, module_counter(self, "rmpp_refused"));
}

/* Nor is one sent for each of them: 10 a second. */
TEST_F(peers, responses_to_a_message_cannot_begin)
{
	uint64_t tid;
	int i, n = 0;

	ASSERT_EQ(0, use_file_without_budget(self));
	ASSERT_EQ(0, message_arrived(self, 2 * SOON, &tid));
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1000));
		while (see(self, 5) >= 0)
			n += self->pkt.type == RMPP_ACK && !self->pkt.seg;
	}
	EXPECT_LE(1, n);
	EXPECT_GE(10, n);
}

/* Without a deadline: no other response will come. */
TEST_F(peers, response_cannot_be_kept_and_what_waits_for_it_fails)
{
	uint64_t tid;

	ASSERT_EQ(0, use_file_without_budget(self));
	ASSERT_EQ(0, message_arrived(self, -1, &tid));
	ASSERT_EQ(0, abort_answer(self, tid));
	ASSERT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 0));
	ASSERT_EQ(0, set_fail("send_wc", "nth 1"));
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	ASSERT_EQ(0, abort_answer(self, tid));
	sleep_ms(WHILE);
	ASSERT_EQ(0, answer_plainly(self, tid));
	sleep_ms(WHILE);
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	expect_read(_metadata, self, ETIMEDOUT);
}

/* The same, if ib_core takes it for the response to one that has expired. */
TEST_F(peers, response_after_a_timeout_cannot_be_kept)
{
	uint64_t tid;

	ASSERT_EQ(0, use_file_without_budget(self));
	ASSERT_EQ(0, request(self, 100, TIMEOUT, &tid));
	ASSERT_LE(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	ASSERT_EQ(0, request(self, 100, -1, &tid));
	ASSERT_EQ(0, answer_plainly(self, tid));
	expect_read(_metadata, self, ETIMEDOUT);
	EXPECT_EQ(1, module_counter(self, "recv_dropped_budget"));
}

/* But not that of a message on its way, which nobody has to answer yet. */
TEST_F(peers, response_after_a_timeout_cannot_be_kept_while_a_message_is_sent)
{
	uint64_t tid;

	ASSERT_EQ(0, use_file_without_budget(self));
	ASSERT_EQ(0, request(self, 100, TIMEOUT, &tid));
	ASSERT_LE(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	ASSERT_EQ(0, request(self, 3 * SEG, -1, &tid));
	ASSERT_EQ(0, answer_plainly(self, tid));
	EXPECT_GT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, WHILE));
	EXPECT_EQ(1, module_counter(self, "recv_dropped_budget"));
	ASSERT_EQ(0, peer_acks(self, tid, 1, 10));
	EXPECT_EQ(RMPP_DATA, see_packet(self, tid, RMPP_DATA, 3));
}

/* What nobody asked for fills the budget, and the plain response of the first peer is dropped. */
static void lose_plain_response(struct __test_metadata *_metadata,
				FIXTURE_DATA(peers) *self, uint64_t tid)
{
	static const struct rmpp_pkt plain;
	uint64_t other;
	long dropped;

	for (other = 1; other <= 100; other++)
		ASSERT_EQ(0, inject(self, 0, METHOD_TABLE, other, &plain));
	sleep_ms(WHILE);
	dropped = module_counter(self, "recv_dropped_budget");
	ASSERT_LT(0, dropped);
	ASSERT_EQ(0, answer_plainly(self, tid));
	sleep_ms(WHILE);
	EXPECT_EQ(dropped + 1, module_counter(self, "recv_dropped_budget"));
}

/* All is read, and nothing of it is a timeout. */
static void expect_no_timeout(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self)
{
	while (rmpp_msg_read(self->fd, &self->got, HDR_NEW, WHILE) >= 0)
		EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
}

/*
 * Nor what is being answered: the response of several segments is read. So many requests
 * have expired; ib_core takes for the response to each what comes first: the ACKs of a message
 * of two segments, then the first segment, then the plain response, or takes that for the
 * response to the request itself.
 */
static void lose_one_beside_another(struct __test_metadata *_metadata,
				    FIXTURE_DATA(peers) *self, int expired, uint32_t acks)
{
	uint64_t tid;
	uint32_t seg;

	ASSERT_EQ(0, use_file_with_budget(self, 16384));
	while (expired--) {
		ASSERT_EQ(0, request(self, 100, TIMEOUT, &tid));
		ASSERT_LE(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	}
	ASSERT_EQ(0, request(self, acks ? 2 * SEG : 100, -1, &tid));
	for (seg = 1; seg <= acks; seg++) {
		ASSERT_EQ(0, peer_acks(self, tid, seg, 10));
		ASSERT_EQ(0, seg == 1 ? see_packet(self, tid, RMPP_DATA, 2) != RMPP_DATA :
					see_turn(self, SOON));
	}
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 3));
	ASSERT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 1));
	lose_plain_response(_metadata, self, tid);
	expect_no_timeout(_metadata, self);
	for (seg = 2; seg <= 3; seg++) {
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, seg, 3));
		EXPECT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, seg));
	}
	expect_read(_metadata, self, 0);
}

TEST_F(peers, response_after_a_timeout_cannot_be_kept_beside_another)
{
	lose_one_beside_another(_metadata, self, 2, 0);
}

TEST_F(peers, response_cannot_be_kept_beside_another)
{
	lose_one_beside_another(_metadata, self, 1, 0);
}

TEST_F(peers, response_to_a_message_cannot_be_kept_beside_another)
{
	lose_one_beside_another(_metadata, self, 3, 2);
}

/* The response begins before the last ACK. */
TEST_F(peers, response_to_a_last_segment_cannot_be_kept_beside_another)
{
	lose_one_beside_another(_metadata, self, 2, 1);
}

/* Nor one to another node, which has yet to answer. */
TEST_F(peers, late_response_of_another_node_cannot_be_kept)
{
	static const struct rmpp_pkt plain;
	uint64_t tid;

	ASSERT_EQ(0, use_file_with_budget(self, 16384));
	ASSERT_EQ(0, request(self, 100, TIMEOUT, &tid));
	ASSERT_LE(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	self->port.lid = PEER + 1;
	ASSERT_EQ(0, request(self, 100, -1, &tid));
	lose_plain_response(_metadata, self, tid);
	expect_no_timeout(_metadata, self);
	ASSERT_EQ(0, inject(self, 1, METHOD_TABLE | METHOD_RESP, tid, &plain));
	expect_read(_metadata, self, 0);
	EXPECT_EQ(htobe16(PEER + 1), rmpp_user_hdr(&self->got)->lid);
}

/* The same, with two nodes behind a router, which has one LID. */
TEST_F(peers, late_response_of_another_node_cannot_be_kept_behind_a_router)
{
	uint64_t tid;

	ASSERT_EQ(0, use_file_with_budget(self, 16384));
	ASSERT_EQ(0, use_gid(self, 1));
	memcpy(self->port.gid, self->grh + 8, sizeof(self->port.gid));
	ASSERT_EQ(0, request(self, 100, TIMEOUT, &tid));
	ASSERT_LE(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	rmpp_user_hdr(&self->msg)->timeout_ms = -1;
	rmpp_user_hdr(&self->msg)->gid[15] = 2;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	lose_plain_response(_metadata, self, tid);
	expect_no_timeout(_metadata, self);
	self->grh[23] = 2;
	ASSERT_EQ(0, answer_plainly(self, tid));
	expect_read(_metadata, self, 0);
}

/* A process that does RMPP itself asks, and cannot keep what comes. */
static int ask_without_rmpp(FIXTURE_DATA(peers) *self, uint64_t *tid)
{
	const struct rmpp_agent agent = { .mgmt_class = CLASS_RMPP };

	return use_file_without_budget(self) ?: umad_unreg(self->fd, 0) ?:
	       rmpp_register(self->fd, &agent) ?: request(self, 100, -1, tid);
}

TEST_F(peers, ABORT_for_the_process_cannot_be_kept)
{
	uint64_t tid;

	ASSERT_EQ(0, ask_without_rmpp(self, &tid));
	ASSERT_EQ(0, abort_answer(self, tid));
	expect_read(_metadata, self, ETIMEDOUT);
}

/* A segment is sent again. */
TEST_F(peers, segment_for_the_process_cannot_be_kept)
{
	uint64_t tid;

	ASSERT_EQ(0, ask_without_rmpp(self, &tid));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 3));
	EXPECT_GT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, WHILE));
	EXPECT_EQ(1, module_counter(self, "recv_dropped_budget"));
}

/* It is read, though a longer one was to come before it. */
static void expect_response_is_read(struct __test_metadata *_metadata,
				    FIXTURE_DATA(peers) *self, uint64_t tid)
{
	EXPECT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 0));
	ASSERT_EQ(0, answer_plainly(self, tid));
	expect_read(_metadata, self, 0);
}

TEST_F(peers, response_of_one_MAD_follows_one_that_is_too_long)
{
	uint64_t tid;
	long max;

	ASSERT_EQ(0, message_arrived(self, 2 * SOON, &tid));
	max = rmpp_param_set("rmpp_max_message", 10000);
	EXPECT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1000));
	sleep_ms(50);
	if (max >= 0)
		rmpp_param_set("rmpp_max_message", max);
	expect_response_is_read(_metadata, self, tid);
}

TEST_F(peers, response_of_one_MAD_follows_one_that_is_aborted)
{
	uint64_t tid;

	ASSERT_EQ(0, message_arrived(self, 2 * SOON, &tid));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1000));
	ASSERT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 1));
	ASSERT_EQ(0, abort_answer(self, tid));
	expect_response_is_read(_metadata, self, tid);
}

/* The one that comes is not it. */
TEST_F(peers, second_response_to_a_message_is_evicted)
{
	long peer = rmpp_param_set("rmpp_peer_transfers", 1);
	uint64_t tid;

	ASSERT_LT(0, peer);
	ASSERT_EQ(0, message_arrived(self, -1, &tid));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1000));
	ASSERT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 1));
	self->qpn = 5;
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1000));
	ASSERT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 1));
	sleep_ms(1500);
	self->qpn = 0;
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 1, 1, 1000));
	ASSERT_EQ(RMPP_ACK, see_packet(self, 1, RMPP_ACK, 1));
	rmpp_param_set("rmpp_peer_transfers", peer);
	EXPECT_EQ(1, module_counter(self, "rmpp_evicted"));
	EXPECT_GT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, WHILE));
	/* In the window that its ACK has granted. */
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 2, 1000));
	EXPECT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 2));
}

TEST_HARNESS_MAIN
