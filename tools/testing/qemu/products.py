# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What was built, kept in the cache by what it was made of.

So another checkout of the same sources need not build it again, and puts the
very same bytes into its guests.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from plan import QEMU_DIR, ROOT

CACHE = Path(os.environ.get("XDG_CACHE_HOME")
             or Path.home() / ".cache") / "ib-umad"
# Products, each in a folder of its own, and how many of those are kept.
BUILT = CACHE / "built"
BUILT_MAX = 48
# Says how things are built.
BUILD = QEMU_DIR / "build.py"
# In a source folder, but no source.
OUTCOME = re.compile(r"\.(o|ko|a|pyc|mod|mod\.c|cmd)$|^modules\.order$|"
                     r"^Module\.symvers$")


def digest(folders, *more):
    """One word for the sources in these folders, and whatever else matters."""
    word = hashlib.sha256()
    compiler = subprocess.run(["gcc", "--version"], stdout=subprocess.PIPE,
                              check=True).stdout.splitlines()[0]
    libraries = subprocess.run(
        ["dpkg-query", "-W", "libc6-dev", "libibumad-dev"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    for text in (BUILD.read_bytes(), compiler, libraries,
                 repr(more).encode()):
        word.update(hashlib.sha256(text).digest())
    for folder in folders:
        path = ROOT / folder
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file() and not OUTCOME.search(file.name):
                word.update(str(file.relative_to(ROOT)).encode() + b"\0")
                word.update(hashlib.sha256(file.read_bytes()).digest())
    return word.hexdigest()[:16]


def kept(name, word, make):
    """make()'s (name, bytes), made once for a word, as (name, path, bytes)."""
    folder = BUILT / f"{name}-{word}"
    if not folder.exists():
        made = make()
        BUILT.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=BUILT, prefix="new-"))
        for product, data in made:
            (fresh / product).write_bytes(data)
            (fresh / product).chmod(0o755)
        fresh.chmod(0o755)
        try:
            fresh.rename(folder)
        except OSError:     # another checkout was faster
            shutil.rmtree(fresh)
    os.utime(folder)
    return [(f.name, f, f.read_bytes()) for f in sorted(folder.iterdir())]


def forget_old(folder=BUILT, keep=BUILT_MAX):
    """In it only the newest, and what is in use: touched within the hour."""
    found = []
    for old in folder.iterdir() if folder.exists() else ():
        try:
            found.append((old.stat().st_mtime, old))
        except FileNotFoundError:   # another run was faster
            pass
    for mtime, old in sorted(found, reverse=True)[keep:]:
        if time.time() - mtime > 3600:
            shutil.rmtree(old, ignore_errors=True)
