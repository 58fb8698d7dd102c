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

# lacks FLAG FILE REGEX
lacks()
{
	test -n "$(has "$1" "$2" "$3")" || printf ' -D%s' "$1"
}

# before FLAG MAJOR MINOR: as since, of what was added then.
before()
{
	test -n "$(since "$1" "$2" "$3")" || printf ' -D%s' "$1"
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
has UMAD_HAVE_TIMER_DELETE linux/timer.h 'timer_delete_sync\('
lacks UMAD_LACKS_RB_FIND linux/rbtree.h '^rb_find_add\('
lacks UMAD_LACKS_BITMAP_ARR64 linux/bitmap.h 'bitmap_from_arr64\('
lacks UMAD_LACKS_MODIFY_BUF rdma/ib_mad.h \
	'ib_modify_mad\(struct ib_mad_send_buf'
before UMAD_LACKS_ACTIVE_MEMCG 5 14
lacks UMAD_LACKS_ALLOC_LRU linux/slab.h 'kmem_cache_alloc_lru\('
has UMAD_HAVE_NAMED_SHRINKERS linux/shrinker.h 'register_shrinker\(struct shrinker \*shrinker,'
lacks UMAD_LACKS_SHRINKER_ALLOC linux/shrinker.h 'shrinker_alloc\('
lacks UMAD_LACKS_LRU_ADD_OBJ linux/list_lru.h 'list_lru_add_obj\('
has UMAD_LRU_WALK_HAS_LOCK linux/list_lru.h 'spinlock_t \*lock, void \*cb_arg\);'
since UMAD_CORE_FLOW_CONTROL 6 17
