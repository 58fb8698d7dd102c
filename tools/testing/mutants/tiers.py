# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Which tests look at a file of the driver, the cheapest first."""

# Seconds for one plan; a fault that makes it take longer is noticed.
PLAN_LIMIT = 1200

# By file: the targets of libFuzzer that have it in them.
FUZZ = {
    "addr.c": ["hdr", "txn", "limits"],
    "hdr.c": ["hdr"],
    "rmpp_account.c": ["limits"],
    "rmpp_limits.c": ["limits"],
    "rmpp_memo.c": ["memo"],
    "rmpp_peer.c": ["limits"],
    "rmpp_rx.c": ["rx", "wire", "pair"],
    "rmpp_tx.c": ["tx", "pair"],
    "rmpp_window.c": ["limits"],
    "rmpp_wire.h": ["wire", "rx", "pair"],
    "rxq.c": ["rxq"],
    "pagebuf.c": ["pagebuf", "pair"],
    "timer.c": ["txn"],
    "txn.c": ["txn"],
}

# By file: plans, all on the instruction clock; kunit* and life on the debug kernel,
# the others on the stock one, which takes a quarter of the time.
PLANS = {
    "agent.c": ["abi", "kunit", "life"],
    "cdev.c": ["abi", "kunit", "life"],
    "register.c": ["abi", "kunit", "life"],
    "port.c": ["abi", "life"],
    "addr.c": ["kunit", "transfer", "rmpp", "hwsim"],
    "again.c": ["kunit", "transfer", "bounds", "hwsim"],
    "ah.c": ["transfer", "hwsim", "kunit"],
    "charge.c": ["transfer", "kunit", "race", "bounds"],
    "charge.h": ["transfer", "bounds"],
    "deadline.c": ["transfer", "hwsim", "kunit", "bounds"],
    "device.c": ["abi", "hwsim", "life"],
    "file.c": ["transfer", "kunit", "life"],
    "active_ref.c": ["kunit", "life"],
    "hdr.c": ["abi", "hwsim", "kunit"],
    "ioctl.c": ["abi", "kunit"],
    "issm.c": ["abi", "hwsim"],
    "main.c": ["abi", "life"],
    "post.c": ["transfer", "hwsim", "kunit"],
    "read.c": ["abi", "transfer", "rmpp"],
    "recv_hdr.c": ["transfer", "hwsim", "kunit"],
    "recv.c": ["transfer", "hwsim", "kunit", "bounds"],
    "rmpp_account.c": ["rmpp", "rmpp-peer", "bounds"],
    "rmpp_control.c": ["rmpp", "rmpp-peer", "bounds", "hwsim"],
    "rmpp_demux.c": ["rmpp", "rmpp-peer", "bounds", "hwsim"],
    "rmpp_match.c": ["rmpp", "rmpp-peer", "bounds", "hwsim"],
    "rmpp_rx_life.c": ["rmpp", "rmpp-peer", "bounds"],
    "rmpp.c": ["rmpp", "rmpp-peer", "bounds"],
    "rmpp_addr.c": ["silent-peers"],
    "rmpp_memo.c": ["hwsim"],
    "rmpp_begin.c": ["rmpp", "rmpp-peer", "bounds", "hwsim"],
    "rmpp_recv.c": ["rmpp", "rmpp-peer", "bounds", "hwsim"],
    "rmpp_end.c": ["rmpp", "rmpp-peer", "bounds", "silent-peers"],
    "rmpp_limits.c": ["rmpp", "rmpp-peer", "bounds"],
    "rmpp_peer.c": ["rmpp", "rmpp-peer", "bounds"],
    "rmpp_rx.c": ["kunit-rmpp", "rmpp-peer"],
    "rmpp_send.c": ["rmpp", "rmpp-peer", "bounds", "hwsim"],
    "rmpp_segment.c": ["rmpp", "rmpp-peer", "bounds", "hwsim"],
    "rmpp_dest.c": ["rmpp", "hwsim"],
    "rmpp_turn.c": ["rmpp", "rmpp-peer", "hwsim"],
    "rmpp_tx.c": ["kunit-rmpp", "rmpp-peer"],
    "rmpp_wire.h": ["kunit-rmpp", "rmpp-peer"],
    "rmpp_window.c": ["rmpp", "rmpp-peer", "bounds"],
    "rmpp_write.c": ["rmpp", "rmpp-peer", "bounds"],
    "rxq.c": ["transfer", "kunit"],
    "pagebuf.c": ["rmpp", "kunit"],
    "send.c": ["transfer", "hwsim", "kunit", "bounds"],
    "request_events.c": ["transfer", "hwsim", "kunit", "bounds"],
    "request.c": ["transfer", "hwsim", "kunit", "bounds", "race"],
    "debugfs.c": ["transfer", "kunit"],
    "sysfs.c": ["abi"],
    "wait_entry.c": ["transfer", "rmpp", "hwsim", "kunit", "race"],
    "txn.c": ["transfer", "kunit"],
    "write.c": ["abi", "transfer", "rmpp", "bounds"],
}
# For a file that is not in the table.
DEFAULT = ["abi", "transfer", "kunit", "life"]

TIERS = ["compile", "fuzz", "abi", "transfer", "kunit-rmpp", "rmpp",
         "rmpp-peer", "silent-peers", "bounds", "hwsim", "kunit", "race", "life"]


def tiers_of(fault):
    """In the order in which they are run."""
    return ["compile"] + (["fuzz"] if fault.file in FUZZ else []) + \
        PLANS.get(fault.file, DEFAULT)


def fuzz_targets(fault):
    """All, when it is about no file."""
    return FUZZ.get(fault.file, [])
