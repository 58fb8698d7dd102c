// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The performance management agent: PortCounters of packets that the port has sent and
 * received. Counters of link errors are always 0.
 */
#include "sim_pma.h"

#include <linux/minmax.h>
#include <rdma/ib_pma.h>
#include "sim.h"

#define PMA_STATUS_BAD_ATTR	cpu_to_be16(0x000c)
#define PMA_STATUS_BAD_VALUE	cpu_to_be16(0x001c)
#define PMA_ALL_PORTS		0xff

/* ClassPortInfo (IBA 13.4.8.1), up to the redirection. */
struct sim_class_port_info {
	u8 base_version;
	u8 class_version;
	__be16 cap_mask;
	__be32 cap_mask2_resp_time;
} __packed;

static u64 get(struct sim_port *port, enum sim_count what)
{
	return atomic64_read(&port->counts[what]);
}

/* The counters that are not extended stop at their maximum (IBA 16.1.3.5). */
static __be32 get32(struct sim_port *port, enum sim_count what, u32 unit)
{
	return cpu_to_be32(min_t(u64, get(port, what) / unit, U32_MAX));
}

static __be16 class_port_info(struct sim_port *port, u8 *data, bool set)
{
	struct sim_class_port_info info = {
		.base_version = IB_MGMT_BASE_VERSION,
		.class_version = 1,
		.cap_mask = IB_PMA_CLASS_CAP_EXT_WIDTH,
		.cap_mask2_resp_time = cpu_to_be32(16),
	};

	if (set)
		return PMA_STATUS_BAD_ATTR;
	memcpy(data, &info, sizeof(info));
	return 0;
}

static bool selects(struct sim_port *port, const u8 *data)
{
	/* At the same offset in PortCounters and PortCountersExtended. */
	u8 select = ((const struct ib_pma_portcounters *)data)->port_select;

	return select == port->num || select == PMA_ALL_PORTS;
}

/* Reset the selected counters; the bits of the two masks differ. */
static void reset(struct sim_port *port, bool tx_bytes, bool rx_bytes,
		  bool tx_packets, bool rx_packets)
{
	if (tx_bytes)
		atomic64_set(&port->counts[SIM_TX_BYTES], 0);
	if (rx_bytes)
		atomic64_set(&port->counts[SIM_RX_BYTES], 0);
	if (tx_packets)
		atomic64_set(&port->counts[SIM_TX_PACKETS], 0);
	if (rx_packets)
		atomic64_set(&port->counts[SIM_RX_PACKETS], 0);
}

static __be16 port_counters(struct sim_port *port, u8 *data, bool set)
{
	struct ib_pma_portcounters *counters = (void *)data;
	struct ib_pma_portcounters out = {
		.port_select = counters->port_select,
		.counter_select = counters->counter_select,
	};

	if (!selects(port, data))
		return PMA_STATUS_BAD_VALUE;
	if (set)
		reset(port, counters->counter_select & IB_PMA_SEL_PORT_XMIT_DATA,
		      counters->counter_select & IB_PMA_SEL_PORT_RCV_DATA,
		      counters->counter_select & IB_PMA_SEL_PORT_XMIT_PACKETS,
		      counters->counter_select & IB_PMA_SEL_PORT_RCV_PACKETS);
	out.vl15_dropped =
		cpu_to_be16(min_t(u64, get(port, SIM_RX_NO_BUFFER), U16_MAX));
	/* Data is counted in words of four bytes. */
	out.port_xmit_data = get32(port, SIM_TX_BYTES, 4);
	out.port_rcv_data = get32(port, SIM_RX_BYTES, 4);
	out.port_xmit_packets = get32(port, SIM_TX_PACKETS, 1);
	out.port_rcv_packets = get32(port, SIM_RX_PACKETS, 1);
	memcpy(data, &out, sizeof(out));
	return 0;
}

static __be16 port_counters_ext(struct sim_port *port, u8 *data, bool set)
{
	struct ib_pma_portcounters_ext *counters = (void *)data;
	struct ib_pma_portcounters_ext out = {
		.port_select = counters->port_select,
		.counter_select = counters->counter_select,
	};

	if (!selects(port, data))
		return PMA_STATUS_BAD_VALUE;
	if (set)
		reset(port,
		      counters->counter_select & IB_PMA_SELX_PORT_XMIT_DATA,
		      counters->counter_select & IB_PMA_SELX_PORT_RCV_DATA,
		      counters->counter_select & IB_PMA_SELX_PORT_XMIT_PACKETS,
		      counters->counter_select & IB_PMA_SELX_PORT_RCV_PACKETS);
	out.port_xmit_data = cpu_to_be64(get(port, SIM_TX_BYTES) / 4);
	out.port_rcv_data = cpu_to_be64(get(port, SIM_RX_BYTES) / 4);
	out.port_xmit_packets = cpu_to_be64(get(port, SIM_TX_PACKETS));
	out.port_rcv_packets = cpu_to_be64(get(port, SIM_RX_PACKETS));
	/* There is no multicast. */
	out.port_unicast_xmit_packets = out.port_xmit_packets;
	out.port_unicast_rcv_packets = out.port_rcv_packets;
	memcpy(data, &out, sizeof(out));
	return 0;
}

/**
 * sim_pma_answer() - answer a MAD of performance management
 * @port: the port that is asked
 * @in: the MAD
 * @out: filled in: the response
 *
 * Context: any.
 * Return: false if it is not a Get or Set.
 */
bool sim_pma_answer(struct sim_port *port, const struct ib_mad *in,
		    struct ib_mad *out)
{
	struct ib_pma_mad *pma = (struct ib_pma_mad *)out;
	bool set = in->mad_hdr.method == IB_MGMT_METHOD_SET;
	__be16 status = PMA_STATUS_BAD_ATTR;

	if (in->mad_hdr.base_version != IB_MGMT_BASE_VERSION ||
	    (in->mad_hdr.method != IB_MGMT_METHOD_GET && !set))
		return false;

	memcpy(out, in, sizeof(*out));
	if (in->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO)
		status = class_port_info(port, pma->data, set);
	else if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS)
		status = port_counters(port, pma->data, set);
	else if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS_EXT)
		status = port_counters_ext(port, pma->data, set);
	pma->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	pma->mad_hdr.status = status;
	return true;
}
