#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# check-words.sh: fails if the modules or their documents use a word of words.txt.

cd "$(dirname "$0")/.." || exit 1

found=0
while IFS='|' read -r word instead; do
	case $word in
	'#'* | '')
		continue
		;;
	esac
	word=$(echo "$word" | sed 's/ *$//')
	if git grep -niwF -e "$word" -- drivers include Documentation README.md \
		tools/testing/ib_hwsim/fabric 'tools/testing/*/README.rst' \
		':!tools/testing/qemu'; then
		echo "\"$word\": use$instead"
		found=1
	fi
done <scripts/words.txt
exit $found
