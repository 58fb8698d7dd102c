// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What ib_core and the device take for what bench_write measures: the same MADs, from the
 * kernel, with an address handle that is kept. No umad module can be faster than that. It
 * prints a line per figure when it is loaded, and is loaded for nothing else.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/semaphore.h>
#include <linux/sort.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

/* As bench_write's. */
#define BLOCKS		25
#define PER_BLOCK	20
#define MGMT_CLASS	0x0a
#define METHOD_SERVED	0x10
#define METHOD_NOBODY	0x1f
#define PORT		1
#define DEPTH_MAX	64
#define TIMEOUT_MS	60000

static char *device = "rxe0";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "the RDMA device that sends");

static char *peer = "";
module_param(peer, charp, 0444);
MODULE_PARM_DESC(peer, "the one that receives, by its GID (default: the same)");

/**
 * struct floor - the one there is
 * @ib_dev: kept
 * @peer: kept; may be the same
 * @client: sends, and gets the responses
 * @server: answers
 * @ah: where to
 * @room: as many sends as may be begun
 * @answered: a response has come
 * @failed: sends that failed
 */
struct floor {
	struct ib_device *ib_dev;
	struct ib_device *peer;
	struct ib_mad_agent *client;
	struct ib_mad_agent *server;
	struct ib_ah *ah;
	struct semaphore room;
	struct completion answered;
	atomic_t failed;
};

static struct floor floor;

static int look_at_device(struct ib_device *ib_dev)
{
	if (!strcmp(dev_name(&ib_dev->dev), device) && ib_device_try_get(ib_dev))
		floor.ib_dev = ib_dev;
	if (!strcmp(dev_name(&ib_dev->dev), *peer ? peer : device) && ib_device_try_get(ib_dev))
		floor.peer = ib_dev;
	return -EOPNOTSUPP;
}

/* ib_core shows a new client all devices; to be asked for one by name is gone in 7.x. */
static int find_devices(void)
{
	struct ib_client client = { .name = "umad_floor", .add = look_at_device };
	int ret = ib_register_client(&client);

	if (ret)
		return ret;
	ib_unregister_client(&client);
	return floor.ib_dev && floor.peer ? 0 : -ENODEV;
}

static void sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		atomic_inc(&floor.failed);
	ib_free_send_mad(wc->send_buf);
	if (agent == floor.client)
		up(&floor.room);
}

static struct ib_mad_send_buf *build(struct ib_mad_agent *agent, u8 method, __be64 tid)
{
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *mad;

