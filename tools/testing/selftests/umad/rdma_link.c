// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RDMA and route netlink for the umad selftests. See rdma_link.h.
 */
#include "rdma_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>

#define NLDEV(op) RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_##op)

struct nl_request {
	struct nlmsghdr nlh;
	char body[512];
};

static void request_init(struct nl_request *req, uint16_t type, uint16_t flags)
{
	memset(req, 0, sizeof(*req));
	req->nlh.nlmsg_type = type;
	req->nlh.nlmsg_flags = NLM_F_REQUEST | flags;
	req->nlh.nlmsg_len = NLMSG_HDRLEN;
}

static void put_raw(struct nl_request *req, const void *data, size_t len)
{
	memcpy((char *)req + req->nlh.nlmsg_len, data, len);
	req->nlh.nlmsg_len += NLMSG_ALIGN(len);
}

static void put_attr(struct nl_request *req, uint16_t type, const void *data,
		     size_t len)
{
	struct nlattr attr = { .nla_len = NLA_HDRLEN + len, .nla_type = type };

	put_raw(req, &attr, sizeof(attr));
	put_raw(req, data, len);
}

static void put_string(struct nl_request *req, uint16_t type, const char *text)
{
	put_attr(req, type, text, strlen(text) + 1);
}

static void put_u32(struct nl_request *req, uint16_t type, uint32_t value)
{
	put_attr(req, type, &value, sizeof(value));
}

