// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The verbs of a device but those of queues and address handles, and the tables of
 * all. There are no user verbs, and no memory regions but the one for all memory.
 */
#include "sim_verbs.h"

#include <linux/slab.h>
#include "sim.h"
#include "sim_ah.h"
#include "sim_compat.h"
#include "sim_cq.h"
#include "sim_pma.h"
#include "sim_port.h"
#include "sim_qp.h"
#include "sim_raw.h"
#include "sim_send.h"
#include "sim_sma.h"

#define SIM_FW_VERSION	1
#define SIM_VENDOR	0x000000	/* of nobody */
#define SIM_MAX_MSG	0x40000000

struct sim_pd {
	struct ib_pd ibpd;
};

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	struct sim_dev *sim = to_sim(ibdev);
	int ret;

	ret = sim_fail_hit(&sim->fail, SIM_VERB_QUERY_DEVICE);
	if (ret)
		return ret;

	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = SIM_FW_VERSION;
	attr->sys_image_guid = ibdev->node_guid;
	attr->vendor_id = SIM_VENDOR;
	attr->page_size_cap = PAGE_SIZE;
	attr->max_mr_size = ~0ULL;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	attr->max_qp = 2 * sim->n_ports;
	attr->max_qp_wr = SIM_MAX_WR;
	attr->max_send_sge = SIM_MAX_SGE;
	attr->max_recv_sge = 1;
	attr->max_cq = 2 * sim->n_ports;
	attr->max_cqe = SIM_MAX_CQE;
	attr->max_pd = 2 * sim->n_ports;
	attr->max_ah = INT_MAX;
	attr->max_pkeys = sim->config.pkeys;
	return 0;
}

static int query_port(struct ib_device *ibdev, u32 num,
		      struct ib_port_attr *attr)
{
	struct sim_dev *sim = to_sim(ibdev);
	struct sim_port *port = sim_dev_port(sim, num);
	struct ib_port_info info;
	unsigned long flags;
	int ret;

	ret = sim_fail_hit(&sim->fail, SIM_VERB_QUERY_PORT);
	if (ret)
		return ret;
	if (!port)
		return -EINVAL;

	spin_lock_irqsave(&port->attrs.lock, flags);
	info = port->attrs.info;
	spin_unlock_irqrestore(&port->attrs.lock, flags);

	attr->subnet_prefix = be64_to_cpu(info.gid_prefix);
	attr->state = sim_info_state(&info);
	attr->phys_state = info.portphysstate_linkdown >> 4;
	attr->max_mtu = info.inittypereply_mtucap & 0xf;
	attr->active_mtu = info.neighbormtu_mastersmsl >> 4;
	attr->phys_mtu = ib_mtu_enum_to_int(attr->active_mtu);
	attr->gid_tbl_len = SIM_GUIDS;
	attr->port_cap_flags = be32_to_cpu(info.cap_mask);
	attr->max_msg_sz = SIM_MAX_MSG;
	attr->bad_pkey_cntr = atomic64_read(&port->counts[SIM_RX_PKEY_VIOLATION]);
	attr->qkey_viol_cntr = atomic64_read(&port->counts[SIM_RX_QKEY_VIOLATION]);
	attr->pkey_tbl_len = port->attrs.n_pkeys;
	attr->sm_lid = be16_to_cpu(info.sm_lid);
	attr->lid = be16_to_cpu(info.lid);
	attr->lmc = sim_info_lmc(&info);
	attr->max_vl_num = info.vlcap_inittype >> 4;
	attr->sm_sl = info.neighbormtu_mastersmsl & 0xf;
	attr->subnet_timeout = info.clientrereg_resv_subnetto & 0x1f;
	attr->init_type_reply = info.inittypereply_mtucap >> 4;
	attr->active_width = info.link_width_active;
	attr->active_speed = info.linkspeedactive_enabled >> 4;
	return 0;
}

static int query_pkey(struct ib_device *ibdev, u32 num, u16 index, u16 *pkey)
{
	struct sim_dev *sim = to_sim(ibdev);
	struct sim_port *port = sim_dev_port(sim, num);
	int ret;

	ret = sim_fail_hit(&sim->fail, SIM_VERB_QUERY_PKEY);
	if (ret)
		return ret;
	return port ? sim_attrs_pkey(&port->attrs, index, pkey) : -EINVAL;
}

static int query_gid(struct ib_device *ibdev, u32 num, int index,
		     union ib_gid *gid)
{
	struct sim_dev *sim = to_sim(ibdev);
	struct sim_port *port = sim_dev_port(sim, num);
	int ret;

	ret = sim_fail_hit(&sim->fail, SIM_VERB_QUERY_GID);
	if (ret)
		return ret;
	return port ? sim_attrs_gid(&port->attrs, index, gid) : -EINVAL;
}

static int modify_port(struct ib_device *ibdev, u32 num, int mask,
		       struct ib_port_modify *props)
{
	struct sim_dev *sim = to_sim(ibdev);
	struct sim_port *port = sim_dev_port(sim, num);
	int ret;

