/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The configuration of a device, as written to new_device. */
#ifndef SIM_CONFIG_H
#define SIM_CONFIG_H

#include <linux/types.h>

#define SIM_MAX_PORTS	8
#define SIM_NAME_LEN	32
#define SIM_DESC_LEN	64	/* NodeDescription */
/* Base of default node GUIDs, of no vendor; the port GUIDs follow. */
#define SIM_GUID_BASE	0x0248775300000000ULL
#define SIM_PREFIX	0xfe80000000000000ULL

/**
 * struct sim_config - configuration of a device
 * @id: number of the device
 * @ports: number of ports; of a switch, of its physical ports
 * @pkeys: entries of each P_Key table
 * @lid: LID of the first port, or 0
 * @lmc: LMC of all ports
 * @guid: node GUID
 * @prefix: subnet prefix
 * @is_switch: type=switch
 * @opa: link=opa
 * @no_smi: mad=gsi: no QP0
 * @no_gsi: mad=smi: no QP1
 * @far: sma=far: the far end answers SMPs, not this device
 * @desc: node description
 * @fabric: name of the fabric in the kernel, or empty
 */
struct sim_config {
	u32 id;
	u32 ports;
	u32 pkeys;
	u32 lid;
	u32 lmc;
	u64 guid;
	u64 prefix;
	bool is_switch;
	bool opa;
	bool no_smi;
	bool no_gsi;
	bool far;
	char desc[SIM_DESC_LEN];
	char fabric[SIM_NAME_LEN];
};

int sim_config_parse(struct sim_config *config, const char *line);

#endif