/* Send one request; the answer, or its error, comes back in one message. */
static int transact(int protocol, struct nl_request *req, void *answer,
		    size_t len)
{
	struct nlmsghdr *nlh = answer;
	struct nlmsgerr *err;
	int fd, ret = 0;
	ssize_t n;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	if (fd < 0)
		return -errno;
	if (send(fd, req, req->nlh.nlmsg_len, 0) < 0)
		ret = -errno;
	do {
		n = ret ? 0 : recv(fd, answer, len, 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		ret = -errno;
	close(fd);
	if (ret)
		return ret;
	if (nlh->nlmsg_type != NLMSG_ERROR)
		return n;
	err = NLMSG_DATA(nlh);
	return err->error;
}

static int transact_ack(int protocol, struct nl_request *req)
{
	alignas(8) char answer[4096];

	req->nlh.nlmsg_flags |= NLM_F_ACK;
	return transact(protocol, req, answer, sizeof(answer));
}

static const struct nlattr *find_attr(const struct nlmsghdr *nlh, uint16_t type)
{
	const char *pos = (const char *)nlh + NLMSG_HDRLEN;
	const char *end = (const char *)nlh + nlh->nlmsg_len;

	while (pos + NLA_HDRLEN <= end) {
		const struct nlattr *attr = (const void *)pos;

		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		if (attr->nla_len < NLA_HDRLEN)
			break;
		pos += NLA_ALIGN(attr->nla_len);
	}
	return NULL;
}

static void get_attr(const struct nlmsghdr *nlh, uint16_t type, void *to,
		     size_t len)
{
	const struct nlattr *attr = find_attr(nlh, type);
	size_t have;

	memset(to, 0, len);
	if (!attr)
		return;
	have = attr->nla_len - NLA_HDRLEN;
	memcpy(to, (const char *)attr + NLA_HDRLEN, have < len ? have : len);
}

/* Index of an RDMA device by its name. */
int rdma_link_index(const char *ibdev)
{
	alignas(8) char answer[16384];
	struct nl_request req;
	struct nlmsghdr *nlh;
	uint32_t index;
	char name[64];
	ssize_t n;
	int fd;

	request_init(&req, NLDEV(GET), NLM_F_DUMP);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	if (fd < 0)
		return -errno;
	if (send(fd, &req, req.nlh.nlmsg_len, 0) < 0) {
		close(fd);
		return -EIO;
	}
	for (;;) {
		n = recv(fd, answer, sizeof(answer), 0);
		if (n <= 0)
			break;
		for (nlh = (void *)answer; NLMSG_OK(nlh, n);
		     nlh = NLMSG_NEXT(nlh, n)) {
			if (nlh->nlmsg_type == NLMSG_DONE ||
			    nlh->nlmsg_type == NLMSG_ERROR)
				goto none;
			get_attr(nlh, RDMA_NLDEV_ATTR_DEV_NAME, name,
				 sizeof(name));
			if (strcmp(name, ibdev))
				continue;
			get_attr(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, &index,
				 sizeof(index));
			close(fd);
			return index;
		}
	}
none:
	close(fd);
	return -ENODEV;
}

/* Tells ib_hwsim what to do with hwsimN. */
static int hwsim(const char *ibdev, const char *file, const char *how)
{
	char path[64], line[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/ib_hwsim/%s", file);
	snprintf(line, sizeof(line), "%s%s", ibdev + 5, how);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, line, strlen(line)) < 0 ? -errno : 0;
	close(fd);
	return n;
}

/* The netdev is of rxe only; a hwsim device has a LID, and an fd00:: GID. */
int rdma_link_add(const char *ibdev, const char *netdev)
{
	struct nl_request req;

	if (!strncmp(ibdev, "hwsim", 5))
		return hwsim(ibdev, "new_device",
			     " fabric=setup lid=1 prefix=0xfd00000000000000");
	request_init(&req, NLDEV(NEWLINK), 0);
	put_string(&req, RDMA_NLDEV_ATTR_DEV_NAME, ibdev);
	put_string(&req, RDMA_NLDEV_ATTR_LINK_TYPE, "rxe");
	put_string(&req, RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
	return transact_ack(NETLINK_RDMA, &req);
}

/* Comes back when the device is gone: ib_unregister_device() ran to its end. */
int rdma_link_del(const char *ibdev)
{
	int index = rdma_link_index(ibdev);
	struct nl_request req;

	if (!strncmp(ibdev, "hwsim", 5))
		return hwsim(ibdev, "del_device", "");
	if (index < 0)
		return index;
	request_init(&req, NLDEV(DELLINK), 0);
	put_u32(&req, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	return transact_ack(NETLINK_RDMA, &req);
}

/* A request to change the device; what is to change follows. */
static int set_init(struct nl_request *req, const char *ibdev)
{
	int index = rdma_link_index(ibdev);

	if (index < 0)
		return index;
	request_init(req, NLDEV(SET), 0);
	put_u32(req, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	return 0;
}

int rdma_link_rename(const char *ibdev, const char *name)
{
	struct nl_request req;
	int ret = set_init(&req, ibdev);

	if (ret)
		return ret;
	put_string(&req, RDMA_NLDEV_ATTR_DEV_NAME, name);
	return transact_ack(NETLINK_RDMA, &req);
}

int rdma_link_set_netns(const char *ibdev, int netns_fd)
{
	struct nl_request req;
	int ret = set_init(&req, ibdev);

	if (ret)
		return ret;
	put_u32(&req, RDMA_NLDEV_NET_NS_FD, netns_fd);
	return transact_ack(NETLINK_RDMA, &req);
}

/* Of port 0: the request has no port. */
int rdma_get_chardev(const char *ibdev, uint32_t port, const char *type,
		     struct rdma_chardev *cdev)
{
	alignas(8) char answer[4096];
	int index = rdma_link_index(ibdev);
	struct nl_request req;
	int ret;

	if (index < 0)
		return index;
	request_init(&req, NLDEV(GET_CHARDEV), 0);
	put_u32(&req, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	if (port)
		put_u32(&req, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	put_string(&req, RDMA_NLDEV_ATTR_CHARDEV_TYPE, type);
	ret = transact(NETLINK_RDMA, &req, answer, sizeof(answer));
	if (ret < 0)
		return ret;
	get_attr((void *)answer, RDMA_NLDEV_ATTR_CHARDEV_ABI, &cdev->abi, 8);
	get_attr((void *)answer, RDMA_NLDEV_ATTR_CHARDEV, &cdev->dev, 8);
	get_attr((void *)answer, RDMA_NLDEV_ATTR_CHARDEV_NAME, cdev->name,
		 sizeof(cdev->name) - 1);
	cdev->name[sizeof(cdev->name) - 1] = '\0';
	return 0;
}

int rdma_set_netns_exclusive(bool exclusive)
{
	uint8_t mode = exclusive ? 0 : 1;
	struct nl_request req;

	request_init(&req, NLDEV(SYS_SET), 0);
	put_attr(&req, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, &mode, sizeof(mode));
	return transact_ack(NETLINK_RDMA, &req);
}

static int route6_to(bool add, const char *prefix, int len, uint16_t type, uint32_t to,
		     uint32_t expires)
{
	struct rtmsg rtm = {
		.rtm_family = AF_INET6, .rtm_dst_len = len,
		.rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_STATIC,
		.rtm_scope = RT_SCOPE_UNIVERSE, .rtm_type = RTN_UNICAST,
	};
	struct nl_request req;
	struct in6_addr addr;

	if (inet_pton(AF_INET6, prefix, &addr) != 1)
		return -EINVAL;
	request_init(&req, add ? RTM_NEWROUTE : RTM_DELROUTE,
		     add ? NLM_F_CREATE | NLM_F_REPLACE : 0);
	put_raw(&req, &rtm, sizeof(rtm));
	put_attr(&req, RTA_DST, &addr, sizeof(addr));
	put_u32(&req, type, to);
	if (expires)
		put_u32(&req, RTA_EXPIRES, expires);
	return transact_ack(NETLINK_ROUTE, &req);
}

int route6(bool add, const char *prefix, int len, const char *netdev)
{
	return route6_to(add, prefix, len, RTA_OIF, if_nametoindex(netdev), 0);
}

int route6_until(const char *prefix, int len, const char *netdev, uint32_t seconds)
{
	return route6_to(true, prefix, len, RTA_OIF, if_nametoindex(netdev), seconds);
}

int route6_by_nexthop(const char *prefix, int len, uint32_t nexthop)
{
	return route6_to(true, prefix, len, RTA_NH_ID, nexthop, 0);
}

int nexthop6(uint32_t nexthop, const char *netdev)
{
	struct nhmsg nhm = { .nh_family = AF_INET6, .nh_protocol = RTPROT_STATIC };
	struct nl_request req;

	request_init(&req, RTM_NEWNEXTHOP, NLM_F_CREATE | NLM_F_REPLACE);
	put_raw(&req, &nhm, sizeof(nhm));
	put_u32(&req, NHA_ID, nexthop);
	if (netdev)
		put_u32(&req, NHA_OIF, if_nametoindex(netdev));
	else
		put_attr(&req, NHA_BLACKHOLE, "", 0);
	return transact_ack(NETLINK_ROUTE, &req);
}

/* With the routes by it. */
int nexthop_del(uint32_t nexthop)
{
	struct nhmsg nhm = { 0 };
	struct nl_request req;

	request_init(&req, RTM_DELNEXTHOP, 0);
	put_raw(&req, &nhm, sizeof(nhm));
	put_u32(&req, NHA_ID, nexthop);
	return transact_ack(NETLINK_ROUTE, &req);
}

/* A permanent neighbour that no machine answers for. */
int neigh6(bool add, const char *text, const char *netdev)
{
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0xbe, 0xef };
	struct ndmsg ndm = {
		.ndm_family = AF_INET6, .ndm_state = NUD_PERMANENT,
		.ndm_ifindex = if_nametoindex(netdev),
	};
	struct nl_request req;
	struct in6_addr addr;

	if (inet_pton(AF_INET6, text, &addr) != 1)
		return -EINVAL;
	request_init(&req, add ? RTM_NEWNEIGH : RTM_DELNEIGH,
		     add ? NLM_F_CREATE | NLM_F_REPLACE : 0);
	put_raw(&req, &ndm, sizeof(ndm));
	put_attr(&req, NDA_DST, &addr, sizeof(addr));
	put_attr(&req, NDA_LLADDR, mac, sizeof(mac));
	return transact_ack(NETLINK_ROUTE, &req);
}

/* Does the netdev ask for link addresses? A dummy device does not, at first. */
int netdev_arp(const char *netdev, bool arp)
{
	struct ifreq ifr;
	int fd, ret = 0;

	memset(&ifr, 0, sizeof(ifr));
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", netdev);
	fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCGIFFLAGS, &ifr))
		ret = -errno;
	if (arp)
		ifr.ifr_flags &= ~IFF_NOARP;
	else
		ifr.ifr_flags |= IFF_NOARP;
	if (!ret && ioctl(fd, SIOCSIFFLAGS, &ifr))
		ret = -errno;
	close(fd);
	return ret;
}
