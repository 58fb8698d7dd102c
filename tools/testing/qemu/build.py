# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Builds what goes into a guest, all of it outside the source tree.

Kernels come from scripts/kernel-cache.sh; the module is built in a copy of
the sources per profile, programs once. Several runners may do so at the
same time: each product has a lock. What came of it is kept by what it was
made of, so that another checkout of the same sources need not make it again.
"""

import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import products
from plan import ROOT
from products import CACHE

# Two checkouts do not share what is built from them.
WORK = CACHE / "work" / hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
SPLAT_MOD = "tools/testing/qemu/splat_mod"
# Test programs share sources across their folders.
PROGRAM_SOURCES = [f"tools/testing/{folder}" for folder in
                   ("selftests", "ib_hwsim", "bench")]


# e_machine of an ELF file, as its bytes.
EM_X86_64 = b"\x3e\0"


class BuildError(Exception):
    """Something could not be built; the message is the compiler's."""


@contextlib.contextmanager
def lock(name):
    """Excludes other runners from the product name."""
    WORK.mkdir(parents=True, exist_ok=True)
    with open(WORK / f"{name}.lock", "w", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _run(command, what):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{what} failed:\n{done.stdout}")
    if done.stdout.strip():
        print(f"# {what}:\n{done.stdout.rstrip()}", file=sys.stderr)


def _from_script(script, what, name):
    """The path that a script prints, of what it has made in the cache."""
    done = subprocess.run([str(ROOT / "scripts" / script), name],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise BuildError(f"no {what} {name}")
    return Path(done.stdout.strip())


def kernel(profile):
    """The folder of a kernel profile (or of "source")."""
    return _from_script("kernel-cache.sh", "kernel", profile)


def program_root(suite):
    """The image of a Debian's programs."""
    return _from_script("program-root.sh", "programs of", suite)


def _stripped(path):
    """A module's bytes without what only a debugger reads: 9/10 of them.

    Not of another architecture, which has been built without.
    """
    if path.read_bytes()[18:20] != EM_X86_64:
        return path.read_bytes()
    with tempfile.NamedTemporaryFile() as out:
        _run(["objcopy", "--strip-debug", path, out.name],
             f"stripping {path.name}")
        return Path(out.name).read_bytes()


def _kbuild(profile_dir, where, name, *variables):
    _run(["make", "-s", f"-j{os.cpu_count()}", "-C", profile_dir / "kdir",
          f"M={where}", "CONFIG_DEBUG_INFO_BTF_MODULES=", *variables,
          "modules"],
         f"building {name} for {profile_dir.name}")
    return sorted(where.rglob("*.ko"))


def has_kunit(profile_dir):
    """Was this kernel built with KUnit?"""
    config = (profile_dir / "kdir/.config").read_text(encoding="utf-8")
    return "CONFIG_KUNIT=y" in config


def module(profile_dir):
    """ib_umad.ko, and the KUnit modules where the kernel has KUnit.

    Returns (name, path, bytes) of each.
    """
    if not (ROOT / "Kbuild").exists():
        raise BuildError("the module has no sources yet")
    where = WORK / "module" / profile_dir.name
    kunit = has_kunit(profile_dir) and \
        any((ROOT / "tools/testing/kunit" / f).exists()
            for f in ("Kbuild", "Makefile"))

    def make():
        _run([ROOT / "scripts/module-copy.sh", where, "tools/testing/kunit"],
             "copying sources")
        built = _kbuild(profile_dir, where, "the module",
                        *(["UMAD_KUNIT=m"] if kunit else []))
        return [(ko.name, _stripped(ko)) for ko in built
                if kunit or "kunit" not in str(ko.relative_to(where))]

    with lock(f"module-{profile_dir.name}"):
        return products.kept("module", products.digest(
            ["Kbuild", "VERSION", "drivers/infiniband/umad",
             "include/uapi/rdma/ib_user_mad.h", "tools/testing/kunit"],
            profile_dir.name), make)


def test_modules(profile_dir, folder):
    """The modules a folder's Kbuild makes, as module() returns them."""
    name = folder.replace("/", "-")
    where = WORK / name / profile_dir.name

    def make():
        where.mkdir(parents=True, exist_ok=True)
        # Both where they are in the tree, so that one finds the other.
        _run(["rsync", "-rlpcR", "--exclude=*.o", "--exclude=*.ko",
              "--exclude=.*.cmd", f"{ROOT}/./include", f"{ROOT}/./{folder}",
              where], f"copying {folder}")
        built = _kbuild(profile_dir, where / folder, folder,
                        *(["CONFIG_IB_HWSIM_KUNIT_TEST=m"]
                          if has_kunit(profile_dir) else []))
        return [(ko.name, _stripped(ko)) for ko in built]

    with lock(f"{name}-{profile_dir.name}"):
        return products.kept(Path(folder).name,
                     products.digest([folder, "include"],
                                     profile_dir.name), make)


def demo():
    """The program of "make demo", as module() returns its products."""
    return programs("tools/testing/demo")


def programs(folder, strict=True):
    """The executables a folder's Makefile makes, as module() returns them.

    Not strict: those that can be built, with a note about the others.
    """
    makefile = ROOT / folder / "Makefile"
    if not makefile.exists():
        raise BuildError(f"no {makefile}")
    name = folder.replace("/", "-")
    output = WORK / name
    command = ["make", "-s", f"-j{os.cpu_count()}", "-C", ROOT / folder,
               f"OUTPUT={output}"]
    # The kernel's source is 130 MB to fetch: only for those that want it.
    if "umad.mk" in makefile.read_text(encoding="utf-8"):
        os.environ.setdefault("CCACHE_DIR", str(CACHE / "ccache"))
        command += ["CC=ccache gcc", f"KSRC={kernel('source')}"]

    def make():
        output.mkdir(parents=True, exist_ok=True)
        _run(command, f"building {folder}")
        return [(f.name, f.read_bytes()) for f in _executables(output)]

    with lock(name):
        try:
            return products.kept(Path(folder).name, products.digest(
                ["include", folder, *PROGRAM_SOURCES],
                folder, command[-1]), make)
        except BuildError as error:
            if strict:
                raise
            print(f"# {error}", file=sys.stderr)
        # What an older tree left must not run in place of what does not build.
        for program in _executables(output):
            program.unlink()
        with contextlib.suppress(BuildError):
            _run([*command, "-k"], f"building the rest of {folder}")
        return [(f.name, f, f.read_bytes()) for f in _executables(output)]


def _executables(folder):
    return [f for f in sorted(folder.iterdir())
            if f.is_file() and os.access(f, os.X_OK)]
