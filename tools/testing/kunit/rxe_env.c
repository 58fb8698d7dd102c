// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rxe_env.h"

#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "agent.h"
#include "cdev.h"
#include "device.h"
#include "file.h"
#include "active_ref.h"
#include "port.h"
#include "register.h"
#include "rxe_peer.h"
#include "request.h"
#include "send.h"

static const u8 oui[3] = { 0x12, 0x34, 0x56 };

/* A GID with which ib_core matches responses: no IPv4 address in it. */
static bool find_gid(struct rxe_env *env)
{
	const struct ib_gid_attr *attr;
	bool ipv6;
	int i;

	for (i = 0; i < 256; i++) {
		attr = rdma_get_gid_attr(env->ib_dev, RXE_PORT, i);
		if (IS_ERR(attr))
			continue;
		ipv6 = attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		       !ipv6_addr_v4mapped((const void *)&attr->gid);
		env->gid = attr->gid;
		env->gid_index = i;
		rdma_put_gid_attr(attr);
		/* Over a link-local one too, but better not. */
		if (ipv6 && !rdma_is_zero_gid(&env->gid) &&
		    !rdma_link_local_addr((void *)&env->gid))
			return true;
	}
	return false;
}

static s64 stat_now(const struct rxe_env *env, enum umad_stat stat)
{
	return umad_stat_read(&env->port->stats, stat);
}

static struct ib_device *rxe;

static int look_at_device(struct ib_device *ib_dev)
{
	if (!strcmp(dev_name(&ib_dev->dev), "rxe0") && ib_device_try_get(ib_dev))
		rxe = ib_dev;
	return -EOPNOTSUPP;
}

/* ib_core shows a new client all devices; to be asked for one by name is gone in 7.x. */
static struct ib_device *find_device(void)
{
	struct ib_client client = { .name = "umad_kunit", .add = look_at_device };

	rxe = NULL;
	if (ib_register_client(&client))
		return NULL;
	ib_unregister_client(&client);
	return rxe;
}

/**
 * rxe_env_init() - the suites' init: find the port, or skip the test
 * @test: gets a &struct rxe_env as its private data
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int rxe_env_init(struct kunit *test)
{
	struct umad_port *port;
	struct rxe_env *env;
	unsigned int i;

	env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	if (!env)
		return -ENOMEM;
	test->priv = env;
	env->ib_dev = find_device();
	if (!env->ib_dev)
		kunit_skip(test, "there is no rxe0");
	port = umad_port_find(env->ib_dev, RXE_PORT);
	if (port && !umad_active_ref_tryget(&port->active_ref)) {
		umad_port_put(port);
		port = NULL;
	}
	env->port = port;
	if (!port)
		kunit_skip(test, "ib_umad has no rxe0");
	if (!find_gid(env))
		kunit_skip(test, "rxe0 has no IPv6 GID but the link-local");
	for (i = 0; i < UMAD_STAT_COUNT; i++)
		env->stats[i] = stat_now(env, i);
	return 0;
}

/**
 * rxe_env_exit() - the suites' exit: close what the test has left open
 * @test: may have been aborted
 *
 * Context: process.
 */
void rxe_env_exit(struct kunit *test)
{
	struct rxe_env *env = test->priv;
	int i;

	if (!env)
		return;
	for (i = 0; i < RXE_FILES; i++)
		if (env->files[i])
			rxe_close(test, env->files[i]);
	rxe_peer_stop(env->peer);
	if (env->port) {
		umad_active_ref_put(&env->port->active_ref);
		umad_port_put(env->port);
	}
	if (env->ib_dev)
		ib_device_put(env->ib_dev);
}

/**
 * rxe_stat() - what the test has made of a counter
 * @test: that counts
 * @stat: which
 *
 * Context: any.
 * Return: by how much it has risen since the test began.
 */
s64 rxe_stat(struct kunit *test, enum umad_stat stat)
{
	struct rxe_env *env = test->priv;

	return stat_now(env, stat) - env->stats[stat];
}

/**
 * rxe_stat_becomes() - wait until a counter has risen
 * @test: that counts
 * @stat: which
 * @value: by how much
 *
 * Context: process; sleeps.
 * Return: false if it has not within RXE_SOON, or is beyond @value.
 */
bool rxe_stat_becomes(struct kunit *test, enum umad_stat stat, s64 value)
{
	unsigned long end = jiffies + RXE_SOON;

	while (rxe_stat(test, stat) < value && time_before(jiffies, end))
		usleep_range(1000, 2000);
	return rxe_stat(test, stat) == value;
}

/**
 * rxe_open() - open a file on the port
 * @test: closes it in its exit, or by rxe_close()
 *
 * Context: process.
 * Return: the file.
 */
