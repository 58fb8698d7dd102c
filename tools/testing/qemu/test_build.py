# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests of programs that do not build."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import build
import products

MAKEFILE = """
all: $(OUTPUT)/good $(OUTPUT)/bad
$(OUTPUT)/good:
\tinstall /bin/true $@
$(OUTPUT)/bad: source
\tfalse
"""


class Programs(unittest.TestCase):
    """One that builds, and one that did in an older tree."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        (root / "some").mkdir()
        (root / "some/Makefile").write_text(MAKEFILE, encoding="utf-8")
        work = root / "work"
        (work / "some").mkdir(parents=True)
        old = work / "some/bad"
        old.write_bytes(b"")
        old.chmod(0o755)
        (root / "some/source").write_bytes(b"")     # newer than that
        for module, name, value in ((build, "ROOT", root),
                                    (build, "WORK", work),
                                    (products, "ROOT", root),
                                    (products, "BUILT", root / "built")):
            patch = mock.patch.object(module, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_an_old_one_is_not_used(self):
        with contextlib.redirect_stderr(io.StringIO()):
            found = build.programs("some", strict=False)
        self.assertEqual([name for name, *_ in found], ["good"])

    def test_strict(self):
        with self.assertRaises(build.BuildError):
            build.programs("some")


if __name__ == "__main__":
    unittest.main()
