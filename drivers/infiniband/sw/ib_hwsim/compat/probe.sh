#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# probe.sh INCLUDE-DIR...: asks the target kernel's headers what they
# have, and prints compiler flags. Not the version number: distributions
# carry backports. Debian splits headers, so that there is a list of directories.

# has FLAG FILE REGEX, which matches across lines
has() {
	flag=$1 file=$2 regex=$3
	for dir in $directories; do
		if [ -e "$dir/$file" ] &&
			tr -s '\n\t ' ' ' <"$dir/$file" | grep -qE "$regex"; then
			printf ' -D%s' "$flag"
			return
		fi
	done
}

directories=$*
has SIM_HAVE_CONST_BUS linux/device/bus.h \
	'\(\*store\)\(const struct bus_type'
has SIM_HAVE_CQ_ATTRS rdma/ib_verbs.h \
	'\(\*create_cq\)\([^)]*struct uverbs_attr_bundle'
has SIM_HAVE_MR_DMAH rdma/ib_verbs.h \
	'\(\*reg_user_mr\)\([^)]*struct ib_dmah'
has SIM_HAVE_LINUX_UNALIGNED linux/unaligned.h get_unaligned
has SIM_HAVE_HRTIMER_SETUP linux/hrtimer.h 'hrtimer_setup\('
