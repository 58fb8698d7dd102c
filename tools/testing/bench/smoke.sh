#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# smoke.sh KEPT IN-TREE OURS [FLOOR]: the figures of two runs of bench_write or bench_scale,
# as a table, and those of ib_umad_floor; fails if the ratio of one is more than 5 % above
# that in the file KEPT, or is not in it.
awk -v kept="$1" '
FILENAME == kept { if (!/^#/ && NF == 3) limit[$1 " " $2] = $3; next }
$2 == "bench" {
	split($5, n, "="); split($6, median, "=")
	key = $4 " " n[2]
	if ($3 == "floor") floor[++floors] = sprintf("%-12s %11d %22.1f", $4, n[2], median[2])
	else if ($3 == "intree") intree[key] = median[2]
	else { ours[key] = median[2]; order[++count] = key }
}
END {
	printf "# %-14s %11s %12s %9s %6s %5s\n", "figure", "outstanding",
	       "in-tree", "ours", "ratio", "kept"
	for (i = 1; i <= count; i++) {
		key = order[i]; split(key, word, " ")
		ratio = intree[key] ? ours[key] / intree[key] : 0
		printf "# %-14s %11d %12.1f %9.1f %6.2f %5s\n", word[1], word[2],
		       intree[key], ours[key], ratio, limit[key]
		if (!ratio || !(key in limit) || ratio > 1.05 * limit[key]) {
			print "# too much: " key; bad = 1
		}
		seen[key] = 1
	}
	for (i = 1; i <= floors; i++)
		print "# floor: " floor[i]
	for (key in limit)
		if (!(key in seen)) { print "# not measured: " key; bad = 1 }
	exit bad || !count
}' "$@"
