/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One port of ib_hwsim and the node of ibsim's net that it is: MADs both ways, and the
 * attributes of the port.
 */
#ifndef HWSIM_BRIDGE_H
#define HWSIM_BRIDGE_H

#include <stdbool.h>
#include <stdnoreturn.h>
#include <linux/types.h>

#include "ibsim.h"
#include "loop.h"
#include "mad.h"

/*
 * Questions to ibsim that are to be asked, in this order. To clear IsSM a port has to
 * connect again: without that bit ibsim sends it no requests.
 */
enum want {
	WANT_SET_ISSM		= 1 << 0,
	WANT_DISCONNECT		= 1 << 1,
	WANT_CONNECT		= 1 << 2,
	WANT_PORT_INFO		= 1 << 3,
	WANT_PKEYS		= 1 << 4,
	WANT_NEWS		= WANT_PORT_INFO | WANT_PKEYS,
};

/**
 * struct port - a port that is attached
 * @device: number in the device's name
 * @number: of the port
 * @raw: MADs from and to the port
 * @mads: MADs from and to ibsim
 * @ctl: ibsim's answers
 * @sim: client of ibsim
 * @flows: requests the port has sent
 * @held: a MAD for ibsim
 * @holding: ibsim has no room for @held; no other MAD is read until it has
 * @want: questions to ask, enum want
 * @asked: the outstanding one, or 0
 * @asked_at: when it was asked, in ms
 * @info: PortInfo that the kernel was told last
 * @pkeys: P_Key table that the kernel was told last
 * @is_sm: the kernel's IsSM bit
 * @set_issm: the bit that was sent with WANT_SET_ISSM
 * @gone: its device was removed; nothing is open any more
 * @news: a MAD has changed a port, which may be one of ours
 * @count: MADs; unreachable: that ibsim could not deliver; unfit: that it cannot take;
 *	refused: by the kernel; told: changes of attributes
 */
struct port {
	__u32 device;
	__u32 number;
	struct source raw;
	struct source mads;
	struct source ctl;
	struct ibsim sim;
	struct mad_flows flows;
	struct ibsim_request held;
	bool holding;
	unsigned int want;
	unsigned int asked;
	long asked_at;
	__u8 info[MAD_DATA_LEN];
	__u8 pkeys[MAD_DATA_LEN];
	bool is_sm;
	int set_issm;
	bool gone;
	bool news;
	struct {
		unsigned long to_ibsim, from_ibsim, unreachable, unfit;
		unsigned long refused, told;
	} count;
};

noreturn void bridge_die(const struct port *port, const char *what);
void bridge_plug_in(struct port *port);
void bridge_pull_out(struct port *port);
void bridge_want(struct port *port, unsigned int what);
void bridge_ask_kernel(struct port *port);
void bridge_check(struct port *port);

#endif
