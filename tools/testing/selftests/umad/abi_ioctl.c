// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ioctls of a umad file: who may register what, every errno, the header
 * layouts they choose. Built for 32 bits too, where REGISTER_AGENT's method
 * mask goes through the compat ioctl.
 */
#include "kselftest_harness.h"
#include "umad_util.h"

#include <stdio.h>

FIXTURE(ioctl) {
	int fd;
};

FIXTURE_SETUP(ioctl)
{
	self->fd = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(ioctl)
{
	close(self->fd);
}

/* Register with one field changed, unregister again: 0 or the errno. */
static int try_reg2(int fd, struct ib_user_mad_reg_req2 *req)
{
	int id = umad_reg2(fd, req);

	if (id >= 0)
		umad_unreg(fd, id);
	return id < 0 ? id : 0;
}

static int try_class(int fd, uint8_t mgmt_class, uint8_t version, uint32_t oui,
		     uint8_t rmpp_version)
{
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, mgmt_class, version);
	req.oui = oui;
	req.rmpp_version = rmpp_version;
	mask_set((uint64_t *)req.method_mask, METHOD_TEST);
	return try_reg2(fd, &req);
}

/* REGISTER_AGENT, the old ioctl, whose mask is an array of longs. */
static int reg_old(int fd, uint8_t mgmt_class, const unsigned int *methods)
{
	struct ib_user_mad_reg_req req;
	unsigned int bits = 8 * sizeof(long);
	int ret;

	memset(&req, 0, sizeof(req));
	req.qpn = 1;
	req.mgmt_class = mgmt_class;
	req.mgmt_class_version = 1;
	for (; methods && *methods; methods++)
		req.method_mask[*methods / bits] |= 1ul << (*methods % bits);
	ret = umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &req);
	return ret ? ret : (int)req.id;
}

/* Which read() counts are refused tells which header is in force. */
static int header_len(int fd)
{
	char buf[512];

	if (read(fd, buf, HDR_OLD - 1) >= 0 || errno != EINVAL)
		return -errno;
	if (read(fd, buf, HDR_OLD) < 0 && errno == EAGAIN)
		return HDR_OLD;
	if (read(fd, buf, HDR_NEW - 1) >= 0 || errno != EINVAL)
		return -errno;
	if (read(fd, buf, HDR_NEW) < 0 && errno == EAGAIN)
		return HDR_NEW;
	return -errno;
}

TEST_F(ioctl, unknown_command_is_ENOTTY)
{
	EXPECT_EQ(-ENOTTY, umad_ioctl(self->fd, _IO(0x1b, 0x7f), NULL));
	EXPECT_EQ(-ENOTTY, umad_ioctl(self->fd, _IO(0x1c, 1), NULL));
	/* Right number, wrong size. */
	EXPECT_EQ(-ENOTTY, umad_ioctl(self->fd, _IOWR(0x1b, 4, uint32_t), NULL));
}

TEST_F(ioctl, register_bad_pointer_is_EFAULT)
{
	EXPECT_EQ(-EFAULT, umad_ioctl(self->fd, IB_USER_MAD_REGISTER_AGENT,
				      NULL));
	EXPECT_EQ(-EFAULT, umad_ioctl(self->fd, IB_USER_MAD_REGISTER_AGENT2,
				      NULL));
	EXPECT_EQ(-EFAULT, umad_ioctl(self->fd, IB_USER_MAD_UNREGISTER_AGENT,
				      NULL));
}

TEST_F(ioctl, qpn_above_one_is_EINVAL)
{
	struct ib_user_mad_reg_req2 req;
	struct ib_user_mad_reg_req old;

	reg_init(&req, 0, 0);
	req.qpn = 2;
	EXPECT_EQ(-EINVAL, try_reg2(self->fd, &req));
	req.qpn = 0x100;
	EXPECT_EQ(-EINVAL, try_reg2(self->fd, &req));
	memset(&old, 0, sizeof(old));
	old.qpn = 2;
	EXPECT_EQ(-EINVAL, umad_ioctl(self->fd, IB_USER_MAD_REGISTER_AGENT,
				      &old));
}

