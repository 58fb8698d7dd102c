#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "htmldocs.sh [-q]": builds Documentation/ as HTML in the cache, outside the tree, and
# prints where. Warnings are errors. Then it builds Documentation/ib_hwsim alone. With -q it prints warnings and errors only.
set -eu

here=$(dirname "$(readlink -f "$0")")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ib-umad
UMAD_KERNEL_SOURCE=$("$here/kernel-cache.sh" source)
export UMAD_KERNEL_SOURCE
export PYTHONDONTWRITEBYTECODE=1

mkdir -p "$cache"
work=$(mktemp -d "$cache/htmldocs.XXXXXX")
trap 'rm -rf "$work"' EXIT
# Always from scratch: a warning is repeated until it is mended.
sphinx-build -q -W --keep-going -j auto -b html -d "$work/doctrees" \
	"$here/../Documentation" "$work/html"
# A project of its own: its documents must refer to nothing of the others.
sphinx-build -q -W --keep-going -b dummy -c "$here/../Documentation" \
	"$here/../Documentation/ib_hwsim" "$work/alone"
rm -rf "$cache/htmldocs"
mv "$work/html" "$cache/htmldocs"
[ "${1:-}" = -q ] || echo "$cache/htmldocs/index.html"
