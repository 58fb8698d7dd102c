/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Why a registration is refused, in the order of the checks, first the module's own, then
 * ib_core's; no include guard: UMAD_REFUSAL(enumerator without UMAD_REFUSED_, name in the
 * trace event, text of the message). Each has a counter, REGISTER_REFUSED_* in counters.h.
 */
UMAD_REFUSAL(GONE, "gone", "the RDMA device is gone")
UMAD_REFUSAL(QPN, "qpn", "the QP is neither 0 nor 1")
UMAD_REFUSAL(FLAGS, "flags", "unknown flags")
UMAD_REFUSAL(OUI, "oui", "the OUI has more than 24 bits")
UMAD_REFUSAL(NOMEM, "nomem", "no memory")
UMAD_REFUSAL(IDS, "ids", "the file has 32 agents already")
UMAD_REFUSAL(NO_QP, "no_qp", "the port has no such QP")
UMAD_REFUSAL(RMPP_VERSION, "rmpp_version", "the RMPP version is neither 0 nor 1")
UMAD_REFUSAL(USER_RMPP, "user_rmpp", "RMPP of the application's own needs a class")
UMAD_REFUSAL(RMPP_CLASS, "rmpp_class", "the class has no RMPP")
UMAD_REFUSAL(VERSION, "version", "there is no such class version")
UMAD_REFUSAL(CLASS, "class", "there is no such class")
UMAD_REFUSAL(NO_OUI, "no_oui", "a vendor class needs an OUI")
UMAD_REFUSAL(CLASS_QP, "class_qp", "the class belongs to the other QP")
UMAD_REFUSAL(NO_MADS, "no_mads", "ib_core has not opened the port for MADs")
UMAD_REFUSAL(DENIED, "denied", "a security module denies it")
UMAD_REFUSAL(OUIS, "ouis", "the port has eight OUIs of the class already, or no memory")
UMAD_REFUSAL(TAKEN, "taken", "one of these methods of the class is taken")
UMAD_REFUSAL(OTHER, "other", "an error of ib_core")
