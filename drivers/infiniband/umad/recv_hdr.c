// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Where a received MAD came from, as the process's header says it. */
#include "recv_hdr.h"

#include <linux/err.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include "agent.h"
#include "file.h"
#include "hdr.h"
#include "port.h"

/* RoCE: which kind of header stands where the GRH would? */
static enum rdma_network_type network_type(const struct ib_wc *wc,
					   const struct ib_grh *grh)
{
	const union rdma_network_hdr *hdr = (const union rdma_network_hdr *)grh;

	if (wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE)
		return wc->network_hdr_type;
	if (ib_get_rdma_header_version(hdr) == 4)
		return RDMA_NETWORK_IPV4;
	return grh->next_hdr == IPPROTO_UDP ? RDMA_NETWORK_IPV6 :
					      RDMA_NETWORK_ROCE_V1;
}

static bool gid_is_on_vlan(const struct ib_gid_attr *attr, u16 vlan)
{
	u16 gid_vlan = 0xffff;

	return !rdma_read_gid_l2_fields(attr, &gid_vlan, NULL) &&
	       gid_vlan == vlan;
}

/* One GID may stand in the table once for each VLAN. */
static int find_gid_on_vlan(struct ib_device *ib_dev, u32 port_num,
			    const union ib_gid *gid, enum ib_gid_type type,
			    u16 vlan)
{
	int len = ib_dev->port_data[port_num].immutable.gid_tbl_len;
	const struct ib_gid_attr *attr;
	bool match;
	int i;

	for (i = 0; i < len; i++) {
		attr = rdma_get_gid_attr(ib_dev, port_num, i);
		if (IS_ERR(attr))
			continue;
		match = attr->gid_type == type &&
			!memcmp(&attr->gid, gid, sizeof(*gid)) &&
			gid_is_on_vlan(attr, vlan);
		rdma_put_gid_attr(attr);
		if (match)
			return i;
	}
	return -ENOENT;
}

static int find_gid(struct ib_device *ib_dev, u32 port_num,
		    const union ib_gid *gid, enum ib_gid_type type,
		    const struct ib_wc *wc)
{
	u16 vlan = wc->wc_flags & IB_WC_WITH_VLAN ? wc->vlan_id : 0xffff;
	const struct ib_gid_attr *attr;
	bool match;
	int index;

	attr = rdma_find_gid_by_port(ib_dev, gid, type, port_num, NULL);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	index = attr->index;
	match = type == IB_GID_TYPE_IB || gid_is_on_vlan(attr, vlan);
	rdma_put_gid_attr(attr);
	return match ? index : find_gid_on_vlan(ib_dev, port_num, gid, type,
						vlan);
}

static int get_gids(struct umad_port *port, const struct ib_mad_recv_wc *rwc,
		    union ib_gid *sgid, union ib_gid *dgid,
		    enum rdma_network_type *net)
{
	const struct ib_grh *grh = rwc->recv_buf.grh;

	*net = RDMA_NETWORK_IB;
	if (port->roce)
		*net = network_type(rwc->wc, grh);
	return ib_get_gids_from_rdma_hdr((const union rdma_network_hdr *)grh,
					 *net, sgid, dgid);
}

/**
 * umad_recv_sgid() - the GID that a MAD was sent from
 * @agent: that received it
 * @rwc: the MAD, with a GRH
 * @sgid: set
 *
 * Context: process, ib_core's receive handler.
 * Return: 0 or -EINVAL.
 */
int umad_recv_sgid(struct umad_agent *agent, const struct ib_mad_recv_wc *rwc,
		   union ib_gid *sgid)
{
	enum rdma_network_type net;
	union ib_gid dgid;

	return get_gids(agent->file->port, rwc, sgid, &dgid, &net);
}

/*
 * The GRH's part of the header, as in-tree, which however resolves the
 * sender's address for it, and stalls the port while a neighbour is silent.
 */
static int fill_grh(struct ib_user_mad_hdr *hdr, struct umad_port *port,
		    const struct ib_mad_recv_wc *rwc)
{
	enum rdma_network_type net;
	union ib_gid sgid, dgid;
	int index, ret;

	ret = get_gids(port, rwc, &sgid, &dgid, &net);
	if (ret)
		return ret;

	/* IBA 13.5.4.4: the SA is addressed by a GUID that no port has. */
	if (!port->roce &&
	    dgid.global.interface_id == cpu_to_be64(IB_SA_WELL_KNOWN_GUID))
		index = 0;
	else
		index = find_gid(port->ib_dev, port->port_num, &dgid,
				 ib_network_to_gid_type(net), rwc->wc);
	if (index < 0)
		return index;

	umad_hdr_set_grh(hdr, rwc->recv_buf.grh, &sgid, index,
			 port->roce ? IPV6_DEFAULT_HOPLIMIT : 0xff);
	return 0;
}

/**
 * umad_recv_hdr() - the process's header of a received MAD
 * @agent: that received it
 * @rwc: the MAD
 * @hdr: filled in
 *
 * Context: process, ib_core's receive handler; resolves no address.
 * Return: 0, or an errno when it was sent to a GID that this port has not.
 */
int umad_recv_hdr(struct umad_agent *agent, const struct ib_mad_recv_wc *rwc,
		  struct ib_user_mad_hdr *hdr)
{
	struct umad_port *port = agent->file->port;

	umad_hdr_from_wc(hdr, rwc->wc,
			 rdma_cap_opa_mad(port->ib_dev, port->port_num));
	hdr->id = agent->id;
	return hdr->grh_present ? fill_grh(hdr, port, rwc) : 0;
}