TEST_F(ioctl, qpn_zero_on_roce_is_EPROTONOSUPPORT)
{
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, 0, 0);
	req.qpn = 0;
	EXPECT_EQ(-EPROTONOSUPPORT, try_reg2(self->fd, &req));
	reg_init(&req, 0x01, 1);
	req.qpn = 0;
	EXPECT_EQ(-EPROTONOSUPPORT, try_reg2(self->fd, &req));
}

TEST_F(ioctl, unknown_flags_are_EINVAL_and_report_the_mask)
{
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, CLASS_VENDOR1, 1);
	req.flags = 0x80000000;
	EXPECT_EQ(-EINVAL, try_reg2(self->fd, &req));
	EXPECT_EQ(1, req.flags);
	EXPECT_EQ(0xdeadbeef, req.id);
	req.flags = 3;
	EXPECT_EQ(-EINVAL, try_reg2(self->fd, &req));
	EXPECT_EQ(1, req.flags);
}

TEST_F(ioctl, qpn_is_checked_before_flags)
{
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, CLASS_VENDOR1, 1);
	req.qpn = 2;
	req.flags = 0x80000000;
	EXPECT_EQ(-EINVAL, try_reg2(self->fd, &req));
	EXPECT_EQ(0x80000000, req.flags);
}

TEST_F(ioctl, oui_above_24_bits_is_EINVAL_for_any_class_but_0)
{
	struct ib_user_mad_reg_req2 req;

	EXPECT_EQ(-EINVAL, try_class(self->fd, CLASS_VENDOR2, 1, 0x0100066a, 0));
	EXPECT_EQ(-EINVAL, try_class(self->fd, CLASS_VENDOR1, 1, 0x01000000, 0));
	reg_init(&req, 0, 0);
	req.oui = 0xff00066a;
	EXPECT_EQ(0, try_reg2(self->fd, &req));
}

TEST_F(ioctl, vendor_class_needs_an_oui)
{
	EXPECT_EQ(-EINVAL, try_class(self->fd, 0x30, 1, 0, 0));
	EXPECT_EQ(-EINVAL, try_class(self->fd, 0x4f, 1, 0, 0));
	EXPECT_EQ(0, try_class(self->fd, 0x30, 1, TEST_OUI, 0));
	EXPECT_EQ(0, try_class(self->fd, 0x4f, 1, TEST_OUI, 0));
}

TEST_F(ioctl, classes_outside_the_table_are_EINVAL)
{
	EXPECT_EQ(-EINVAL, try_class(self->fd, 0x01, 1, 0, 0));
	EXPECT_EQ(-EINVAL, try_class(self->fd, 0x81, 1, 0, 0));
	EXPECT_EQ(-EINVAL, try_class(self->fd, 0x50, 1, 0, 0));
	EXPECT_EQ(-EINVAL, try_class(self->fd, 0xff, 1, 0, 0));
	EXPECT_EQ(0, try_class(self->fd, CLASS_VENDOR1, 1, 0, 0));
	EXPECT_EQ(0, try_class(self->fd, 0x2f, 1, 0, 0));
}

TEST_F(ioctl, class_version_0x83_and_up_is_EINVAL)
{
	EXPECT_EQ(0, try_class(self->fd, CLASS_VENDOR1, 0x82, 0, 0));
	EXPECT_EQ(-EINVAL, try_class(self->fd, CLASS_VENDOR1, 0x83, 0, 0));
	EXPECT_EQ(-EINVAL, try_class(self->fd, CLASS_VENDOR1, 0xff, 0, 0));
}

TEST_F(ioctl, rmpp_version_above_1_is_EINVAL)
{
	struct ib_user_mad_reg_req2 req;
	struct ib_user_mad_reg_req old;

	EXPECT_EQ(-EINVAL, try_class(self->fd, CLASS_SA, 2, 0, 2));
	EXPECT_EQ(-EINVAL, try_class(self->fd, CLASS_VENDOR1, 1, 0, 2));
	EXPECT_EQ(-EINVAL, try_class(self->fd, CLASS_VENDOR2, 1, TEST_OUI, 255));
	reg_init(&req, 0, 0);
	req.rmpp_version = 2;
	EXPECT_EQ(-EINVAL, try_reg2(self->fd, &req));
	reg_init(&req, CLASS_SA, 2);
	req.flags = IB_USER_MAD_USER_RMPP;
	req.rmpp_version = 2;
	EXPECT_EQ(-EINVAL, try_reg2(self->fd, &req));
	memset(&old, 0, sizeof(old));
	old.qpn = 1;
	old.mgmt_class = CLASS_SA;
	old.mgmt_class_version = 2;
	old.rmpp_version = 2;
	EXPECT_EQ(-EINVAL, umad_ioctl(self->fd, IB_USER_MAD_REGISTER_AGENT,
				      &old));
}

