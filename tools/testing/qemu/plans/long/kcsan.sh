# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# KCSAN, for the functions of the module only: the rest of the kernel has reports
# of its own.
kcsan=/sys/kernel/debug/kcsan
awk '$4 == "[ib_umad]" && ($3 ~ /^umad_|^rmpp_/ || $2 ~ /^[tT]$/) { print $3 }' /proc/kallsyms |
	grep -v '^_\|\.\|^ib_umad' | sort -u | while read -r name; do
	echo "!$name" >"$kcsan" || exit
done || exit
echo whitelist >"$kcsan"
echo on >"$kcsan"
cat "$kcsan"
