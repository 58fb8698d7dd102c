// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "refusal.h"

#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <rdma/ib_mad.h>
#include "hdr.h"
#include "umad_export.h"

/* Of ib_core's tables, in its mad_priv.h. */
#define CORE_VERSIONS	0x83
#define CORE_CLASSES	80

static const struct {
	char name[UMAD_REFUSAL_NAME_LEN];
	const char *text;
} refusals[UMAD_REFUSED_COUNT] = {
	[UMAD_REFUSED_NOT] = { "not", "" },
#define UMAD_REFUSAL(why, name, text) \
	[UMAD_REFUSED_##why] = { name, text },
#include "refusals.h"
#undef UMAD_REFUSAL
};

static bool class_has_oui(u8 mgmt_class)
{
	return mgmt_class >= IB_MGMT_CLASS_VENDOR_RANGE2_START &&
	       mgmt_class <= IB_MGMT_CLASS_VENDOR_RANGE2_END;
}

static bool class_is_smi(u8 mgmt_class)
{
	return mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED ||
	       mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
}

/* What ib_core checks of a class, in its order; what is left is an overlap. */
static enum umad_refusal invalid(const struct umad_reg *reg)
{
	static const u8 no_oui[3];
	u8 mgmt_class = reg->req.mgmt_class;

	if (!mgmt_class)
		return UMAD_REFUSED_OTHER;
	if (reg->req.mgmt_class_version >= CORE_VERSIONS)
		return UMAD_REFUSED_VERSION;
	if (mgmt_class >= CORE_CLASSES &&
	    mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return UMAD_REFUSED_CLASS;
	if (class_has_oui(mgmt_class) &&
	    !memcmp(reg->req.oui, no_oui, sizeof(no_oui)))
		return UMAD_REFUSED_NO_OUI;
	if (class_is_smi(mgmt_class) == !!reg->qpn)
		return UMAD_REFUSED_CLASS_QP;
	return UMAD_REFUSED_TAKEN;
}

/**
 * umad_refusal_by_core() - find out why ib_core has refused a registration
 * @reg: what it was asked for
 * @error: what ib_register_mad_agent() has returned, negative
 *
 * Context: any.
 * Return: the reason.
 */
enum umad_refusal umad_refusal_by_core(const struct umad_reg *reg, int error)
{
	switch (error) {
	case -EINVAL:
		return invalid(reg);
	case -ENOMEM:
		return class_has_oui(reg->req.mgmt_class) ? UMAD_REFUSED_OUIS :
							    UMAD_REFUSED_NOMEM;
	case -EPROTONOSUPPORT:
		return UMAD_REFUSED_NO_QP;
	case -ENODEV:
		return UMAD_REFUSED_NO_MADS;
	case -EACCES:
	case -EPERM:
		return UMAD_REFUSED_DENIED;
	default:
		return UMAD_REFUSED_OTHER;
	}
}
EXPORT_SYMBOL_IF_KUNIT(umad_refusal_by_core);

/**
 * umad_reg_overlaps() - check whether ib_core takes one of two registrations only
 * @a: for one port
 * @b: for the same port
 *
 * Context: any.
 * Return: whether they have a method of a class in common.
 */
bool umad_reg_overlaps(const struct ib_mad_reg_req *a, const struct ib_mad_reg_req *b)
{
	return a->mgmt_class && a->mgmt_class == b->mgmt_class &&
	       a->mgmt_class_version == b->mgmt_class_version &&
	       (!class_has_oui(a->mgmt_class) ||
		!memcmp(a->oui, b->oui, sizeof(a->oui))) &&
	       bitmap_intersects(a->method_mask, b->method_mask,
				 IB_MGMT_MAX_METHODS);
}
EXPORT_SYMBOL_IF_KUNIT(umad_reg_overlaps);

/**
 * umad_refusal_name() - get the name of a reason
 * @why: the reason
 *
 * Context: any.
 * Return: its name in the trace event, of less than UMAD_REFUSAL_NAME_LEN characters.
 */
const char *umad_refusal_name(enum umad_refusal why)
{
	return refusals[why].name;
}
EXPORT_SYMBOL_IF_KUNIT(umad_refusal_name);

/**
 * umad_refusal_text() - get the text of a reason
 * @why: the reason
 *
 * Context: any.
 * Return: its text for the kernel log.
 */
const char *umad_refusal_text(enum umad_refusal why)
{
	return refusals[why].text;
}
