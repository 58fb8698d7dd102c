# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests of what guests are made of."""

import sys
import unittest
from unittest import mock

import build
import run


class Parts(unittest.TestCase):
    """Each is built once per run, whatever comes of it."""

    def setUp(self):
        self.parts = run.Parts()
        self.calls = []

    def make(self, name):
        """A product, unless it is to be none."""
        self.calls.append(name)
        if name == "bad":
            raise build.BuildError(name)
        return name

    def test_a_product(self):
        for _ in range(2):
            self.assertEqual(self.parts.get("key", self.make, "good"), "good")
        self.assertEqual(self.calls, ["good"])

    def test_one_that_fails(self):
        for _ in range(2):
            with self.assertRaises(build.BuildError):
                self.parts.get("key", self.make, "bad")
        self.assertEqual(self.calls, ["bad"])


class Show(unittest.TestCase):
    """All that are named, and one that fails is not the last."""

    def run_main(self, *names, bad=()):
        """The exit status, and what was run."""
        seen = []

        def show(name, _kernels, _soak):
            seen.append(name)
            return name not in bad

        with mock.patch.object(run, "show", show), \
                mock.patch.object(sys, "argv", ["run.py", "--show", *names]):
            return run.main(), seen

    def test_all_are_run(self):
        self.assertEqual(self.run_main("a", "b", "c"), (0, ["a", "b", "c"]))

    def test_one_fails(self):
        self.assertEqual(self.run_main("a", "b", bad="a"), (1, ["a", "b"]))


if __name__ == "__main__":
    unittest.main()