struct umad_file *rxe_open(struct kunit *test)
{
	struct rxe_env *env = test->priv;
	struct umad_file *file = umad_file_create(env->port);
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	for (i = 0; i < RXE_FILES && env->files[i]; i++)
		;
	if (i == RXE_FILES) {
		umad_file_destroy(file);
		KUNIT_ASSERT_LT(test, i, RXE_FILES);
	}
	env->files[i] = file;
	return file;
}

/**
 * rxe_close() - close a file
 * @test: that has opened it
 * @file: consumed
 *
 * Context: process; sleeps.
 */
void rxe_close(struct kunit *test, struct umad_file *file)
{
	struct rxe_env *env = test->priv;
	int i;

	for (i = 0; i < RXE_FILES; i++)
		if (env->files[i] == file)
			env->files[i] = NULL;
	umad_file_destroy(file);
}

/**
 * rxe_outstanding() - how many sends a file waits for
 * @file: the file
 *
 * Context: process.
 * Return: transactions in its table.
 */
unsigned int rxe_outstanding(struct umad_file *file)
{
	unsigned int count;

	spin_lock(&file->lock);
	count = file->txns.count;
	spin_unlock(&file->lock);
	return count;
}

/**
 * rxe_all_done() - wait until a file has nothing outstanding
 * @file: the file
 *
 * Context: process; sleeps.
 * Return: false if it still has after RXE_SOON.
 */
bool rxe_all_done(struct umad_file *file)
{
	unsigned long end = jiffies + RXE_SOON;

	while (rxe_outstanding(file) && time_before(jiffies, end))
		usleep_range(1000, 2000);
	return !rxe_outstanding(file);
}

/**
 * rxe_reg() - what a registration asks for
 * @reg: filled in: no methods yet
 * @mgmt_class: 0 for an agent that only sends
 *
 * Context: any.
 */
void rxe_reg(struct umad_reg *reg, u8 mgmt_class)
{
	memset(reg, 0, sizeof(*reg));
	reg->qpn = 1;
	if (!mgmt_class)
		return;
	reg->req.mgmt_class = mgmt_class;
	reg->req.mgmt_class_version = 1;
	memcpy(reg->req.oui, oui, sizeof(oui));
}

/**
 * rxe_publish() - register an agent
 * @test: fails if that fails
 * @file: that is to have it
 * @reg: what it asks for
 *
 * Context: process; sleeps.
 * Return: its id.
 */
u32 rxe_publish(struct kunit *test, struct umad_file *file,
		const struct umad_reg *reg)
{
	struct umad_agent *agent;
	u32 id = ~0;

	agent = umad_agent_create(file, reg, &id);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, agent);
	KUNIT_ASSERT_LT(test, id, UMAD_MAX_AGENTS);
	KUNIT_ASSERT_EQ(test, umad_agent_publish(file, id, agent, true), 0);
	return id;
}

/**
 * rxe_client() - register an agent that only sends
 * @test: fails if that fails
 * @file: that is to have it
 *
 * Context: process; sleeps.
 * Return: its id.
 */
u32 rxe_client(struct kunit *test, struct umad_file *file)
{
	struct umad_reg reg;

	rxe_reg(&reg, 0);
	return rxe_publish(test, file, &reg);
}

/**
 * rxe_server() - register for Get, Set and Trap of RXE_CLASS
 * @test: fails if that fails
 * @file: that is to have the agent
 *
 * Context: process; sleeps.
 * Return: its id.
 */
u32 rxe_server(struct kunit *test, struct umad_file *file)
{
	struct umad_reg reg;

	rxe_reg(&reg, RXE_CLASS);
	__set_bit(IB_MGMT_METHOD_GET, reg.req.method_mask);
	__set_bit(IB_MGMT_METHOD_SET, reg.req.method_mask);
	__set_bit(IB_MGMT_METHOD_TRAP, reg.req.method_mask);
	return rxe_publish(test, file, &reg);
}

/**
 * rxe_address() - a header for a MAD to the port itself
 * @test: whose port
 * @hdr: filled in: no response expected yet
 * @id: of the agent that sends
 *
 * Context: any.
 */
void rxe_address(struct kunit *test, struct ib_user_mad_hdr *hdr, u32 id)
{
	struct rxe_env *env = test->priv;

	memset(hdr, 0, sizeof(*hdr));
	hdr->id = id;
	hdr->qpn = cpu_to_be32(1);
	hdr->qkey = cpu_to_be32(IB_QP1_QKEY);
	hdr->grh_present = 1;
	hdr->gid_index = env->gid_index;
	hdr->hop_limit = 3;
	hdr->traffic_class = 0x20;
	memcpy(hdr->gid, env->gid.raw, sizeof(hdr->gid));
}

/**
 * rxe_mad() - a MAD of RXE_CLASS with something in it
 * @test: fails if there is no memory
 * @method: its method
 * @tid: its transaction ID
 *
 * Context: process.
 * Return: the MAD, which is freed at the end of the test.
 */
