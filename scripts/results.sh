# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# For the check scripts: one line "ok" or "not ok" for each check, and the
# summary line that check.sh adds up.

passed=0
failed=0
skipped=0

# check NAME COMMAND...: passes when COMMAND succeeds and says nothing.
check()
{
	check_name=$1
	shift
	if check_output=$("$@" 2>&1) && [ -z "$check_output" ]; then
		passed=$((passed + 1))
		echo "ok $check_name"
		return 0
	fi
	failed=$((failed + 1))
	echo "not ok $check_name"
	echo "$check_output" | head -n 200 | sed 's/^/    /'
	return 1
}

skip()
{
	skipped=$((skipped + 1))
	echo "skip $1"
}

# Prints the summary; its status is the script's.
summary()
{
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}
