#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Run the fuzz targets.

"fuzz.py [TARGET...]" builds them, runs each over its corpus, and then lets
libFuzzer look for new inputs. "fuzz.py --replay TARGET INPUT" runs one input, a
file or base64:...; "fuzz.py --learn" adds to the corpus what is new and
throws out what it no longer needs.
"""

import argparse
import base64
import concurrent.futures
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME")
                     or pathlib.Path.home() / ".cache") / "ib-umad"
# One input at most; what one needs to see all there is.
MAX_LEN = 1024
# Seconds for one input, and for one replay of a corpus.
INPUT_SECONDS = 20
REPLAY_SECONDS = 120

ENVIRONMENT = dict(os.environ,
                   ASAN_OPTIONS="quarantine_size_mb=8:detect_leaks=1",
                   UBSAN_OPTIONS="print_stacktrace=1")


def kernel(profile):
    return subprocess.run([ROOT / "scripts/kernel-cache.sh", profile],
                          stdout=subprocess.PIPE, check=True,
                          text=True).stdout.strip()


class Build:
    """The programs, made from a copy of the tree in the folder `where`."""

    def __init__(self, where):
        self.where = pathlib.Path(where)
        self.out = self.where / "out"
        self.out.mkdir(parents=True, exist_ok=True)
        # pylint: disable=consider-using-with
        self.lock = open(self.where / "lock", "w", encoding="utf-8")
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def make(self):
        """Say what make says; true when all is there."""
        tree = self.where / "tree"
        subprocess.run([ROOT / "scripts/module-copy.sh", tree,
                        "tools/testing/fuzz"], check=True)
        kdir = pathlib.Path(kernel("stock-6.1"), "kdir").resolve()
        environment = dict(ENVIRONMENT, CCACHE_DIR=str(CACHE / "ccache"),
                           CCACHE_BASEDIR=str(self.where.resolve()),
                           CCACHE_NOHASHDIR="1")
        result = subprocess.run(
            ["make", "-s", f"-j{os.cpu_count()}", "-C",
             tree / "tools/testing/fuzz", f"KDIR={kdir}",
             f"KSRC={kernel('source')}",
             # Relative, as ccache makes it in the lists of what depends on
             # what.
             f"OUT={os.path.relpath(self.out, tree / 'tools/testing/fuzz')}"],
            env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False)
        sys.stdout.write(result.stdout)
        return result.returncode == 0

    def program(self, target):
        return self.out / f"{target}_fuzz"


def targets():
    return sorted(file.name[:-len("_fuzz.c")] for file in HERE.glob("*_fuzz.c"))


def corpus(target):
    return HERE / "corpus" / target


def run(command, seconds):
    """Its exit status (None: not done in time) and what it said."""
    try:
        result = subprocess.run(command, env=ENVIRONMENT, timeout=seconds,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, check=False)
        status, said = result.returncode, result.stdout
    except subprocess.TimeoutExpired as late:
        status, said = None, late.stdout or b""
    return status, said.decode("utf-8", "replace")


def relevant(said):
    """Of what a program says, the finding and our own part of the stack."""
    lines = []
    for line in said.splitlines():
        if re.match(r"(#\d+\s|INFO:|\s+#\d+ .*(/lib/|libfuzzer|fuzzer::|"
                    r"_start|in main |sanitizer_|LLVMFuzzer))", line):
            continue
        if line.startswith(("MS: ", "0x", "artifact_prefix", "Base64", "\\",
                            "Running: ", "Executed ", "NOTE: libFuzzer",
                            "      Combine", "stat::")):
            continue
        lines.append("    " + re.sub(r" \(BuildId: \w+\)", "", line))
    return "\n".join(lines[:60])


class Results:
    def __init__(self):
        self.passed = self.failed = 0

    def passes(self, name):
        self.passed += 1
        print(f"ok fuzz: {name}", flush=True)

    def fails(self, name, said):
        self.failed += 1
        print(f"not ok fuzz: {name}\n{said}", flush=True)

    def summary(self):
        print(f"{self.passed} passed, {self.failed} failed, 0 skipped")
        return 1 if self.failed else 0


def as_argument(file):
    """An input, as it can be given to --replay wherever the file may be."""
    return "base64:" + base64.b64encode(file.read_bytes()).decode("ascii")


def reproduce(target, found):
    if not found:
        return "    (no input was left behind)"
    return (f"    reproduce: tools/testing/fuzz/fuzz.py --replay {target} "
            f"{as_argument(found[0])}")


def replay_corpus(build, target, results):
    """Each file of the corpus once; after a failure, one by one."""
    files = sorted(corpus(target).glob("*"))
    if not files:
        results.fails(f"{target}: corpus", "    there is none")
        return
    command = [build.program(target), f"-timeout={INPUT_SECONDS}"]
    status, said = run(command + files, REPLAY_SECONDS)
    if status == 0:
        results.passes(f"{target}: corpus of {len(files)}")
        return
    for file in files:
        if run(command + [file], REPLAY_SECONDS)[0] != 0:
            break
    results.fails(f"{target}: corpus", f"{relevant(said)}\n"
                  f"{reproduce(target, [file])}")


def look(build, target, seconds, seed, results):
    """New inputs, from those of the corpus; they are not kept."""
    with tempfile.TemporaryDirectory() as folder:
        found = pathlib.Path(folder, "found")
        found.mkdir()
        new = pathlib.Path(folder, "new")
        new.mkdir()
        status, said = run([build.program(target), f"-seed={seed}",
                            f"-max_total_time={seconds}",
                            f"-max_len={MAX_LEN}", "-len_control=20",
                            "-print_final_stats=1",
                            f"-timeout={INPUT_SECONDS}",
                            f"-artifact_prefix={found}/", new,
                            corpus(target)], seconds + REPLAY_SECONDS)
        runs = re.search(r"number_of_executed_units: (\d+)", said)
        if status == 0 and runs:
            results.passes(f"{target}: {int(runs[1]):,} inputs "
                           f"in {seconds} s, seed {seed}")
            return
        results.fails(f"{target}: seed {seed}", f"{relevant(said)}\n"
                      f"{reproduce(target, list(found.iterdir()))}")


def replay(build, target, what):
    if not what.startswith("base64:"):
        return subprocess.run([build.program(target), what], env=ENVIRONMENT,
                              check=False).returncode
    with tempfile.NamedTemporaryFile() as file:
        file.write(base64.b64decode(what[len("base64:"):]))
        file.flush()
        return subprocess.run([build.program(target), file.name],
                              env=ENVIRONMENT, check=False).returncode


def learn(build, target, seconds, seed, results):
    """The corpus becomes the least that covers what is known now."""
    with tempfile.TemporaryDirectory() as folder:
        new = pathlib.Path(folder, "new")
        new.mkdir()
        least = pathlib.Path(folder, "least")
        least.mkdir()
        corpus(target).mkdir(parents=True, exist_ok=True)
        status, said = run([build.program(target), f"-seed={seed}",
                            f"-max_total_time={seconds}",
                            f"-max_len={MAX_LEN}", "-len_control=20",
                            f"-artifact_prefix={folder}/", new,
                            corpus(target)], seconds + REPLAY_SECONDS)
        if status:
            left = [file for file in pathlib.Path(folder).iterdir()
                    if file.is_file()]
            results.fails(f"{target}: seed {seed}", f"{relevant(said)}\n"
                          f"{reproduce(target, left)}")
            return
        run([build.program(target), "-set_cover_merge=1", f"-max_len={MAX_LEN}", least,
             new, corpus(target)], REPLAY_SECONDS + seconds)
        files = list(least.iterdir())
        if not files:
            results.fails(f"{target}: merge", "    nothing is left")
            return
        shutil.rmtree(corpus(target))
        shutil.copytree(least, corpus(target))
    size = sum(file.stat().st_size for file in corpus(target).iterdir())
    results.passes(f"{target}: {len(files)} inputs, {size} bytes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=5,
                        help="for each target (default: 5)")
    parser.add_argument("--seed", type=int, default=1,
                        help="of libFuzzer; 0: by the clock (default: 1)")
    parser.add_argument("--jobs", type=int, default=1,
                        help="targets at a time (default: 1)")
    parser.add_argument("--stop", action="store_true",
                        help="at the first failure")
    parser.add_argument("--corpus-only", action="store_true",
                        help="look for nothing new")
    parser.add_argument("--where", default=CACHE / "fuzz",
                        help="folder of what is built")
    parser.add_argument("--learn", action="store_true",
                        help="bring the corpus up to date")
    parser.add_argument("--replay", nargs=2, metavar=("TARGET", "INPUT"),
                        help="run one input: a file or base64:...")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    unknown = set(options.targets) - set(targets())
    if unknown:
        parser.error(f"no target {', '.join(sorted(unknown))}")

    build = Build(options.where)
    if not build.make():
        print("not ok fuzz: build\n0 passed, 1 failed, 0 skipped")
        return 1
    if options.replay:
        return replay(build, *options.replay)

    results = Results()
    seed = options.seed or int(time.time())

    def one(target):
        if options.stop and results.failed:
            return
        if options.learn:
            learn(build, target, options.seconds, seed, results)
            return
        replay_corpus(build, target, results)
        if not options.corpus_only and not (options.stop and results.failed):
            look(build, target, options.seconds, seed, results)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in [pool.submit(one, target)
                     for target in options.targets or targets()]:
            done.result()
    return results.summary()


if __name__ == "__main__":
    sys.exit(main())