struct ib_vendor_mad *rxe_mad(struct kunit *test, u8 method, u64 tid)
{
	struct ib_vendor_mad *mad = kunit_kzalloc(test, sizeof(*mad), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mad);
	mad->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad->mad_hdr.mgmt_class = RXE_CLASS;
	mad->mad_hdr.class_version = 1;
	mad->mad_hdr.method = method;
	mad->mad_hdr.tid = cpu_to_be64(tid);
	mad->mad_hdr.attr_id = cpu_to_be16(0x1234);
	mad->mad_hdr.attr_mod = cpu_to_be32(0x56789abc);
	memcpy(mad->oui, oui, sizeof(oui));
	for (i = 0; i < sizeof(mad->data); i++)
		mad->data[i] = i * 7 + tid;
	return mad;
}

/**
 * rxe_send() - send a Get of RXE_CLASS to the port itself
 * @test: that sends
 * @file: from which
 * @id: of the agent
 * @tid: transaction ID
 * @timeout_ms: as in the ABI
 * @retries: as in the ABI
 *
 * Context: process; sleeps.
 * Return: as umad_send_mad().
 */
int rxe_send(struct kunit *test, struct umad_file *file, u32 id, u64 tid,
	     u32 timeout_ms, u32 retries)
{
	struct ib_vendor_mad *mad = rxe_mad(test, RXE_GET, tid);
	struct ib_user_mad_hdr hdr;

	rxe_address(test, &hdr, id);
	hdr.timeout_ms = timeout_ms;
	hdr.retries = retries;
	hdr.length = 4321;
	return umad_send_mad(file, &hdr, mad, sizeof(*mad));
}

/**
 * rxe_reply() - send back a request that has been received
 * @test: that sends
 * @file: that has received it
 * @request: as received
 * @method: of the response
 *
 * Context: process; sleeps.
 * Return: as umad_send_mad().
 */
int rxe_reply(struct kunit *test, struct umad_file *file,
	      const struct rxe_record *request, u8 method)
{
	struct ib_user_mad_hdr hdr = request->hdr;
	struct ib_vendor_mad mad = request->mad;

	mad.mad_hdr.method = method;
	return umad_send_mad(file, &hdr, &mad, sizeof(mad));
}

/**
 * rxe_read() - take out what a program would read next
 * @file: from which
 * @record: filled in
 * @jiffies: to wait for it
 *
 * Context: process; sleeps.
 * Return: false when there was nothing.
 */
bool rxe_read(struct umad_file *file, struct rxe_record *record,
	      unsigned long jiffies)
{
	struct umad_rx_view view = {};
	struct umad_rx_entry *msg;

	/* As a reader does: the queue wakes no other kind of sleep. */
	wait_event_interruptible_timeout(file->rxq.wait,
					 umad_rxq_is_ready(&file->rxq),
					 jiffies);
	msg = umad_rxq_pop(&file->rxq);
	if (!msg)
		return false;
	record->hdr = msg->hdr;
	msg->ops->view(msg, &view);
	record->len = view.len;
	memset(record->raw, 0, sizeof(record->raw));
	memcpy(record->raw, view.data, min(view.len, sizeof(record->raw)));
	umad_rxq_free(&file->rxq, msg);
	return true;
}

/**
 * rxe_read_request() - read what must be a whole MAD
 * @test: fails if it is not
 * @file: from which
 * @record: filled in
 *
 * Context: process; sleeps.
 */
void rxe_read_request(struct kunit *test, struct umad_file *file,
		      struct rxe_record *record)
{
	KUNIT_ASSERT_TRUE(test, rxe_read(file, record, RXE_SOON));
	KUNIT_ASSERT_EQ(test, record->hdr.status, 0);
	KUNIT_ASSERT_EQ(test, record->len, sizeof(record->mad));
}

/**
 * rxe_read_timeout() - read what must be a timeout
 * @test: fails if it is not
 * @file: from which
 * @tid: lower half of its transaction ID
 *
 * Context: process; sleeps.
 */
void rxe_read_timeout(struct kunit *test, struct umad_file *file, u64 tid)
{
	struct rxe_record record;

	KUNIT_ASSERT_TRUE(test, rxe_read(file, &record, RXE_SOON));
	KUNIT_EXPECT_EQ(test, record.hdr.status, ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, record.len, sizeof(struct ib_mad_hdr));
	KUNIT_EXPECT_EQ(test, record.hdr.length, 4321);
	KUNIT_EXPECT_EQ(test, lower_32_bits(be64_to_cpu(record.mad.mad_hdr.tid)),
			lower_32_bits(tid));
}

/**
 * rxe_read_all() - read until nothing comes for a while
 * @file: from which
 *
 * Context: process; sleeps.
 * Return: how many records there were.
 */
unsigned int rxe_read_all(struct umad_file *file)
{
	struct rxe_record record;
	unsigned int n = 0;

	while (rxe_read(file, &record, RXE_WHILE))
		n++;
	return n;
}
