# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests of what is forgotten of the cache."""

import os
import tempfile
import unittest
from pathlib import Path

import products


class ForgetOld(unittest.TestCase):
    """Three runs of long ago, one of now; one more that is going just now."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, age in (("old-1", 1), ("old-2", 2), ("old-3", 3)):
            (self.folder / name).mkdir()
            os.utime(self.folder / name, (age, age))
        (self.folder / "new").mkdir()

    def left(self, keep):
        """What is in the folder when all but @keep have been forgotten."""
        products.forget_old(self.folder, keep)
        return sorted(os.listdir(self.folder))

    def test_the_newest_stay(self):
        self.assertEqual(self.left(2), ["new", "old-3"])

    def test_what_is_in_use_stays(self):
        self.assertEqual(self.left(0), ["new"])

    def test_no_folder(self):
        self.folder = self.folder / "none"
        products.forget_old(self.folder, 0)

    def test_another_run_was_faster(self):
        # Its name is still there, and it is not.
        os.symlink("nowhere", self.folder / "gone")
        self.assertEqual(self.left(2), ["gone", "new", "old-3"])


if __name__ == "__main__":
    unittest.main()