TEST_F(ioctl, rmpp_version_1_on_a_class_without_rmpp_is_EINVAL)
{
	EXPECT_EQ(-EINVAL, try_class(self->fd, CLASS_VENDOR1, 1, 0, 1));
	EXPECT_EQ(-EINVAL, try_class(self->fd, 0x04, 1, 0, 1));
	EXPECT_EQ(-EINVAL, try_class(self->fd, 0x2f, 1, 0, 1));
}

TEST_F(ioctl, rmpp_version_1_on_a_class_with_rmpp_is_accepted)
{
	static const uint8_t classes[] = { 0x03, 0x06, 0x10, 0x12 };
	struct ib_user_mad_reg_req2 req;
	struct ib_user_mad_reg_req old;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(classes); i++)
		EXPECT_EQ(0, try_class(self->fd, classes[i], 1, 0, 1));
	EXPECT_EQ(0, try_class(self->fd, CLASS_VENDOR2, 1, TEST_OUI, 1));
	reg_init(&req, 0, 0);
	req.rmpp_version = 1;
	EXPECT_EQ(0, try_reg2(self->fd, &req));
	memset(&old, 0, sizeof(old));
	old.qpn = 1;
	old.mgmt_class = CLASS_SA;
	old.mgmt_class_version = 2;
	old.rmpp_version = 1;
	EXPECT_EQ(0, umad_ioctl(self->fd, IB_USER_MAD_REGISTER_AGENT, &old));
	/* What raw agents and agents with RMPP serve does not overlap either. */
	reg_init(&req, CLASS_SA, 2);
	mask_set((uint64_t *)req.method_mask, METHOD_TEST);
	EXPECT_EQ(1, umad_reg2(self->fd, &req));
	req.rmpp_version = 1;
	EXPECT_EQ(-EINVAL, umad_reg2(self->fd, &req));
}

TEST_F(ioctl, user_rmpp_is_accepted_with_either_rmpp_version)
{
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, CLASS_SA, 2);
	req.flags = IB_USER_MAD_USER_RMPP;
	EXPECT_EQ(0, try_reg2(self->fd, &req));
	req.rmpp_version = 1;
	EXPECT_EQ(0, try_reg2(self->fd, &req));
}

TEST_F(ioctl, user_rmpp_with_class_0_is_EINVAL)
{
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, 0, 0);
	req.flags = IB_USER_MAD_USER_RMPP;
	EXPECT_EQ(-EINVAL, try_reg2(self->fd, &req));
}

TEST_F(ioctl, overlapping_methods_are_EINVAL_until_unregistered)
{
	int other = umad_open(O_RDWR);
	int id;

	ASSERT_LE(0, other);
	id = umad_reg_server(self->fd, CLASS_VENDOR1, METHOD_TEST);
	ASSERT_EQ(0, id);
	EXPECT_EQ(-EINVAL, umad_reg_server(self->fd, CLASS_VENDOR1,
					   METHOD_TEST));
	EXPECT_EQ(-EINVAL, umad_reg_server(other, CLASS_VENDOR1, METHOD_TEST));
	EXPECT_EQ(0, umad_reg_server(other, CLASS_VENDOR1, METHOD_TEST2));
	EXPECT_EQ(1, umad_reg_server(other, CLASS_VENDOR1B, METHOD_TEST));
	EXPECT_EQ(0, umad_unreg(self->fd, id));
	EXPECT_EQ(2, umad_reg_server(other, CLASS_VENDOR1, METHOD_TEST));
	close(other);
	EXPECT_EQ(0, umad_reg_server(self->fd, CLASS_VENDOR1, METHOD_TEST));
}

