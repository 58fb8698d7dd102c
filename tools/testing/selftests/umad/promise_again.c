// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Programs that have the kernel send again and again, in ways that get round a
 * bound for one file, or for single MADs that nobody answers. See promise_noise.h.
 */
#include "promise_noise.h"

#include <sys/resource.h>

#define FILES		300
#define MESSAGES	300
#define RETRIES		0x7fffffff

/* The turn of a file is no bound if there are many files. */
int noise_retries_of_files(struct load *load)
{
	struct rlimit limit = { FILES + 100, FILES + 100 };
	struct umad_msg msg;
	int i, fd, ret;

	if (setrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 1);
	msg.hdr.timeout_ms = 1;
	msg.hdr.retries = RETRIES;
	for (i = 0; i < FILES; i++) {
		fd = umad_open_node(load->port.node, O_RDWR);
		ret = fd < 0 ? fd : umad_reg_client(fd);
		if (ret >= 0)
			ret = msg_write(fd, &msg);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Messages whose first segment nobody acknowledges. */
int noise_resends(struct load *load)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
	};
	int fd = load_open(load, O_RDWR | O_NONBLOCK);
	struct rmpp_msg msg = { 0 };
	int i, ret;

	ret = fd < 0 ? fd : rmpp_register(fd, &agent);
	for (i = 0; i < MESSAGES && ret >= 0; i++) {
		rmpp_msg_init(&msg, &load->port, HDR_NEW, 0, CLASS_RMPP,
			      METHOD_NOBODY, i, 400, i);
		rmpp_user_hdr(&msg)->timeout_ms = 1;
		rmpp_user_hdr(&msg)->retries = RETRIES;
		ret = rmpp_msg_write(fd, &msg);
	}
	rmpp_msg_free(&msg);
	return ret < 0 ? ret : 0;
}

/*
 * Requests that are answered each time, by ib_core, as nobody serves them: with an
 * answer for which there is no room, as the first ones are not read.
 */
int noise_unread_answers(struct load *load)
{
	long budget = rmpp_param_set("recv_budget", 600);
	int fd = load_open(load, O_RDWR | O_NONBLOCK);
	struct umad_msg msg;
	int i, ret;

	if (budget < 0)
		return budget;
	rmpp_param_set("recv_budget", budget);
	ret = fd < 0 ? fd : load_client(load, fd);
	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_GET, 0);
	msg.hdr.timeout_ms = 1;
	msg.hdr.retries = RETRIES;
	for (i = 0; i < MESSAGES && ret >= 0; i++) {
		msg.mad.tid = htobe64(i);
		ret = msg_write(fd, &msg);
	}
	return ret < 0 ? ret : 0;
}
