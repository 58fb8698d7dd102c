#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# A device is made while a verb fails, for each verb that registration needs:
# it is there then, or not, and can be taken away; and once the verb works again
# the device is whole. What has leaked the guest finds.

files=/sys/kernel/debug/ib_hwsim/fail
bus=/sys/bus/ib_hwsim
verbs='reg query_device query_port query_pkey query_gid alloc_pd create_cq
create_qp modify_qp post_recv req_notify'

# attempt VERB HOW
attempt()
{
	echo "$2" >$files/"$1" || return
	if echo '60 ports=2 lid=0x50 fabric=setup' >$bus/new_device \
			2>/dev/null; then
		echo 60 >$bus/del_device || return
	fi
	echo off >$files/"$1" || return
}

whole()
{
	echo '60 ports=2 lid=0x50 fabric=setup' >$bus/new_device || return
	smpquery -C hwsim0 portinfo 0x51 >/dev/null || return
	echo 60 >$bus/del_device
}

n=0
echo "TAP version 13"
echo "1..11"
for verb in $verbs; do
	n=$((n + 1))
	if attempt "$verb" 'nth 1' && attempt "$verb" 'nth 2' &&
			attempt "$verb" all && whole; then
		echo "ok $n - $verb"
	else
		echo "not ok $n - $verb"
	fi
done
exit 0
