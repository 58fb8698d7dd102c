// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The trace events that scripts for the in-tree module read: names and order of the
 * fields, and the text. What stands behind them is the module's own.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/mount.h>
#include "pair_fixture.h"

#define TRACING "/sys/kernel/tracing/"

static const char * const events[] = {
	"ib_umad_write", "ib_umad_read_recv", "ib_umad_read_send",
};

static const char * const fields[] = {
	"port_num", "sl", "path_bits", "grh_present", "id", "status", "timeout_ms",
	"retires", "length", "qpn", "qkey", "gid_index", "hop_limit", "lid",
	"attr_id", "pkey_index", "base_version", "mgmt_class", "class_version",
	"method", "flow_label", "mad_status", "class_specific", "attr_mod", "tid",
	"gid[16]", "dev_index", "traffic_class",
};

FIXTURE(trace) {
	PAIR_MEMBERS;
	char text[65536];
};

static int switch_events(const char *on)
{
	return umad_write_sysfs(TRACING "events/ib_umad/enable", on);
}

FIXTURE_SETUP(trace)
{
	mount("tracefs", TRACING, "tracefs", 0, NULL);
	if (access(TRACING "events/ib_umad", F_OK))
		SKIP(return, "no tracefs");
	PAIR_OPEN(O_RDWR | O_NONBLOCK);
	ASSERT_EQ(0, switch_events("1"));
}

FIXTURE_TEARDOWN(trace)
{
	switch_events("0");
	close(self->fd);
	close(self->peer);
}

TEST_F(trace, fields_are_those_of_the_in_tree_module)
{
	char path[128], *at;
	int i, j;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		snprintf(path, sizeof(path), TRACING "events/ib_umad/%s/format", events[i]);
		ASSERT_EQ(0, umad_read_file(path, self->text, sizeof(self->text)));
		at = strstr(self->text, "\n\n");
		ASSERT_NE(NULL, at);
		for (j = 0; j < ARRAY_SIZE(fields); j++) {
			at = strstr(at, "field:");
			ASSERT_NE(NULL, at);
			at = strchr(at, ';');
			ASSERT_NE(NULL, at);
			EXPECT_EQ(0, strncmp(at - strlen(fields[j]), fields[j],
					     strlen(fields[j]))) {
				TH_LOG("%s: field %d is not %s", events[i], j, fields[j]);
			}
		}
	}
}

/* What the event says of this header and MAD, without device and port. */
static void describe(const struct umad_msg *msg, char *text, size_t len)
{
	const struct ib_user_mad_hdr *hdr = &msg->hdr;
	const struct mad_hdr *mad = &msg->mad;
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, hdr->gid, gid, sizeof(gid));
	snprintf(text, len,
		 "umad_hdr: id 0x%08x status 0x%08x ms %u ret %u len %u QP%u qkey 0x%08x lid 0x%04x sl %u path_bits 0x%x grh 0x%x gidi %u hop_lim %u traf_cl %u gid %s flow 0x%08x pkeyi %u  MAD: base_ver 0x%x class 0x%x class_ver 0x%x method 0x%x status 0x%04x class_specific 0x%04x tid 0x%016llx attr_id 0x%04x attr_mod 0x%08x ",
		 hdr->id, hdr->status, hdr->timeout_ms, hdr->retries, hdr->length,
		 be32toh(hdr->qpn), be32toh(hdr->qkey), be16toh(hdr->lid), hdr->sl,
		 hdr->path_bits, hdr->grh_present, hdr->gid_index, hdr->hop_limit,
		 hdr->traffic_class, gid, be32toh(hdr->flow_label), hdr->pkey_index,
		 mad->base_version, mad->mgmt_class, mad->class_version, mad->method,
		 be16toh(mad->status), be16toh(mad->class_specific),
		 (unsigned long long)be64toh(mad->tid), be16toh(mad->attr_id),
		 be32toh(mad->attr_mod));
}

/* The last event of that name, behind its device and port; NULL if there is none. */
static const char *last_event(FIXTURE_DATA(trace) *self, const char *name)
{
	const char *found = NULL, *at;
	char mark[64];

	snprintf(mark, sizeof(mark), " %s: ", name);
	if (umad_read_file(TRACING "trace", self->text, sizeof(self->text)))
		return NULL;
	for (at = self->text; (at = strstr(at, mark)); at++)
		found = at;
	return found ? strstr(found, "umad_hdr: ") : NULL;
}

static void expect_event(struct __test_metadata *_metadata, FIXTURE_DATA(trace) *self,
			 const char *name, const struct umad_msg *msg)
{
	const char *said = last_event(self, name);
	char text[512];

	ASSERT_NE(NULL, said);
	describe(msg, text, sizeof(text));
	EXPECT_EQ(0, strncmp(said, text, strlen(text))) {
		TH_LOG("%s: wanted %s", name, text);
		TH_LOG("is %.600s", said);
	}
}

TEST_F(trace, text_of_a_MAD_written_and_read)
{
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 0x1234);
	self->msg.mad.attr_id = htobe16(0x21);
	self->msg.mad.attr_mod = htobe32(0x87654321);
	self->msg.hdr.timeout_ms = 300;
	self->msg.hdr.retries = 0;
	ASSERT_LE(0, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	expect_event(_metadata, self, "ib_umad_write", &self->msg);
	expect_event(_metadata, self, "ib_umad_read_recv", &self->got);
	/* Nobody answers. */
	ASSERT_LE(0, msg_read(self->fd, &self->got, 10000));
	ASSERT_EQ(ETIMEDOUT, self->got.hdr.status);
	expect_event(_metadata, self, "ib_umad_read_send", &self->got);
}

TEST_HARNESS_MAIN
