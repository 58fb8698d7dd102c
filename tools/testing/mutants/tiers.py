# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Which tests look at a file of the driver, the cheapest first."""

# Seconds for one plan; a fault that makes it take longer is noticed.
PLAN_LIMIT = 1200

# By file: the targets of libFuzzer that have it in them.
FUZZ = {
    "hdr.c": ["hdr"],
    "rmpp_limits.c": ["limits"],
    "rmpp_peer.c": ["limits"],
    "rmpp_rx.c": ["rx", "wire", "pair"],
    "rmpp_tx.c": ["tx", "pair"],
    "rmpp_window.c": ["limits"],
    "rmpp_wire.h": ["wire", "rx", "pair"],
    "rxq.c": ["rxq"],
    "segbuf.c": ["segbuf", "pair"],
    "txn.c": ["txn"],
}

# By file: plans; kunit* and life on the debug kernel, the others on the stock one:
# that is several times as fast.
PLANS = {
    "agent.c": ["kunit", "abi", "life"],
    "ah.c": ["kunit", "transfer", "hwsim"],
    "charge.c": ["kunit", "transfer"],
    "charge.h": ["transfer"],
    "device.c": ["abi", "life", "hwsim"],
    "file.c": ["kunit", "abi", "life"],
    "gate.c": ["kunit", "life"],
    "hdr.c": ["kunit", "abi", "hwsim"],
    "ioctl.c": ["kunit", "abi"],
    "issm.c": ["abi", "hwsim"],
    "main.c": ["abi", "life"],
    "post.c": ["kunit", "transfer", "hwsim"],
    "read.c": ["abi", "transfer", "rmpp"],
    "recv.c": ["kunit", "transfer", "hwsim"],
    "rmpp.c": ["rmpp", "rmpp-peer"],
    "rmpp_begin.c": ["rmpp", "rmpp-peer"],
    "rmpp_recv.c": ["rmpp", "rmpp-peer"],
    "rmpp_end.c": ["rmpp", "rmpp-peer"],
    "rmpp_limits.c": ["rmpp", "rmpp-peer"],
    "rmpp_peer.c": ["rmpp", "rmpp-peer"],
    "rmpp_rx.c": ["kunit-rmpp", "rmpp-peer"],
    "rmpp_send.c": ["rmpp", "rmpp-peer"],
    "rmpp_tx.c": ["kunit-rmpp", "rmpp-peer"],
    "rmpp_wire.h": ["kunit-rmpp", "rmpp-peer"],
    "rmpp_window.c": ["rmpp", "rmpp-peer"],
    "rmpp_write.c": ["rmpp", "rmpp-peer"],
    "rxq.c": ["kunit", "transfer"],
    "segbuf.c": ["kunit", "rmpp"],
    "send.c": ["kunit", "transfer", "hwsim"],
    "send_events.c": ["kunit", "transfer", "hwsim"],
    "send_life.c": ["kunit", "transfer", "hwsim"],
    "stats.c": ["kunit", "transfer"],
    "sysfs.c": ["abi"],
    "txn.c": ["kunit", "transfer"],
    "write.c": ["abi", "transfer", "rmpp"],
}
# For a file that is not in the table.
DEFAULT = ["kunit", "abi", "transfer", "life"]

TIERS = ["compile", "fuzz", "kunit", "kunit-rmpp", "abi", "transfer", "rmpp",
         "rmpp-peer", "life", "hwsim"]


def tiers_of(fault):
    """In the order in which they are run."""
    return ["compile"] + (["fuzz"] if fault.file in FUZZ else []) + \
        PLANS.get(fault.file, DEFAULT)


def fuzz_targets(fault):
    """All, when it is about no file."""
    return FUZZ.get(fault.file, [])