	buf = ib_create_send_mad(agent, 1, 0, 0, IB_MGMT_MAD_HDR, IB_MGMT_MAD_DATA, GFP_KERNEL,
				 IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return buf;
	mad = buf->mad;
	mad->base_version = IB_MGMT_BASE_VERSION;
	mad->mgmt_class = MGMT_CLASS;
	mad->class_version = 1;
	mad->method = method;
	mad->tid = tid;
	buf->ah = floor.ah;
	return buf;
}

static int post(struct ib_mad_agent *agent, u8 method, __be64 tid, int timeout_ms)
{
	struct ib_mad_send_buf *buf = build(agent, method, tid);
	int ret;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	buf->timeout_ms = timeout_ms;
	ret = ib_post_send_mad(buf, NULL);
	if (ret)
		ib_free_send_mad(buf);
	return ret;
}

static void served(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		   struct ib_mad_recv_wc *wc)
{
	if (post(agent, METHOD_SERVED | IB_MGMT_METHOD_RESP, wc->recv_buf.mad->mad_hdr.tid, 0))
		atomic_inc(&floor.failed);
	ib_free_recv_mad(wc);
}

static void answered(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		     struct ib_mad_recv_wc *wc)
{
	ib_free_recv_mad(wc);
	complete(&floor.answered);
}

static __be64 next_tid(void)
{
	static u32 tid;

	return cpu_to_be64((u64)floor.client->hi_tid << 32 | ++tid);
}

/* One send, not begun before there is room for it. */
static int one_send(void)
{
	down(&floor.room);
	return post(floor.client, METHOD_NOBODY, next_tid(), 0);
}

static int one_round_trip(void)
{
	int ret = post(floor.client, METHOD_SERVED, next_tid(), TIMEOUT_MS);

	if (!ret)
		wait_for_completion(&floor.answered);
	return ret;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void print_figure(const char *what, int depth, u64 *ns)
{
	sort(ns, BLOCKS, sizeof(*ns), compare, NULL);
	pr_info("bench floor %s outstanding=%d median=%llu.%llu min=%llu.%llu max=%llu.%llu us\n",
		what, depth, ns[BLOCKS / 2] / 1000, ns[BLOCKS / 2] / 100 % 10,
		ns[0] / 1000, ns[0] / 100 % 10, ns[BLOCKS - 1] / 1000, ns[BLOCKS - 1] / 100 % 10);
}

/* Until nothing is under way any more; there is no room after that. */
static void await_sent(int depth)
{
	while (depth--)
		down(&floor.room);
}

/* The call alone, if others have the processor before the next. */
static int bench_alone(void)
{
	u64 ns[BLOCKS] = {};
	int block, i, ret;
	ktime_t start;

	sema_init(&floor.room, DEPTH_MAX);
	for (block = 0; block < BLOCKS; block++)
		for (i = 0; i < PER_BLOCK; i++) {
			usleep_range(1000, 1100);
			start = ktime_get();
			ret = one_send();
			if (ret)
				return ret;
			ns[block] += ktime_to_ns(ktime_sub(ktime_get(), start)) / PER_BLOCK;
		}
	await_sent(DEPTH_MAX);
	print_figure("write_alone", 0, ns);
	return 0;
}

/* So many at a time, with all that the processor does for them. */
static int bench_flood(int depth)
{
	u64 ns[BLOCKS];
	int block, i, ret;
	ktime_t start;

	sema_init(&floor.room, depth);
	for (block = 0; block < BLOCKS; block++) {
		start = ktime_get();
		for (i = 0; i < 20 * PER_BLOCK; i++) {
			ret = one_send();
			if (ret)
				return ret;
		}
		await_sent(depth);
		ns[block] = ktime_to_ns(ktime_sub(ktime_get(), start)) / (20 * PER_BLOCK);
		for (i = 0; i < depth; i++)
			up(&floor.room);
	}
	print_figure("write_flood", depth, ns);
	return 0;
}

static int bench_round_trip(void)
{
	u64 ns[BLOCKS];
	int block, i, ret;
	ktime_t start;

	for (block = 0; block < BLOCKS; block++) {
		usleep_range(20000, 21000);
		start = ktime_get();
		for (i = 0; i < PER_BLOCK; i++) {
			ret = one_round_trip();
			if (ret)
				return ret;
		}
		ns[block] = ktime_to_ns(ktime_sub(ktime_get(), start)) / PER_BLOCK;
	}
	print_figure("round_trip", 0, ns);
	return 0;
}

static int bench(void)
{
	int ret = bench_alone();

	ret = ret ?: bench_flood(1);
	ret = ret ?: bench_flood(DEPTH_MAX);
	/* Only this device has a server. */
	if (floor.peer == floor.ib_dev)
		ret = ret ?: bench_round_trip();
	if (!ret && atomic_read(&floor.failed))
		ret = -EIO;
	return ret;
}

/* Index of the address of a port that is not link-local, as the programs use; or less than 0. */
static int find_gid(struct ib_device *ib_dev, union ib_gid *raw)
{
	const struct ib_gid_attr *gid;
	int i, len = ib_dev->port_data[PORT].immutable.gid_tbl_len;

	for (i = 0; i < len; i++) {
		gid = rdma_get_gid_attr(ib_dev, PORT, i);
		if (IS_ERR(gid))
			continue;
		*raw = gid->gid;
		rdma_put_gid_attr(gid);
		if (!rdma_link_local_addr((struct in6_addr *)raw))
			return i;
	}
	return -EADDRNOTAVAIL;
}

static struct ib_ah *create_ah(void)
{
	struct rdma_ah_attr attr = {
		.type = rdma_ah_find_type(floor.ib_dev, PORT),
	};
	union ib_gid own, dest;
	struct ib_port_attr port;
	int ret = ib_query_port(floor.peer, PORT, &port);

	if (ret)
		return ERR_PTR(ret);
	rdma_ah_set_port_num(&attr, PORT);
	if (attr.type == RDMA_AH_ATTR_TYPE_IB) {
		rdma_ah_set_dlid(&attr, port.lid);
		return rdma_create_user_ah(floor.client->qp->pd, &attr, NULL);
	}
	ret = find_gid(floor.ib_dev, &own);
	if (ret < 0 || find_gid(floor.peer, &dest) < 0)
		return ERR_PTR(-EADDRNOTAVAIL);
	rdma_ah_set_grh(&attr, &dest, 0, ret, 64, 0);
	return rdma_create_user_ah(floor.client->qp->pd, &attr, NULL);
}

static int __init floor_init(void)
{
	struct ib_mad_reg_req req = { .mgmt_class = MGMT_CLASS, .mgmt_class_version = 1 };
	int ret = find_devices();

	if (ret)
		goto put_devices;
	init_completion(&floor.answered);
	set_bit(METHOD_SERVED, req.method_mask);
	floor.client = ib_register_mad_agent(floor.ib_dev, PORT, IB_QPT_GSI, NULL, 0, sent,
					     answered, NULL, 0);
	ret = PTR_ERR_OR_ZERO(floor.client);
	if (ret)
		goto put_devices;
	floor.server = ib_register_mad_agent(floor.ib_dev, PORT, IB_QPT_GSI, &req, 0, sent,
					     served, NULL, 0);
	ret = PTR_ERR_OR_ZERO(floor.server);
	if (ret)
		goto unregister_client;
	floor.ah = create_ah();
	ret = PTR_ERR_OR_ZERO(floor.ah);
	if (ret)
		goto unregister_server;
	ret = bench();
	msleep(100);
unregister_server:
	ib_unregister_mad_agent(floor.server);
unregister_client:
	ib_unregister_mad_agent(floor.client);
	/* No send uses it any more. */
	if (!IS_ERR_OR_NULL(floor.ah))
		rdma_destroy_ah(floor.ah, RDMA_DESTROY_AH_SLEEPABLE);
put_devices:
	if (floor.peer)
		ib_device_put(floor.peer);
	if (floor.ib_dev)
		ib_device_put(floor.ib_dev);
	return ret;
}

static void __exit floor_exit(void)
{
}

module_init(floor_init);
module_exit(floor_exit);
MODULE_DESCRIPTION("What ib_core takes for single MADs");
MODULE_LICENSE("Dual BSD/GPL");
