# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests of the splat finder, with lines as kernels print them."""

import unittest

import splat

# First lines of reports, in the form the console has them.
REPORTS = """\
BUG: KASAN: use-after-free in umad_release+0x40/0x90 [ib_umad]
BUG: KASAN: slab-out-of-bounds in memcpy+0x1/0x2
BUG: kernel NULL pointer dereference, address: 0000000000000008
BUG: unable to handle page fault for address: ffffc90000a00000
BUG: sleeping function called from invalid context at mm/slab.h:400
BUG: scheduling while atomic: umad/12/0x00000002
BUG: soft lockup - CPU#0 stuck for 22s! [umad:99]
watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [umad:99]
BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 33s!
BUG: MAX_LOCKDEP_CHAINS too low!
BUG ib_mad (Tainted: G        W ): Objects remaining in ib_mad on __kmem_cache_shutdown()
WARNING: CPU: 0 PID: 9 at drivers/infiniband/umad/txn.c:9 txn_put+0x1/0x2 [ib_umad]
WARNING: possible circular locking dependency detected
WARNING: possible recursive locking detected
WARNING: inconsistent lock state
WARNING: suspicious RCU usage
WARNING: held lock freed!
WARNING: bad unlock balance detected!
[ BUG: Invalid wait context ]
DEBUG_LOCKS_WARN_ON(depth <= 0)
refcount_t: underflow; use-after-free.
ODEBUG: free active (active state 0) object type: timer_list hint: f+0x0/0x1
list_del corruption. prev->next should be ffff, but was 0000
UBSAN: array-index-out-of-bounds in drivers/infiniband/umad/hdr.c:4:2
general protection fault, probably for non-canonical address 0xdffffc0000000000: 0000 [#1]
Oops: 0000 [#1] PREEMPT SMP KASAN NOPTI
kernel BUG at mm/slub.c:400!
invalid opcode: 0000 [#1] SMP
Kernel panic - not syncing: sysrq triggered crash
INFO: task umad_abi:77 blocked for more than 60 seconds.
rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
rcu: INFO: rcu_sched self-detected stall on CPU
unreferenced object 0xffff888004c80000 (size 96):
kmemleak: Kernel memory leak detector disabled
kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
unregister_netdevice: waiting for dummy0 to become free. Usage count = 2
usercopy: Kernel memory exposure attempt detected from SLUB object
INFO: lockdep is turned off.
INFO: trying to register non-static key.
"""

HARMLESS = """\
rcu: Preemptible hierarchical RCU implementation.
Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar
kmemleak: Kernel memory leak detector initialized (mem pool available: 90000)
kasan: KernelAddressSanitizer initialized
rdma_rxe: loaded
XT-BEGIN test 3 warnings-are-words
software IO TLB: mapped
oops=panic panic=-1 console=ttyS0
Command line: console=ttyS0 panic=-1 oops=panic debug
Mountpoint-cache hash table entries: 2048
WARN_ON is a macro
"""


def console(*lines):
    """Lines with time stamps."""
    return [f"[{i:5}.000000] {line}" for i, line in enumerate(lines)]


class Finder(unittest.TestCase):
    """find() on recorded text."""

    def test_every_report(self):
        for line in REPORTS.splitlines():
            found, _ = splat.find(console("XT-BEGIN test 1 a", line))
            self.assertEqual(len(found), 1, line)
            self.assertEqual(found[0].where, "test 1 a")

    def test_with_thread_in_stamp(self):
        found, _ = splat.find(["[    1.000000][   T12] WARNING: CPU: 0 PID: 1"])
        self.assertEqual(len(found), 1)

    def test_without_stamp(self):
        self.assertEqual(len(splat.find(["WARNING: CPU: 0"])[0]), 1)

    def test_harmless(self):
        found, _ = splat.find(console(*HARMLESS.splitlines()))
        self.assertEqual(found, [])

    def test_attribution(self):
        found, _ = splat.find(console(
            "BUG: early", "XT-BEGIN test 1 one", "fine",
            "XT-BEGIN test 2 two", "WARNING: late"))
        self.assertEqual([s.where for s in found], ["boot", "test 2 two"])

    def test_one_report_is_one_splat(self):
        found, _ = splat.find(console(
            "XT-BEGIN test 1 a", "refcount_t: underflow; use-after-free.",
            "WARNING: CPU: 0 PID: 9 at lib/refcount.c:28",
            "RIP: 0010:refcount_warn_saturate+0xba/0x110"))
        self.assertIn(len(found), (1, 2))
        self.assertEqual(found[0].line, "refcount_t: underflow; "
                         "use-after-free.")

    def test_allowed(self):
        lines = console("XT-BEGIN test 1 a",
                        "WARNING: CPU: 0 PID: 1 at x.c:1 make_warning+0x1")
        found, hits = splat.find(lines, ["at x.c:1 make_warning"])
        self.assertEqual((found, hits), ([], {"at x.c:1 make_warning"}))

    def test_allowed_one_does_not_hide_another(self):
        lines = console("XT-BEGIN test 1 a", "WARNING: CPU: 0 at x.c:1 good",
                        "Call Trace:", "BUG: KASAN: use-after-free in f")
        found, _ = splat.find(lines, ["x.c:1 good"])
        self.assertEqual([s.line for s in found],
                         ["BUG: KASAN: use-after-free in f"])

    def test_allowed_one_ends_at_the_next_test(self):
        lines = console("XT-BEGIN test 1 a", "WARNING: CPU: 0 at x.c:1 good",
                        "XT-BEGIN test 2 b", "refcount_t: underflow")
        self.assertEqual(len(splat.find(lines, ["x.c:1 good"])[0]), 1)

    def test_unneeded_permission(self):
        self.assertEqual(splat.find(console("fine"), ["WARNING"]), ([], set()))
