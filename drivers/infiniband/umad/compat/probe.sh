#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# probe.sh INCLUDE-DIR...: asks the target kernel's headers what they
# have, and prints compiler flags. Not the version number: distributions
# carry backports. Debian splits headers, so that there is a list of directories.

# has FLAG FILE REGEX
has() {
	flag=$1 file=$2 regex=$3
	for dir in $directories; do
		if grep -qE "$regex" "$dir/$file" 2>/dev/null; then
			printf ' -D%s' "$flag"
			return
		fi
	done
}

# since FLAG MAJOR MINOR: only for what no header shows.
since()
{
	for dir in $directories; do
		code=$(sed -n 's/^#define LINUX_VERSION_CODE //p' \
			"$dir/generated/uapi/linux/version.h" 2>/dev/null)
		if test "${code:-0}" -ge $(($2 * 65536 + $3 * 256)); then
			printf ' -D%s=1' "$1"
			return
		fi
	done
}

directories=$*
has UMAD_HAVE_CONST_DEVNODE linux/device/class.h \
	'\(\*devnode\)\(const struct device'
has UMAD_HAVE_CONST_CLASS_ATTR linux/device/class.h \
	'\(\*show\)\(const struct class \*.*const struct class_attribute'
has UMAD_HAVE_HRTIMER_SETUP linux/hrtimer.h 'hrtimer_setup\('
since UMAD_CORE_FLOW_CONTROL 6 17
