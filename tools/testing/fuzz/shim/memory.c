// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's memory, on that of the C library. Pages have a guard page
 * behind each, and are poisoned while they are free. Allocations fail when
 * the target wants it.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/radix-tree.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/xarray.h>

#include "../fuzz.h"
#include "memory.h"

#define PAGES	2048

/* The struct page of each, and the pages; the odd ones are guards. */
static struct page page_structs[PAGES];
static u8 page_bytes[PAGES][PAGE_SIZE] __aligned(PAGE_SIZE);
static bool page_used[PAGES];
static u32 page_hint;

/* What page_address() and virt_to_page() compute with. */
unsigned long vmemmap_base;
unsigned long page_offset_base;
unsigned long phys_base;

struct kmem_cache *kmalloc_caches[NR_KMALLOC_TYPES][KMALLOC_SHIFT_HIGH + 1];
struct kmem_cache *radix_tree_node_cachep;

struct fuzz_memory fuzz_memory;

void fuzz_memory_reset(void)
{
	vmemmap_base = (unsigned long)page_structs;
	page_offset_base = (unsigned long)page_bytes;
	MUST(!fuzz_memory.pages && !fuzz_memory.objects);
	memset(&fuzz_memory, 0, sizeof(fuzz_memory));
	fuzz_memory.fail_at = U32_MAX;
	__asan_poison_memory_region(page_bytes, sizeof(page_bytes));
}

static bool may_fail(void)
{
	return fuzz_memory.calls++ >= fuzz_memory.fail_at;
}

static void *object_alloc(size_t size, gfp_t flags)
{
	void *object;

	if (may_fail())
		return NULL;
	object = flags & __GFP_ZERO ? fuzz_zalloc(size) : fuzz_alloc(size);
	MUST(object);
	fuzz_memory.objects++;
	return object;
}

void *kmalloc_trace(struct kmem_cache *cache, gfp_t flags, size_t size)
{
	return object_alloc(size, flags);
}

void *__kmalloc(size_t size, gfp_t flags)
{
	return object_alloc(size, flags);
}

void *kvmalloc_node(size_t size, gfp_t flags, int node)
{
	return object_alloc(size, flags);
}

void kfree(const void *object)
{
	if (!object)
		return;
	MUST(fuzz_memory.objects--);
	fuzz_free((void *)object);
}

void kvfree(const void *object)
{
	kfree(object);
}

/* The one cache that is used: the nodes of an xarray, which begin as zero. */
void *kmem_cache_alloc_lru(struct kmem_cache *cache, struct list_lru *lru,
			   gfp_t flags)
{
	struct xa_node *node = object_alloc(sizeof(*node), flags | __GFP_ZERO);

	if (node)
		INIT_LIST_HEAD(&node->private_list);
	return node;
}

void kmem_cache_free(struct kmem_cache *cache, void *object)
{
	kfree(object);
}

void radix_tree_node_rcu_free(struct rcu_head *head)
{
	kfree(container_of(head, struct xa_node, rcu_head));
}

/* One thread: nobody reads meanwhile. */
void call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	func(head);
}

struct page *alloc_pages(gfp_t flags, unsigned int order)
{
	u32 i, at;

	MUST(!order);
	if (may_fail())
		return NULL;
	for (i = 0; i < PAGES / 2; i++) {
		at = (page_hint + 2 * i) % PAGES;
		if (!page_used[at])
			break;
	}
	if (page_used[at])
		return NULL;
	page_hint = at + 2;
	page_used[at] = true;
	fuzz_memory.pages++;
	__asan_unpoison_memory_region(page_bytes[at], PAGE_SIZE);
	/* What was there before is no zero, unless it is asked for. */
	memset(page_bytes[at], flags & __GFP_ZERO ? 0 : 0xa5, PAGE_SIZE);
	return &page_structs[at];
}

void __free_pages(struct page *page, unsigned int order)
{
	size_t at = page - page_structs;

	MUST(at < PAGES && page_used[at]);
	page_used[at] = false;
	fuzz_memory.pages--;
	__asan_poison_memory_region(page_bytes[at], PAGE_SIZE);
}

/* A program's page that is not there, when the target wants it: nothing of it is copied. */
static void *user_bytes(struct iov_iter *iter, size_t n)
{
	void *at = (void __force *)iter->iov->iov_base + iter->iov_offset;

	MUST(n <= iter->count);
	if (fuzz_memory.faults++ == fuzz_memory.fault_at)
		return NULL;
	iter->iov_offset += n;
	iter->count -= n;
	return at;
}

size_t _copy_from_iter(void *to, size_t n, struct iov_iter *iter)
{
	const void *from = user_bytes(iter, n);

	if (!from)
		return 0;
	memcpy(to, from, n);
	return n;
}

size_t _copy_to_iter(const void *from, size_t n, struct iov_iter *iter)
{
	void *to = user_bytes(iter, n);

	if (!to)
		return 0;
	memcpy(to, from, n);
	return n;
}

size_t iov_iter_zero(size_t n, struct iov_iter *iter)
{
	void *to = user_bytes(iter, n);

	if (!to)
		return 0;
	memset(to, 0, n);
	return n;
}

void iov_iter_revert(struct iov_iter *iter, size_t n)
{
	/* What has failed has copied nothing. */
	MUST(!n);
}

int __cond_resched(void)
{
	return 0;
}