	ret = sim_fail_hit(&sim->fail, SIM_VERB_MODIFY_PORT);
	if (ret)
		return ret;
	if (!port)
		return -EINVAL;
	if (mask & ~IB_PORT_RESET_QKEY_CNTR)
		return -EOPNOTSUPP;
	if (mask & IB_PORT_RESET_QKEY_CNTR)
		atomic64_set(&port->counts[SIM_RX_QKEY_VIOLATION], 0);
	if (sim_attrs_set_caps(&port->attrs, props->set_port_cap_mask,
			       props->clr_port_cap_mask))
		sim_raw_port_event(port);
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ibdev, u32 num)
{
	return IB_LINK_LAYER_INFINIBAND;
}

/* Of a pair of devices for one port, the one has QP0, the other has QP1. */
static u32 core_caps(const struct sim_config *config)
{
	u32 caps = config->opa ? RDMA_CORE_PORT_INTEL_OPA :
				 RDMA_CORE_PORT_IBA_IB;

	if (config->no_smi)
		caps &= ~RDMA_CORE_CAP_IB_SMI;
	if (config->no_gsi)
		caps &= ~(RDMA_CORE_CAP_IB_CM | RDMA_CORE_CAP_IB_SA |
			  RDMA_CORE_CAP_AF_IB);
	return caps;
}

static int get_port_immutable(struct ib_device *ibdev, u32 num,
			      struct ib_port_immutable *immutable)
{
	struct sim_dev *sim = to_sim(ibdev);

	immutable->pkey_tbl_len = sim->config.pkeys;
	immutable->gid_tbl_len = SIM_GUIDS;
	immutable->core_cap_flags = core_caps(&sim->config);
	immutable->max_mad_size = sim->config.opa ? IB_HWSIM_MAX_MAD :
						    SIM_MAD_LEN;
	return 0;
}

static void get_fw_string(struct ib_device *ibdev, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "%d", SIM_FW_VERSION);
}

static int alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return sim_fail_hit(&to_sim(ibpd->device)->fail, SIM_VERB_ALLOC_PD);
}

static int dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

/* ib_core requires it, but with a local_dma_lkey does not use it. */
static struct ib_mr *get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	return mr ?: ERR_PTR(-ENOMEM);
}

static struct ib_mr *reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
				 u64 virt_addr, int access,
				 SIM_MR_DMAH struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

static ssize_t hca_type_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "ib_hwsim\n");
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t hw_rev_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "0\n");
}
static DEVICE_ATTR_RO(hw_rev);

/* Shown by ibstat. */
static struct attribute *sim_attributes[] = {
	&dev_attr_hca_type.attr,
	&dev_attr_hw_rev.attr,
	NULL
};

static const struct attribute_group sim_attribute_group = {
	.attrs = sim_attributes,
};

/*
 * There is nothing to do, as no memory is mapped; without it, the device could not be
 * moved to another network namespace.
 */
static void disassociate_ucontext(struct ib_ucontext *context)
{
}

/* ib_core hands over a MAD that may be for an agent of the device. */
static int process_mad(struct ib_device *ibdev, int flags, u32 num,
		       const struct ib_wc *wc, const struct ib_grh *grh,
		       const struct ib_mad *in, struct ib_mad *out,
		       size_t *out_size, u16 *out_pkey_index)
{
	struct sim_dev *sim = to_sim(ibdev);
	struct sim_port *port = sim_dev_port(sim, num);
	bool answered;

	if (!port || sim_fail_hit(&sim->fail, SIM_VERB_PROCESS_MAD))
		return IB_MAD_RESULT_FAILURE;
	if (in->mad_hdr.mgmt_class == IB_MGMT_CLASS_PERF_MGMT)
		answered = sim_pma_answer(port, in, out);
	else
		answered = sim_sma_answer(&sim->node, num,
					  (const struct ib_smp *)in,
					  (struct ib_smp *)out);
	if (!answered)
		return IB_MAD_RESULT_SUCCESS;
	sim_count(port, SIM_SMA_ANSWERED);
	*out_size = SIM_MAD_LEN;
	/* Called without a completion by sysfs, for counters. */
	*out_pkey_index = wc ? wc->pkey_index : 0;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

const struct ib_device_ops sim_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_no_driver_id_binding = 1,

	.alloc_pd = alloc_pd,
	.create_ah = sim_create_ah,
	.create_cq = sim_create_cq,
	.create_qp = sim_create_qp,
	.create_user_ah = sim_create_ah,
	.dealloc_pd = dealloc_pd,
	.dereg_mr = dereg_mr,
	.destroy_ah = sim_destroy_ah,
	.destroy_cq = sim_destroy_cq,
	.destroy_qp = sim_destroy_qp,
	.device_group = &sim_attribute_group,
	.disassociate_ucontext = disassociate_ucontext,
	.get_dev_fw_str = get_fw_string,
	.get_dma_mr = get_dma_mr,
	.get_link_layer = get_link_layer,
	.get_port_immutable = get_port_immutable,
	.modify_port = modify_port,
	.modify_qp = sim_modify_qp,
	.poll_cq = sim_poll_cq,
	.post_recv = sim_post_recv,
	.post_send = sim_post_send,
	.query_ah = sim_query_ah,
	.query_device = query_device,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.query_port = query_port,
	.query_qp = sim_query_qp,
	.reg_user_mr = reg_user_mr,
	.req_notify_cq = sim_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, sim_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, sim_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, sim_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, sim_qp, ibqp),
};

/* For devices that answer SMPs themselves. */
const struct ib_device_ops sim_sma_ops = {
	.process_mad = process_mad,
};
