// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ring in debugfs: capture is text, a line for each record; writing "clear" removes
 * all. capture.pcap has the packets that were not lost, capture.pcapng all records,
 * with comments. A reader sees the records that were there when the file was opened,
 * but those that were replaced since. The files can be read from the beginning only.
 */
#include "sim_capture_debugfs.h"

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <rdma/ib_mad.h>
#include "sim_capture.h"
#include "sim_field.h"
#include "sim_pcap.h"

#define PORTS_MAX	256

static uint capture_bytes = SZ_1M;
module_param(capture_bytes, uint, 0444);
MODULE_PARM_DESC(capture_bytes, "memory for captured packets, 0 for none (default 1 MiB)");

/**
 * struct reader - an open file
 * @end: where the ring ended when it was opened
 * @gone: records that were replaced by then
 * @pos: position of @record
 * @real: difference of the time since 1970 and the time since boot
 * @ports: number of interfaces in the pcapng file
 * @port: device and port of each
 * @frame: buffer for a frame
 * @block: buffer for a block of the file
 * @record: the record that is shown
 * @bytes: its greatest length
 */
struct reader {
	u64 end;
	u64 gone;
	u64 pos;
	u64 real;
	u32 ports;
	u64 port[PORTS_MAX];
	u8 frame[SIM_FRAME_MAX];
	u8 block[SIM_BLOCK_MAX];
	union {
		struct sim_record record;
		u8 bytes[SIM_RECORD_MAX];
	};
};

/* The file position 0 is the header, n + 1 is the position n in the ring. */
static void *read_record(struct reader *reader, loff_t *pos)
{
	reader->pos = *pos - 1;
	if (!sim_capture_read(&reader->pos, reader->end, &reader->record))
		return NULL;
	*pos = reader->pos + 1;
	return reader;
}

static void *capture_start(struct seq_file *s, loff_t *pos)
{
	return *pos ? read_record(s->private, pos) : SEQ_START_TOKEN;
}

static void *capture_next(struct seq_file *s, void *v, loff_t *pos)
{
	struct reader *reader = s->private;

	*pos = v == SEQ_START_TOKEN ? 1 :
	       reader->pos + reader->record.size + 1;
	return read_record(reader, pos);
}

static void capture_stop(struct seq_file *s, void *v)
{
}

/* Describe the verdict in words. */
static void describe(const struct sim_record *record, char *text, size_t size)
{
	const struct sim_verdict *verdict = &record->verdict;
	int len;

	if (record->lost) {
		scnprintf(text, size, "%s", record->lost);
		return;
	}
	len = scnprintf(text, size, "%s", sim_action_name(verdict->action));
	if (verdict->rule)
		len += scnprintf(text + len, size - len, " rule=%u",
				 verdict->rule);
	if (verdict->action == SIM_DUP)
		len += scnprintf(text + len, size - len, " copies=%u",
				 verdict->copies);
	if (verdict->action == SIM_REORDER)
		len += scnprintf(text + len, size - len, " behind=%u",
				 verdict->behind);
	if (verdict->delay_us)
		scnprintf(text + len, size - len, " delay=%uus",
			  verdict->delay_us);
}

static void show_rmpp(struct seq_file *s, const struct sim_packet *packet)
{
	static const char * const types[] = {
		[SIM_RMPP_DATA] = "data", [SIM_RMPP_ACK] = "ack",
		[SIM_RMPP_STOP] = "stop", [SIM_RMPP_ABORT] = "abort",
	};
	const struct ib_rmpp_hdr *hdr =
		&((const struct ib_rmpp_mad *)packet->mad)->rmpp_hdr;
	u8 type = hdr->rmpp_type;

	if (type < SIM_RMPP_DATA || type > SIM_RMPP_ABORT)
		seq_printf(s, " rmpp=%u", type);
	else
		seq_printf(s, " rmpp=%s", types[type]);
	seq_printf(s, " flags=%u rmppstatus=%u", hdr->rmpp_rtime_flags & 7,
		   hdr->rmpp_status);
	if (type == SIM_RMPP_DATA || type == SIM_RMPP_ACK)
		seq_printf(s, " seg=%u %s=%u", be32_to_cpu(hdr->seg_num),
			   type == SIM_RMPP_DATA ? "paylen" : "nwl",
			   be32_to_cpu(hdr->paylen_newwin));
}

static void show_mad(struct seq_file *s, const struct sim_packet *packet)
{
	const struct ib_mad_hdr *hdr = (const void *)packet->mad;

	if (packet->len < sizeof(*hdr))
		return;
	seq_printf(s, " class=0x%02x method=0x%02x attr=0x%04x mod=0x%08x tid=0x%016llx status=0x%04x",
		   hdr->mgmt_class, hdr->method, be16_to_cpu(hdr->attr_id),
		   be32_to_cpu(hdr->attr_mod), be64_to_cpu(hdr->tid),
		   be16_to_cpu(hdr->status));
	if (sim_mad_is_rmpp(packet))
		show_rmpp(s, packet);
}

