/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ib_umad

#if !defined(UMAD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define UMAD_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_user_mad.h>
#include "txn.h"

/* Nothing here may sleep or ask the device: events fire under spinlocks. */

DECLARE_EVENT_CLASS(umad_mad,
	TP_PROTO(const void *file, const struct ib_user_mad_hdr *hdr,
		 const struct ib_mad_hdr *mad),
	TP_ARGS(file, hdr, mad),
	TP_STRUCT__entry(
		__field(const void *, file)
		__field(u32, id)
		__field(u32, status)
		__field(u32, timeout_ms)
		__field(u32, retries)
		__field(u32, qpn)
		__field(u16, lid)
		__field(u16, pkey_index)
		__field(u8, sl)
		__field(u8, grh_present)
		__field(u8, gid_index)
		__array(u8, gid, 16)
		__field(u64, tid)
		__field(u8, mgmt_class)
		__field(u8, class_version)
		__field(u8, method)
		__field(u16, mad_status)
		__field(u16, attr_id)
		__field(u32, attr_mod)
	),
	TP_fast_assign(
		__entry->file = file;
		__entry->id = hdr->id;
		__entry->status = hdr->status;
		__entry->timeout_ms = hdr->timeout_ms;
		__entry->retries = hdr->retries;
		__entry->qpn = be32_to_cpu(hdr->qpn);
		__entry->lid = be16_to_cpu(hdr->lid);
		__entry->pkey_index = hdr->pkey_index;
		__entry->sl = hdr->sl;
		__entry->grh_present = hdr->grh_present;
		__entry->gid_index = hdr->gid_index;
		memcpy(__entry->gid, hdr->gid, sizeof(hdr->gid));
		__entry->tid = be64_to_cpu(mad->tid);
		__entry->mgmt_class = mad->mgmt_class;
		__entry->class_version = mad->class_version;
		__entry->method = mad->method;
		__entry->mad_status = be16_to_cpu(mad->status);
		__entry->attr_id = be16_to_cpu(mad->attr_id);
		__entry->attr_mod = be32_to_cpu(mad->attr_mod);
	),
	TP_printk("file %p id %u status %u timeout_ms %u retries %u qpn 0x%x lid %u pkey_index %u sl %u grh %u gid_index %u gid %pI6c tid 0x%llx class 0x%x version 0x%x method 0x%x mad_status 0x%x attr 0x%x mod 0x%x",
		  __entry->file, __entry->id, __entry->status,
		  __entry->timeout_ms, __entry->retries, __entry->qpn,
		  __entry->lid, __entry->pkey_index, __entry->sl,
		  __entry->grh_present, __entry->gid_index, __entry->gid,
		  __entry->tid, __entry->mgmt_class, __entry->class_version,
		  __entry->method, __entry->mad_status, __entry->attr_id,
		  __entry->attr_mod)
);

/* A program has written a MAD. */
DEFINE_EVENT(umad_mad, ib_umad_write,
	TP_PROTO(const void *file, const struct ib_user_mad_hdr *hdr,
		 const struct ib_mad_hdr *mad),
	TP_ARGS(file, hdr, mad));

/* A program has read a MAD that was received. */
DEFINE_EVENT(umad_mad, ib_umad_read_recv,
	TP_PROTO(const void *file, const struct ib_user_mad_hdr *hdr,
		 const struct ib_mad_hdr *mad),
	TP_ARGS(file, hdr, mad));

/* A program has read that nobody answered. */
DEFINE_EVENT(umad_mad, ib_umad_read_send,
	TP_PROTO(const void *file, const struct ib_user_mad_hdr *hdr,
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
 * A transaction has taken an event; wc_status says why a send failed, or for
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

#endif /* UMAD_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
