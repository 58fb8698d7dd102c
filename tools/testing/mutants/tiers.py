# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Which tests look at a file of the driver, the cheapest first."""

# Seconds for one plan; a fault that makes it take longer is noticed.
PLAN_LIMIT = 1200

# By file: the targets of libFuzzer that have it in them.
FUZZ = {
    "addr.c": ["hdr", "txn", "limits"],
    "hdr.c": ["hdr"],
    "rmpp/account.c": ["limits"],
    "rmpp/limits.c": ["limits"],
    "rmpp/memo.c": ["memo"],
    "rmpp/peer.c": ["limits"],
    "rmpp/rx.c": ["rx", "wire", "pair"],
    "rmpp/tx.c": ["tx", "pair"],
    "rmpp/tx_wait.c": ["tx"],
    "rmpp/window.c": ["limits"],
    "rmpp/wire.h": ["wire", "rx", "pair"],
    "rxq.c": ["rxq"],
    "pagebuf.c": ["pagebuf", "pair"],
    "timer.c": ["txn"],
    "txn.c": ["txn"],
}

# By file: plans, all on the instruction clock; kunit*, life and rmpp-peer-debug on the debug kernel,
# where kmemleak is,
# the others on the stock one, which takes a quarter of the time.
PLANS = {
    "agent.c": ["abi", "kunit", "life"],
    "cdev.c": ["abi", "kunit", "life", "rmpp-peer-debug"],
    "register.c": ["abi", "kunit", "hwsim", "life"],
    "refusal.c": ["kunit", "hwsim"],
    "refuse.c": ["hwsim"],
    "port.c": ["abi", "life", "hwsim"],
    "addr.c": ["kunit", "transfer", "rmpp", "hwsim"],
    "retry.c": ["kunit", "transfer", "bounds", "hwsim"],
    "turns.c": ["kunit", "transfer", "bounds", "hwsim"],
    "ah.c": ["transfer", "hwsim", "kunit", "life"],
    "dmac_cache.c": ["kunit"],
    "neigh.c": ["transfer"],
    "charge.c": ["transfer", "kunit", "race", "bounds"],
    "room.c": ["transfer", "kunit", "race", "bounds"],
    "reserve.c": ["transfer", "bounds", "race"],
    "reclaim.c": ["transfer", "race"],
    "askers.c": ["kunit", "hwsim"],
    "poll_wake.c": ["transfer", "kunit", "race"],
    "send_limits.c": ["bounds", "transfer", "hwsim"],
    "shed.c": ["transfer", "race"],
    "rmpp/shed.c": ["rmpp", "race"],
    "rmpp/shed_sent.c": ["rmpp", "race"],
    "charge.h": ["transfer", "kunit", "bounds"],
    "deadlines.c": ["kunit", "transfer", "life", "hwsim"],
    "deadline.c": ["transfer", "hwsim", "kunit", "bounds"],
    "device.c": ["abi", "hwsim", "life"],
    "file.c": ["transfer", "kunit", "life"],
    "flow.c": ["kunit", "hwsim"],
    "active_ref.c": ["kunit", "life"],
    "flush.c": ["hwsim"],
    "hdr.c": ["abi", "hwsim", "kunit"],
    "hidden.c": ["transfer", "life"],
    "ioctl.c": ["abi", "kunit"],
    "issm.c": ["abi", "hwsim"],
    "main.c": ["abi", "life"],
    "post.c": ["transfer", "hwsim", "kunit"],
    "read.c": ["abi", "transfer", "rmpp"],
    "recv_hdr.c": ["transfer", "hwsim", "kunit"],
    "recv.c": ["transfer", "hwsim", "kunit", "bounds"],
    "rmpp/account.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds", "hwsim"],
    "rmpp/control.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds", "hwsim"],
    "rmpp/demux.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds", "hwsim"],
    "rmpp/match.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds", "hwsim"],
    "rmpp/reassembly.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds"],
    "rmpp/rmpp.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds"],
    "rmpp/resolve.c": ["silent-peers"],
    "rmpp/memo.c": ["hwsim"],
    "rmpp/xfer_rx_begin.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds", "hwsim"],
    "rmpp/xfer_rx.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds", "hwsim"],
    "rmpp/xfer_rx_end.c": ["transfer", "rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds", "hwsim", "silent-peers"],
    "rmpp/limits.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds", "hwsim"],
    "rmpp/peer.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds"],
    "rmpp/rx.c": ["kunit-rmpp", "rmpp-peer", "rmpp-peer-debug"],
    "rmpp/xfer_tx.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds", "hwsim"],
    "rmpp/segment.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds", "hwsim", "race"],
    "rmpp/sched.c": ["kunit", "rmpp", "rmpp-peer", "bounds", "hwsim"],
    "rmpp/dest.c": ["rmpp", "hwsim"],
    "rmpp/dedup.c": ["hwsim"],
    "rmpp/turn.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "hwsim"],
    "rmpp/tx.c": ["kunit-rmpp", "rmpp-peer", "rmpp-peer-debug"],
    "rmpp/tx_wait.c": ["kunit", "hwsim"],
    "rmpp/wire.h": ["kunit-rmpp", "rmpp-peer", "rmpp-peer-debug"],
    "rmpp/window.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds", "hwsim"],
    "rmpp/message.c": ["rmpp", "rmpp-peer", "rmpp-peer-debug", "bounds"],
    "rxq.c": ["transfer", "kunit"],
    "pagebuf.c": ["rmpp", "kunit"],
    "send.c": ["transfer", "hwsim", "kunit", "bounds"],
    "request_events.c": ["transfer", "hwsim", "kunit", "bounds"],
    "answer.c": ["rmpp", "hwsim"],
    "request.c": ["transfer", "hwsim", "kunit", "bounds", "race"],
    "debugfs.c": ["transfer", "kunit"],
    "sysfs.c": ["abi"],
    "wait_entry.c": ["transfer", "rmpp", "hwsim", "kunit", "race"],
    "txn.c": ["transfer", "kunit"],
    "write.c": ["abi", "transfer", "rmpp", "bounds"],
}
# For a file that is not in the table.
DEFAULT = ["abi", "transfer", "kunit", "life"]

# A program that a fault names is a tier of its own.
PROGRAM = "by:"

# By what a pass costs: 8 s of the processor for compile, 12 for abi, 270 for hwsim.
TIERS = ["compile", "fuzz", "abi", "transfer", "rmpp-peer", "silent-peers", "kunit-rmpp",
         "kunit", "rmpp", "life", "race", "bounds", "rmpp-peer-debug", "hwsim"]


def tiers_of(fault):
    """In the order in which they are run."""
    return ["compile"] + \
        ([PROGRAM + fault.program] if fault.program else []) + \
        (["fuzz"] if fault.file in FUZZ else []) + \
        sorted(PLANS.get(fault.file, DEFAULT), key=TIERS.index)


def fuzz_targets(fault):
    """All, when it is about no file."""
    return FUZZ.get(fault.file, [])
