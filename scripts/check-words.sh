#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# check-words.sh: fails if the modules or their documents use a word of words.txt.

cd "$(dirname "$0")/.." || exit 1

docs="Documentation README.md tools/testing/*/README.rst"
code="drivers include tools/testing/ib_hwsim/fabric"
found=0
# git expands the patterns, as it does below every directory.
set -f
while IFS='|' read -r word instead where; do
	case $word in
	'#'* | '')
		continue
		;;
	esac
	word=$(echo "$word" | sed 's/ *$//')
	paths="$docs $code"
	[ "$where" != ' docs' ] || paths=$docs
	# shellcheck disable=SC2086 # several
	if git grep -niwF -e "$word" -- $paths ':!tools/testing/qemu'; then
		echo "\"$word\": use$instead"
		found=1
	fi
done <scripts/words.txt
exit $found
