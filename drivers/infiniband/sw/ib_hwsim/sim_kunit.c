// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What the suites of ib_hwsim share. */
#include "sim_kunit.h"

#include <kunit/test.h>
#include <linux/module.h>
#include "sim_compat.h"

#define SHOW_SIZE	16384

/**
 * sim_kunit_packet() - make a DATA packet of a response of the SA
 * @len: bytes of its MAD, at least 36
 *
 * Context: process.
 * Return: the packet, which the caller owns, or NULL.
 */
struct sim_packet *sim_kunit_packet(u32 len)
{
	struct sim_packet *packet = sim_packet_alloc(GFP_KERNEL, len);
	u32 i;

	if (!packet)
		return NULL;
	packet->device = 5;
	packet->port = 1;
	packet->slid = 0x10;
	packet->dlid = 0x20;
	packet->src_qp = 1;
	packet->dest_qp = 1;
	packet->qkey = 0x80010000;
	packet->pkey = 0x8001;
	packet->sl = 3;

	packet->mad[0] = 1;
	packet->mad[1] = 0x03;
	packet->mad[2] = 2;
	packet->mad[3] = 0x92;
	put_unaligned_be16(0x0100, packet->mad + 4);
	put_unaligned_be64(0x0000001200000034, packet->mad + 8);
	put_unaligned_be16(0x35, packet->mad + 16);
	put_unaligned_be32(0x01020304, packet->mad + 20);
	packet->mad[24] = 1;
	packet->mad[25] = 1;
	packet->mad[26] = 0x79;
	put_unaligned_be32(7, packet->mad + 28);
	put_unaligned_be32(220, packet->mad + 32);
	for (i = 36; i < len; i++)
		packet->mad[i] = i;
	return packet;
}

/**
 * sim_kunit_test_packet() - make one of 256 bytes that is freed with the test
 * @test: the test
 *
 * Context: process.
 * Return: the packet, which the test owns, or NULL.
 */
struct sim_packet *sim_kunit_test_packet(struct kunit *test)
{
	struct sim_packet *packet = sim_kunit_packet(SIM_MAD_LEN);
	struct sim_packet *copy;

	if (!packet)
		return NULL;
	copy = kunit_kmalloc(test, struct_size(copy, mad, packet->len),
			     GFP_KERNEL);
	if (copy) {
		memcpy(copy, packet, struct_size(copy, mad, packet->len));
		/* Two of them are equal in every byte. */
		memset(&copy->node, 0, sizeof(copy->node));
	}
	sim_packet_free(packet);
	return copy;
}

/**
 * sim_kunit_show() - set up a file to print to
 * @test: the test, which owns its buffer
 * @s: the file
 *
 * Context: process.
 * Return: the buffer that the text is printed to, or NULL.
 */
char *sim_kunit_show(struct kunit *test, struct seq_file *s)
{
	memset(s, 0, sizeof(*s));
	s->size = SHOW_SIZE;
	s->buf = kunit_kzalloc(test, SHOW_SIZE, GFP_KERNEL);
	return s->buf;
}

MODULE_DESCRIPTION("KUnit suites: faults and capture of ib_hwsim");
MODULE_LICENSE("Dual BSD/GPL");
