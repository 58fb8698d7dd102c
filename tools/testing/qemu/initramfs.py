# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Makes the initramfs of a guest: an uncompressed "newc" cpio archive.

Owns what is in the guest's file system: busybox, real programs of the host
with their shared libraries, kernel modules with the modules.dep they need,
and whatever files a job adds.
"""

import glob
import lzma
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

# Programs of the host, copied with their libraries; a missing one is left out
# (install-deps.sh installs them all).
PROGRAMS = """ip tc rdma ibstat ibping ibaddr sminfo smpquery perfquery saquery
ibv_devinfo ibv_devices ibsysstat mcm_rereg_test strace""".split()

# Libraries opened by name at run time, and what tells them to: patterns.
EXTRA_FILES = """/etc/libibverbs.d/rxe.driver
/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav*.so
/usr/lib/x86_64-linux-gnu/libnss_files.so.2
/usr/lib/x86_64-linux-gnu/libgcc_s.so.1""".split()

# Kernel modules of the profile that go in, with all they depend on.
MODULES = """ib_core ib_cm ib_uverbs rdma_cm rdma_ucm rdma_rxe crc32_generic
dummy veth sch_netem brd ipv6 virtio_pci virtio_net xfrm_user""".split()

# The same, for a guest with a disk.
DISK_MODULES = "virtio_blk squashfs overlay".split()

DIRECTORIES = """dev dev/infiniband proc sys tmp run root etc opt/umad xt xt/setup
xt/tests usr/bin usr/sbin usr/lib usr/lib64 usr/local/bin var""".split()

LINKS = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib",
         "lib64": "usr/lib64", "init": "xt/init"}


def _normal(path):
    """A guest path as a key: relative, and with the merged /usr resolved."""
    path = os.path.normpath("/" + str(path)).lstrip("/")
    first, _, rest = path.partition("/")
    if rest and first in ("bin", "sbin", "lib", "lib64"):
        return f"usr/{first}/{rest}"
    return path


class Tree:
    """The files of an archive; a later entry replaces an earlier one."""

    def __init__(self):
        self.entries = {}       # path -> (mode, data, (major, minor))

    def _put(self, path, mode, data=b"", device=(0, 0)):
        path = _normal(path)
        parent = os.path.dirname(path)
        if parent and parent not in self.entries:
            self._put(parent, stat.S_IFDIR | 0o755)
        if stat.S_ISDIR(mode) and path in self.entries:
            return
        self.entries[path] = (mode, data, device)

    def directory(self, path):
        """An empty directory."""
        self._put(path, stat.S_IFDIR | 0o755)

    def text(self, path, text, mode=0o644):
        """A file with this text."""
        self._put(path, stat.S_IFREG | mode, text.encode())

    def blob(self, path, data, mode=0o644):
        """A file with these bytes."""
        self._put(path, stat.S_IFREG | mode, data)

    def link(self, path, target):
        """A symbolic link."""
        self._put(path, stat.S_IFLNK | 0o777, str(target).encode())

    def copy(self, host, path=None):
        """A file of the host, symbolic links followed."""
        host = Path(host)
        mode = 0o755 if os.access(host, os.X_OK) else 0o644
        self._put(path or host, stat.S_IFREG | mode, host.read_bytes())

    def node(self, path, major, minor):
        """A character device."""
        self._put(path, stat.S_IFCHR | 0o600, device=(major, minor))

    def write(self, out):
        """The archive, to a file object."""
        def record(inode, path, mode, data, device):
            name = path.encode() + b"\0"
            fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device,
                      len(name), 0)
            head = b"070701" + b"".join(b"%08X" % f for f in fields) + name
            out.write(head + b"\0" * (-len(head) % 4))
            out.write(data)
            out.write(b"\0" * (-len(data) % 4))

        # Parents come before children in sorted order.
        for inode, path in enumerate(sorted(self.entries), 1):
            record(inode, path, *self.entries[path])
        record(0, "TRAILER!!!", 0, b"", (0, 0))


def libraries(files):
    """What ldd says these files load."""
    files = [str(f) for f in files]
    if not files:
        return set()
    text = subprocess.run(["ldd", *files], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout
    return set(re.findall(r"(/\S+) \(0x", text))


def add_programs(tree, more=(), profile_dir=None):
    """Busybox with its applets, then the real programs over them.

    A kernel of another architecture comes with a busybox, and has only that.
    """
    busybox = shutil.which("busybox")
    if not busybox:
        raise RuntimeError("busybox is missing: scripts/install-deps.sh")
    foreign = profile_dir and profile_dir / "busybox"
    foreign = foreign if foreign and foreign.exists() else None
    tree.copy(foreign or busybox, "usr/bin/busybox")
    applets = subprocess.run([busybox, "--list-full"], stdout=subprocess.PIPE,
                             text=True, check=True).stdout
    for applet in applets.split():
        if not applet.endswith("busybox") and _normal(applet) != "linuxrc":
            tree.link(applet, "/usr/bin/busybox")
    if foreign:
        return
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    # busybox' own shell would run its applets in place of real programs.
    tree.copy(shutil.which("dash", path=path), "usr/bin/sh")
    found = [shutil.which(p, path=path) for p in [*PROGRAMS, *more, "dash"]]
    found = [f for f in found if f]
    found += [f for pattern in EXTRA_FILES for f in sorted(glob.glob(pattern))]
    for host in found:
        tree.copy(host)
    for host in libraries(found):
        tree.copy(host)


def _module_name(path):
    """"rdma_rxe" of kernel/drivers/infiniband/sw/rxe/rdma-rxe.ko."""
    return os.path.basename(path).partition(".ko")[0].replace("-", "_")


def _module(path):
    """The bytes of a module, which may be compressed; then its path ends so."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def add_modules(tree, profile_dir, more=()):
    """The modules of a kernel profile; ib_umad only as /lib/umad/intree."""
    release = (profile_dir / "release").read_text().strip()
    modules = profile_dir / "modules"
    paths, needs = {}, {}
    for line in (modules / "modules.dep").read_text().splitlines():
        path, _, deps = line.partition(":")
        paths[_module_name(path)] = path
        needs[path] = deps.split()
    wanted = []
    for name in [*MODULES, *more]:
        if name in paths:
            wanted += [paths[name], *needs[paths[name]]]
    wanted = list(dict.fromkeys(wanted))
    for path in wanted:
        tree.blob(f"lib/modules/{release}/{path.removesuffix('.xz')}",
                  _module(modules / path))
    tree.text(f"lib/modules/{release}/modules.dep", "".join(
        f"{p}: {' '.join(needs[p])}\n" for p in wanted).replace(".ko.xz", ".ko"))
    names = {_module_name(p) for p in wanted}
    aliases = (modules / "modules.alias").read_text().splitlines()
    tree.text(f"lib/modules/{release}/modules.alias", "".join(
        f"{a}\n" for a in aliases if a.split()[-1] in names))
    tree.blob("lib/umad/intree/ib_umad.ko", _module(modules / paths["ib_umad"]))


def skeleton():
    """Directories, links and the console every guest starts with."""
    tree = Tree()
    for path, target in LINKS.items():
        tree.link(path, target)
    for path in DIRECTORIES:
        tree.directory(path)
    tree.node("dev/console", 5, 1)
    tree.text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"
                            "nobody:x:65534:65534:nobody:/:/bin/sh\n")
    tree.text("etc/group", "root:x:0:\nnogroup:x:65534:\n")
    return tree
