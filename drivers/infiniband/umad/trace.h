/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ib_umad

#if !defined(UMAD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define UMAD_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_user_mad.h>
#include "file.h"
#include "hdr.h"
#include "port.h"
#include "refusal.h"
#include "txn.h"

/* Trace entries have what stands on the wire, as in-tree; sparse need not mind. */
#define umad_trace_be16(x)	be16_to_cpu((__force __be16)(x))
#define umad_trace_be32(x)	be32_to_cpu((__force __be32)(x))
#define umad_trace_be64(x)	be64_to_cpu((__force __be64)(x))

/* Nothing here may sleep or ask the device: events fire under spinlocks. */

/*
 * Names, order, byte order and text are those of the in-tree module, so that scripts
 * written for it work, and so is the misspelt "retires". What is ours stands behind.
 */
DECLARE_EVENT_CLASS(umad_mad,
	TP_PROTO(const struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		 const struct ib_mad_hdr *mad),
	TP_ARGS(file, hdr, mad),
	TP_STRUCT__entry(
		__field(u8, port_num)
		__field(u8, sl)
		__field(u8, path_bits)
		__field(u8, grh_present)
		__field(u32, id)
		__field(u32, status)
		__field(u32, timeout_ms)
		__field(u32, retires)
		__field(u32, length)
		__field(u32, qpn)
		__field(u32, qkey)
		__field(u8, gid_index)
		__field(u8, hop_limit)
		__field(u16, lid)
		__field(u16, attr_id)
		__field(u16, pkey_index)
		__field(u8, base_version)
		__field(u8, mgmt_class)
		__field(u8, class_version)
		__field(u8, method)
		__field(u32, flow_label)
		__field(u16, mad_status)
		__field(u16, class_specific)
		__field(u32, attr_mod)
		__field(u64, tid)
		__array(u8, gid, 16)
		__field(u32, dev_index)
		__field(u8, traffic_class)
		__field(const void *, file)
	),
	TP_fast_assign(
		__entry->file = file;
		__entry->dev_index = file->port->dev_index;
		__entry->port_num = file->port->port_num;
		__entry->id = hdr->id;
		__entry->status = hdr->status;
		__entry->timeout_ms = hdr->timeout_ms;
		__entry->retires = hdr->retries;
		__entry->length = hdr->length;
		__entry->qpn = (__force u32)hdr->qpn;
		__entry->qkey = (__force u32)hdr->qkey;
		__entry->lid = (__force u16)hdr->lid;
		__entry->sl = hdr->sl;
		__entry->path_bits = hdr->path_bits;
		__entry->grh_present = hdr->grh_present;
		__entry->gid_index = hdr->gid_index;
		__entry->hop_limit = hdr->hop_limit;
		__entry->traffic_class = hdr->traffic_class;
		memcpy(__entry->gid, hdr->gid, sizeof(hdr->gid));
		__entry->flow_label = (__force u32)hdr->flow_label;
		__entry->pkey_index = hdr->pkey_index;
		__entry->base_version = mad->base_version;
		__entry->mgmt_class = mad->mgmt_class;
		__entry->class_version = mad->class_version;
		__entry->method = mad->method;
		__entry->mad_status = (__force u16)mad->status;
		__entry->class_specific = (__force u16)mad->class_specific;
		__entry->tid = (__force u64)mad->tid;
		__entry->attr_id = (__force u16)mad->attr_id;
		__entry->attr_mod = (__force u32)mad->attr_mod;
	),
	TP_printk("%d:%d umad_hdr: id 0x%08x status 0x%08x ms %u ret %u len %u QP%u qkey 0x%08x lid 0x%04x sl %u path_bits 0x%x grh 0x%x gidi %u hop_lim %u traf_cl %u gid %pI6c flow 0x%08x pkeyi %u  MAD: base_ver 0x%x class 0x%x class_ver 0x%x method 0x%x status 0x%04x class_specific 0x%04x tid 0x%016llx attr_id 0x%04x attr_mod 0x%08x  file %p",
		  __entry->dev_index, __entry->port_num, __entry->id,
		  __entry->status, __entry->timeout_ms, __entry->retires,
		  __entry->length, umad_trace_be32(__entry->qpn),
		  umad_trace_be32(__entry->qkey), umad_trace_be16(__entry->lid),
		  __entry->sl, __entry->path_bits, __entry->grh_present,
		  __entry->gid_index, __entry->hop_limit,
		  __entry->traffic_class, __entry->gid,
		  umad_trace_be32(__entry->flow_label), __entry->pkey_index,
		  __entry->base_version, __entry->mgmt_class,
		  __entry->class_version, __entry->method,
		  umad_trace_be16(__entry->mad_status),
		  umad_trace_be16(__entry->class_specific),
		  umad_trace_be64(__entry->tid), umad_trace_be16(__entry->attr_id),
		  umad_trace_be32(__entry->attr_mod), __entry->file)
);

/* An application has written a MAD. */
DEFINE_EVENT(umad_mad, ib_umad_write,
	TP_PROTO(const struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		 const struct ib_mad_hdr *mad),
	TP_ARGS(file, hdr, mad));

/* An application has read a MAD that was received. */
DEFINE_EVENT(umad_mad, ib_umad_read_recv,
	TP_PROTO(const struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		 const struct ib_mad_hdr *mad),
	TP_ARGS(file, hdr, mad));

/* An application has read that a request of its own timed out. */
DEFINE_EVENT(umad_mad, ib_umad_read_send,
	TP_PROTO(const struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		 const struct ib_mad_hdr *mad),
	TP_ARGS(file, hdr, mad));

