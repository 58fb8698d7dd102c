// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A plugin of QEMU's TCG: how often each block of the guest's code was run, and how many
 * instructions it has. Written at the end to the file of the argument "out=FILE", a line
 * for each block: address, instructions, runs.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qemu_plugin.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_version = 1;

struct block {
	struct block *next;
	uint64_t vaddr, insns, runs;
};

/* A block that is translated again is another: their addresses are added up later. */
static struct block *blocks;
static const char *out;

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct block *block = calloc(1, sizeof(*block));

	(void)id;
	if (!block)
		abort();
	block->vaddr = qemu_plugin_tb_vaddr(tb);
	block->insns = qemu_plugin_tb_n_insns(tb);
	block->next = blocks;
	blocks = block;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
						 &block->runs, 1);
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
	FILE *file = fopen(out, "w");
	struct block *block;

	(void)id;
	(void)data;
	if (!file)
		return;
	for (block = blocks; block; block = block->next)
		if (block->runs)
			fprintf(file, "%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", block->vaddr,
				block->insns, block->runs);
	fclose(file);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
			       char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4))
		return -1;
	out = strdup(argv[0] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