TEST_F(ioctl, same_method_of_another_oui_does_not_overlap)
{
	struct ib_user_mad_reg_req2 req;

	EXPECT_EQ(0, umad_reg_server(self->fd, CLASS_VENDOR2, METHOD_TEST));
	EXPECT_EQ(-EINVAL, umad_reg_server(self->fd, CLASS_VENDOR2,
					   METHOD_TEST));
	reg_init(&req, CLASS_VENDOR2, 1);
	mask_set((uint64_t *)req.method_mask, METHOD_TEST);
	req.oui = TEST_OUI + 1;
	EXPECT_EQ(1, umad_reg2(self->fd, &req));
}

TEST_F(ioctl, ninth_oui_of_a_vendor_class_is_ENOMEM)
{
	struct ib_user_mad_reg_req2 req;
	int i;

	for (i = 0; i < 9; i++) {
		reg_init(&req, CLASS_VENDOR2, 1);
		mask_set((uint64_t *)req.method_mask, METHOD_TEST);
		req.oui = TEST_OUI + i;
		EXPECT_EQ(i < 8 ? i : -ENOMEM, umad_reg2(self->fd, &req));
	}
}

TEST_F(ioctl, enable_pkey_only_before_the_first_agent)
{
	EXPECT_EQ(0, umad_ioctl(self->fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	EXPECT_EQ(0, umad_ioctl(self->fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	ASSERT_EQ(0, reg_old(self->fd, 0, NULL));
	EXPECT_EQ(-EINVAL, umad_ioctl(self->fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	EXPECT_EQ(0, umad_unreg(self->fd, 0));
	EXPECT_EQ(-EINVAL, umad_ioctl(self->fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	EXPECT_EQ(HDR_NEW, header_len(self->fd));
}

TEST_F(ioctl, header_is_56_bytes_until_chosen_otherwise)
{
	EXPECT_EQ(HDR_OLD, header_len(self->fd));
	EXPECT_EQ(0, umad_ioctl(self->fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	EXPECT_EQ(HDR_NEW, header_len(self->fd));
}

TEST_F(ioctl, header_stays_56_bytes_after_register_agent)
{
	ASSERT_EQ(0, reg_old(self->fd, 0, NULL));
	EXPECT_EQ(HDR_OLD, header_len(self->fd));
	EXPECT_EQ(-EINVAL, umad_ioctl(self->fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	/* REGISTER_AGENT2 is too late now, and so after unregistering. */
	ASSERT_EQ(1, umad_reg_client(self->fd));
	EXPECT_EQ(HDR_OLD, header_len(self->fd));
	EXPECT_EQ(0, umad_unreg(self->fd, 0));
	EXPECT_EQ(0, umad_unreg(self->fd, 1));
	ASSERT_EQ(0, umad_reg_client(self->fd));
	EXPECT_EQ(HDR_OLD, header_len(self->fd));
}

TEST_F(ioctl, header_is_64_bytes_after_register_agent2_first)
{
	ASSERT_EQ(0, umad_reg_client(self->fd));
	EXPECT_EQ(HDR_NEW, header_len(self->fd));
	ASSERT_EQ(1, reg_old(self->fd, 0, NULL));
	EXPECT_EQ(HDR_NEW, header_len(self->fd));
	EXPECT_EQ(0, umad_unreg(self->fd, 0));
	EXPECT_EQ(0, umad_unreg(self->fd, 1));
	EXPECT_EQ(HDR_NEW, header_len(self->fd));
}

TEST_F(ioctl, failed_registration_does_not_choose_the_header)
{
	struct ib_user_mad_reg_req2 req;
	struct pollfd pfd = { .fd = self->fd, .events = POLLIN };
	struct umad_msg msg;

	reg_init(&req, CLASS_VENDOR1, 1);
	req.flags = 0x80000000;
	EXPECT_EQ(-EINVAL, umad_reg2(self->fd, &req));
	EXPECT_EQ(-EINVAL, try_class(self->fd, 0x50, 1, 0, 0));
	EXPECT_EQ(HDR_OLD, header_len(self->fd));
	memset(&msg, 0, sizeof(msg));
	EXPECT_EQ(-EIO, msg_write(self->fd, &msg));
	EXPECT_EQ(0, poll(&pfd, 1, 0));
	EXPECT_EQ(HDR_OLD, header_len(self->fd));
	/* So both ways are still open. */
	EXPECT_EQ(0, umad_ioctl(self->fd, IB_USER_MAD_ENABLE_PKEY, NULL));
}

TEST_F(ioctl, id_that_cannot_be_put_is_EFAULT_and_leaves_nothing)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct ib_user_mad_reg_req2 *req;

	req = mmap(NULL, page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)req);
	reg_init(req, CLASS_VENDOR1, 1);
	mask_set((uint64_t *)req->method_mask, METHOD_TEST);
	ASSERT_EQ(0, mprotect(req, page, PROT_READ));
	EXPECT_EQ(-EFAULT, umad_ioctl(self->fd, IB_USER_MAD_REGISTER_AGENT2,
				      req));
	EXPECT_EQ(HDR_OLD, header_len(self->fd));
	EXPECT_EQ(-EINVAL, umad_unreg(self->fd, 0));
	EXPECT_EQ(0, umad_reg_server(self->fd, CLASS_VENDOR1, METHOD_TEST));
	munmap(req, page);
}

TEST_F(ioctl, unregister_unknown_id_is_EINVAL)
{
	EXPECT_EQ(-EINVAL, umad_unreg(self->fd, 0));
	EXPECT_EQ(-EINVAL, umad_unreg(self->fd, MAX_AGENTS));
	EXPECT_EQ(-EINVAL, umad_unreg(self->fd, 0xffffffff));
	ASSERT_EQ(0, umad_reg_client(self->fd));
	EXPECT_EQ(-EINVAL, umad_unreg(self->fd, 1));
	EXPECT_EQ(0, umad_unreg(self->fd, 0));
	EXPECT_EQ(-EINVAL, umad_unreg(self->fd, 0));
}

/*
 * Each bit of the old ioctl's mask must land on its own method: claim it by
 * the old ioctl, then try to claim each method by the new one, whose mask has
 * one layout everywhere.
 */
TEST_F(ioctl, method_mask_of_register_agent_word_order)
{
	static const unsigned int methods[] = { 1, 31, 32, 63, 64, 95, 96, 127 };
	unsigned int one[2] = { 0, 0 };
	unsigned int i, method;
	int id, id2;

	for (i = 0; i < ARRAY_SIZE(methods); i++) {
		one[0] = methods[i];
		id = reg_old(self->fd, CLASS_VENDOR1, one);
		ASSERT_LE(0, id);
		for (method = 0; method < 128; method++) {
			id2 = umad_reg_server(self->fd, CLASS_VENDOR1, method);
			if (method == methods[i]) {
				EXPECT_EQ(-EINVAL, id2);
			} else {
				EXPECT_LE(0, id2) {
					TH_LOG("old bit %u, method %u",
					       methods[i], method);
				}
				umad_unreg(self->fd, id2);
			}
		}
		EXPECT_EQ(0, umad_unreg(self->fd, id));
	}
}

TEST_F(ioctl, register_agent_checks_like_register_agent2)
{
	static const unsigned int test[] = { METHOD_TEST, 0 };
	struct ib_user_mad_reg_req old;

	EXPECT_EQ(-EINVAL, reg_old(self->fd, 0x01, test));
	EXPECT_EQ(-EINVAL, reg_old(self->fd, 0x50, test));
	EXPECT_EQ(-EINVAL, reg_old(self->fd, CLASS_VENDOR2, test));
	EXPECT_EQ(0, reg_old(self->fd, CLASS_VENDOR1, test));
	EXPECT_EQ(-EINVAL, reg_old(self->fd, CLASS_VENDOR1, test));
	memset(&old, 0, sizeof(old));
	EXPECT_EQ(-EPROTONOSUPPORT,
		  umad_ioctl(self->fd, IB_USER_MAD_REGISTER_AGENT, &old));
	old.qpn = 1;
	old.mgmt_class = CLASS_VENDOR1;
	old.mgmt_class_version = 1;
	old.rmpp_version = 1;
	EXPECT_EQ(-EINVAL, umad_ioctl(self->fd, IB_USER_MAD_REGISTER_AGENT,
				      &old));
}

TEST_HARNESS_MAIN
