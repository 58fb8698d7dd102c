# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests of what guests are made of."""

import unittest

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


if __name__ == "__main__":
    unittest.main()