TRACE_DEFINE_ENUM(UMAD_TXN_SEND);
TRACE_DEFINE_ENUM(UMAD_TXN_WAIT);
TRACE_DEFINE_ENUM(UMAD_TXN_EXPIRED);
TRACE_DEFINE_ENUM(UMAD_TXN_DONE);
TRACE_DEFINE_ENUM(UMAD_TXN_EV_RESPONSE);
TRACE_DEFINE_ENUM(UMAD_TXN_EV_DEADLINE);
TRACE_DEFINE_ENUM(UMAD_TXN_EV_SENT);
TRACE_DEFINE_ENUM(UMAD_TXN_EV_LOST);
TRACE_DEFINE_ENUM(UMAD_TXN_EV_FAILED);
TRACE_DEFINE_ENUM(UMAD_TXN_EV_CANCEL);
TRACE_DEFINE_ENUM(UMAD_TXN_EV_UNDELIVERED);

#define umad_show_state(state)				\
	__print_symbolic(state,				\
			 { UMAD_TXN_SEND, "send" },	\
			 { UMAD_TXN_WAIT, "wait" },	\
			 { UMAD_TXN_EXPIRED, "expired" }, \
			 { UMAD_TXN_DONE, "done" })

#define umad_show_event(event)					\
	__print_symbolic(event,					\
			 { UMAD_TXN_EV_RESPONSE, "response" },	\
			 { UMAD_TXN_EV_DEADLINE, "deadline" },	\
			 { UMAD_TXN_EV_SENT, "sent" },		\
			 { UMAD_TXN_EV_LOST, "lost" },		\
			 { UMAD_TXN_EV_FAILED, "failed" },	\
			 { UMAD_TXN_EV_CANCEL, "cancel" },	\
			 { UMAD_TXN_EV_UNDELIVERED, "undelivered" })

/*
 * A transaction has taken an event; wc_status says why an attempt failed, or for
 * "undelivered" is the RMPPStatus.
 */
TRACE_EVENT(ib_umad_txn,
	TP_PROTO(const void *file, const struct umad_txn *txn,
		 enum umad_txn_state old, enum umad_txn_event event,
		 int wc_status),
	TP_ARGS(file, txn, old, event, wc_status),
	TP_STRUCT__entry(
		__field(const void *, file)
		__field(u64, tid)
		__field(u8, mgmt_class)
		__field(u32, retries_left)
		__field(u8, old_state)
		__field(u8, event)
		__field(u8, new_state)
		__field(int, wc_status)
	),
	TP_fast_assign(
		__entry->file = file;
		__entry->tid = be64_to_cpu(txn->key.tid);
		__entry->mgmt_class = txn->key.mgmt_class;
		__entry->retries_left = txn->retries_left;
		__entry->old_state = old;
		__entry->event = event;
		__entry->new_state = txn->state;
		__entry->wc_status = wc_status;
	),
	TP_printk("file %p tid 0x%llx class 0x%x retries_left %u %s -%s-> %s wc_status %d",
		  __entry->file, __entry->tid, __entry->mgmt_class,
		  __entry->retries_left, umad_show_state(__entry->old_state),
		  umad_show_event(__entry->event),
		  umad_show_state(__entry->new_state), __entry->wc_status)
);

/*
 * A registration was refused. "reason" is a name of refusals.h, "holder" the process that
 * has what was asked for, or 0. The words of "methods" begin with the lowest methods.
 */
TRACE_EVENT(ib_umad_register_refused,
	TP_PROTO(const struct umad_file *file, const struct umad_reg *reg,
		 const char *reason, int error, pid_t holder),
	TP_ARGS(file, reg, reason, error, holder),
	TP_STRUCT__entry(
		__field(const void *, file)
		__field(u32, dev_index)
		__field(u32, port_num)
		__field(u32, qpn)
		__field(u32, flags)
		__array(u32, methods, IB_MGMT_MAX_METHODS / 32)
		__array(u8, oui, 3)
		__field(u8, mgmt_class)
		__field(u8, class_version)
		__field(u8, rmpp_version)
		__array(char, reason, UMAD_REFUSAL_NAME_LEN)
		__field(int, error)
		__field(pid_t, holder)
	),
	TP_fast_assign(
		__entry->file = file;
		__entry->dev_index = file->port->dev_index;
		__entry->port_num = file->port->port_num;
		__entry->qpn = reg->qpn;
		__entry->flags = reg->flags;
		bitmap_to_arr32(__entry->methods, reg->req.method_mask,
				IB_MGMT_MAX_METHODS);
		memcpy(__entry->oui, reg->req.oui, sizeof(reg->req.oui));
		__entry->mgmt_class = reg->req.mgmt_class;
		__entry->class_version = reg->req.mgmt_class_version;
		__entry->rmpp_version = reg->rmpp_version;
		strscpy(__entry->reason, reason, UMAD_REFUSAL_NAME_LEN);
		__entry->error = error;
		__entry->holder = holder;
	),
	TP_printk("%u:%u QP%u class 0x%x version %u methods 0x%08x%08x%08x%08x oui %3phN rmpp %u flags 0x%x reason %s error %d holder %d  file %p",
		  __entry->dev_index, __entry->port_num, __entry->qpn,
		  __entry->mgmt_class, __entry->class_version,
		  __entry->methods[3], __entry->methods[2],
		  __entry->methods[1], __entry->methods[0], __entry->oui,
		  __entry->rmpp_version, __entry->flags, __entry->reason,
		  __entry->error, __entry->holder, __entry->file)
);

#endif /* UMAD_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
