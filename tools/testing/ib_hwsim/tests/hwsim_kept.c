// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process of a small cgroup that is answered, and does not read: what is whole counts with
 * what is coming.
 */
#include "hwsim_victim.h"

#define SMALL	(LIMIT / 4)
#define MESSAGE	2150		/* segments, 0.46 MB */
#define ANSWER	9500		/* 2.05 MB */
#define FIRST	200		/* of the peers that send what nobody has asked for */
#define PEERS	14
#define OTHER	33		/* device */
#define MADS	6000

struct sender {
	uint64_t tid;
	uint32_t next, allowed;
};

struct seen {
	unsigned int acks, stops;
};

/* What the module says to these, until it says nothing for so long. */
static void hear(FIXTURE_DATA(peers) *self, struct sender *senders, unsigned int n,
		 struct seen *seen, int wait_ms)
{
	unsigned int i;
	uint64_t tid;
	int type;

	for (; (type = see(self, wait_ms)) >= 0; wait_ms = 0) {
		seen->stops += type == RMPP_STOP;
		seen->acks += type == RMPP_ACK;
		tid = be64toh(frame_mad(&self->seen)->tid);
		for (i = 0; type == RMPP_ACK && i < n; i++)
			if (senders[i].tid == tid && self->pkt.len > senders[i].allowed)
				senders[i].allowed = self->pkt.len;
	}
}

/* Up to that segment, or until one is told to stop. */
static int send_to(FIXTURE_DATA(peers) *self, uint16_t peer, uint8_t method,
		   struct sender *sender, uint32_t last, uint32_t segs, struct seen *seen)
{
	unsigned int tries = 0, stops = seen->stops;
	int ret = 0;

	while (!ret && sender->next <= last && seen->stops == stops && tries < 1000) {
		if (sender->next > sender->allowed) {
			hear(self, sender, 1, seen, 1);
			tries++;
			continue;
		}
		ret = inject_data(self, peer, method, sender->tid, sender->next++, segs);
		tries = 0;
	}
	return ret;
}

/* Messages that nobody has asked for have all begun, and become whole one by one. */
static int send_unasked(FIXTURE_DATA(peers) *self, unsigned int peers, struct seen *seen)
{
	struct sender senders[PEERS];
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < peers; i++) {
		senders[i] = (struct sender){ .tid = FIRST + i, .next = 2, .allowed = 1 };
		ret = inject_data(self, FIRST + i, METHOD_TABLE, FIRST + i, 1, MESSAGE);
		hear(self, senders, i + 1, seen, 1);
	}
	for (i = 0; !ret && i < peers; i++)
		ret = send_to(self, FIRST + i, METHOD_TABLE, &senders[i], MESSAGE, MESSAGE, seen);
	return ret;
}

TEST_F_TIMEOUT(peers, unasked_messages_and_what_is_unread_leave_room, 250)
{
	const struct victim victim = { .limit = SMALL, .files = 1, .own = 1 << 20 };
	struct seen seen = {};
	pid_t pid = start_victim(self, &victim);

	if (pid == -EOPNOTSUPP)
		SKIP(return, "no memory cgroups");
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, send_unasked(self, PEERS, &seen));
	TH_LOG("%u ACKs, %u STOPs; memory.current %ld", seen.acks, seen.stops,
	       cgroup_get(CGROUP, "memory.current"));
	EXPECT_LT(0, seen.stops);
	EXPECT_TRUE(lives(pid));
	end_victim(pid);
}

/* Each is less than half of the cgroup; all together are not. */
static void answers(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
		    unsigned int asks, unsigned int unasked)
{
	const struct victim victim = { .limit = SMALL, .files = 1, .asks = asks };
	struct sender senders[3];
	struct seen seen = {};
	unsigned int i;
	pid_t pid;

	pid = start_victim(self, &victim);
	if (pid == -EOPNOTSUPP)
		SKIP(return, "no memory cgroups");
	ASSERT_LT(0, pid);
	for (i = 0; i < asks; i++) {
		ASSERT_LE(0, see(self, SOON));
		senders[i] = (struct sender){ .next = 2, .allowed = 1 };
		senders[i].tid = be64toh(frame_mad(&self->seen)->tid);
	}
	for (i = 0; i < asks; i++)
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, senders[i].tid, 1,
					 ANSWER));
	hear(self, senders, asks, &seen, 20);
	ASSERT_EQ(0, send_unasked(self, unasked, &seen));
	for (i = 0; i < asks; i++)
		ASSERT_EQ(0, send_to(self, 0, METHOD_TABLE | METHOD_RESP, &senders[i],
				     ANSWER, ANSWER, &seen));
	TH_LOG("%u ACKs, %u STOPs; memory.current %ld", seen.acks, seen.stops,
	       cgroup_get(CGROUP, "memory.current"));
	EXPECT_LT(0, seen.stops);
	EXPECT_TRUE(lives(pid));
	end_victim(pid);
}

TEST_F_TIMEOUT(peers, answers_one_after_another, 200)
{
	answers(_metadata, self, 3, 0);
}

TEST_F_TIMEOUT(peers, answer_beside_unasked_messages, 200)
{
	answers(_metadata, self, 1, 8);
}

/* Plain MADs for the device's only file. */
static int flood(int wire, uint16_t lid)
{
	static const struct rmpp_pkt pkt;
	struct ib_hwsim_frame frame;
	int i, ret = 0;

	for (i = 0; !ret && i < MADS; i++) {
		frame_init(&frame, CLASS_RMPP, METHOD_TABLE, 1000 + i);
		frame.slid = PEER + i % 8;
		frame.dlid = lid;
		rmpp_put(frame.mad, &pkt);
		frame.mad[36] = 0;
		mad_put_oui(frame.mad);
		ret = raw_write(wire, &frame);
	}
	return ret;
}

/* A file of a device that has gone keeps nothing from others of its cgroup. */
TEST_F_TIMEOUT(peers, unread_of_a_device_that_has_gone_does_not_count, 60)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = METHOD_TABLE,
	};
	static struct umad_msg msg;
	int other, fd, gone, n = 0;

	if (cgroup_make(CGROUP) || cgroup_set(CGROUP, "memory.max", SMALL))
		SKIP(return, "no memory cgroups");
	close(self->fd);
	ASSERT_EQ(0, hwsim_new(OTHER, "lid=0x21"));
	other = raw_attach(OTHER, 1);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, cgroup_enter(CGROUP));
	gone = hwsim_open(OTHER, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, gone);
	ASSERT_EQ(0, rmpp_register(gone, &agent));
	fd = open_server(METHOD_TABLE);
	self->fd = fd;
	ASSERT_EQ(0, flood(other, 0x21));
	close(other);
	ASSERT_EQ(0, hwsim_del(OTHER));
	ASSERT_EQ(0, flood(self->wire, LID));
	sleep_ms(200);
	while (read(fd, &msg, sizeof(msg)) > 0)
		n++;
	TH_LOG("%d MADs", n);
	EXPECT_LT(2000, n);
	close(gone);
	cgroup_enter("");
	cgroup_remove(CGROUP);
}

TEST_HARNESS_MAIN