static int text_show(struct seq_file *s, void *v)
{
	struct reader *reader = s->private;
	const struct sim_record *record = &reader->record;
	const struct sim_packet *packet = &record->packet;
	char verdict[96];
	u32 ns;
	u64 sec;

	if (v == SEQ_START_TOKEN) {
		if (reader->gone)
			seq_printf(s, "# %llu before these have gone\n",
				   reader->gone);
		return 0;
	}
	sec = div_u64_rem(record->time, NSEC_PER_SEC, &ns);
	describe(record, verdict, sizeof(verdict));
	seq_printf(s, "%llu.%09u hwsim%u/%u %s %s slid=0x%04x dlid=0x%04x sqp=%u dqp=%u pkey=0x%04x sl=%u len=%u",
		   sec, ns, record->device, record->port,
		   record->direction == SIM_OUT ? "out" : "in", verdict,
		   packet->slid, packet->dlid, packet->src_qp, packet->dest_qp,
		   packet->pkey, packet->sl, packet->len);
	if (packet->flags & IB_HWSIM_GRH)
		seq_printf(s, " sgid=%pI6 dgid=%pI6", packet->grh + 8,
			   packet->grh + 24);
	show_mad(s, packet);
	seq_putc(s, '\n');
	return 0;
}

static int pcap_show(struct seq_file *s, void *v)
{
	struct reader *reader = s->private;
	const struct sim_record *record = &reader->record;
	u32 len;

	if (v == SEQ_START_TOKEN) {
		seq_write(s, reader->block, sim_pcap_head(reader->block));
		return 0;
	}
	/* Each packet once, and none that was lost. */
	if (record->verdict.action == SIM_DROP || record->lost)
		return 0;
	len = sim_frame(&record->packet, reader->frame);
	len = sim_pcap_packet(reader->frame, len, record->time + reader->real,
			      reader->block);
	seq_write(s, reader->block, len);
	return 0;
}

/* The number of a port in the file; a new port is added. */
static u32 interface_of(struct seq_file *s, const struct sim_record *record)
{
	u64 port = (u64)record->device << 32 | record->port;
	struct reader *reader = s->private;
	char name[32];
	u32 i;

	for (i = 0; i < reader->ports; i++)
		if (reader->port[i] == port)
			return i;
	/* Too many: use the first one. */
	if (i == PORTS_MAX)
		return 0;
	reader->port[reader->ports++] = port;
	scnprintf(name, sizeof(name), "hwsim%u/%u", record->device,
		  record->port);
	seq_write(s, reader->block, sim_pcapng_interface(name, reader->block));
	return i;
}

static int pcapng_show(struct seq_file *s, void *v)
{
	struct reader *reader = s->private;
	const struct sim_record *record = &reader->record;
	u32 ports = reader->ports;
	char comment[96] = "";
	u32 interface, len;

	if (v == SEQ_START_TOKEN) {
		reader->ports = 0;
		seq_write(s, reader->block, sim_pcapng_head(reader->block));
		return 0;
	}
	interface = interface_of(s, record);
	if (record->lost || record->verdict.action != SIM_PASS ||
	    record->verdict.rule || record->verdict.delay_us)
		describe(record, comment, sizeof(comment));
	len = sim_frame(&record->packet, reader->frame);
	len = sim_pcapng_packet(interface, reader->frame, len,
				record->time + reader->real,
				record->direction == SIM_OUT, comment,
				reader->block);
	seq_write(s, reader->block, len);
	/* The record will be shown again, with its interface. */
	if (seq_has_overflowed(s))
		reader->ports = ports;
	return 0;
}

static int open_reader(struct inode *inode, struct file *file,
		       const struct seq_operations *ops)
{
	struct reader *reader = __seq_open_private(file, ops, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	reader->end = sim_capture_end(&reader->gone);
	reader->real = ktime_get_real_ns() - ktime_get_boottime_ns();
	return nonseekable_open(inode, file);
}

#define CAPTURE_FILE(name, ...)						\
static const struct seq_operations name##_ops = {			\
	.start = capture_start,						\
	.next = capture_next,						\
	.stop = capture_stop,						\
	.show = name##_show,						\
};									\
									\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return open_reader(inode, file, &name##_ops);			\
}									\
									\
static const struct file_operations name##_fops = {			\
	.owner = THIS_MODULE,						\
	.open = name##_open,						\
	.read = seq_read,						\
	.release = seq_release_private,					\
	__VA_ARGS__							\
}

static ssize_t text_write(struct file *file, const char __user *buf,
			  size_t len, loff_t *pos)
{
	char text[16] = "";

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, len))
		return -EFAULT;
	if (strcmp(strim(text), "clear"))
		return -EINVAL;
	sim_capture_clear();
	return len;
}

CAPTURE_FILE(text, .write = text_write);
CAPTURE_FILE(pcap);
CAPTURE_FILE(pcapng);

/**
 * sim_capture_init() - create the ring and its files
 * @dir: the module's directory in debugfs, which the caller removes
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int sim_capture_init(struct dentry *dir)
{
	int ret = sim_capture_alloc(capture_bytes);

	if (ret || IS_ERR_OR_NULL(dir))
		return ret;
	debugfs_create_file("capture", 0600, dir, NULL, &text_fops);
	debugfs_create_file("capture.pcap", 0400, dir, NULL, &pcap_fops);
	debugfs_create_file("capture.pcapng", 0400, dir, NULL, &pcapng_fops);
	return 0;
}

/**
 * sim_capture_exit() - free the ring
 *
 * Context: process; no packet is sent any more, and the directory was removed.
 */
void sim_capture_exit(void)
{
	sim_capture_free();
}
