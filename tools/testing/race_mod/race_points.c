// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The points of ib_umad where a task can be stopped. They are found in its code:
 * each call of a function that takes or drops a lock, takes or gives back an active reference,
 * goes to ib_core or to a workqueue, or allocates. Function and number name them:
 * "umad_send_post lock2".
 */
#include "race.h"

#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#define CALL_LEN	5	/* an opcode and 32 bits */
#define CALL		0xe8
#define JUMP		0xe9

/**
 * struct target - a function whose callers are points
 * @symbol: its name
 * @word: what the points are called, with a number
 * @after: the point is behind the call
 * @address: of the function, 0 if there is none
 */
struct target {
	const char *symbol;
	const char *word;
	bool after;
	unsigned long address;
};

static struct target targets[] = {
	{ "_raw_spin_lock", "lock" },
	{ "_raw_spin_lock_irqsave", "lock" },
	{ "mutex_lock", "lock" },
	{ "mutex_lock_nested", "lock" },
	{ "_raw_spin_unlock", "unlock", true },
	{ "_raw_spin_unlock_irqrestore", "unlock", true },
	{ "mutex_unlock", "unlock", true },
	{ "ib_umad:umad_active_ref_tryget", "enter" },
	{ "ib_umad:umad_active_ref_put", "leave" },
	{ "ib_umad:umad_active_ref_kill", "close" },
	{ "ib_umad:umad_post_send", "post" },
	{ "ib_core:ib_modify_mad", "modify" },
	{ "ib_core:ib_free_send_mad", "free" },
	{ "ib_core:ib_free_recv_mad", "free" },
	{ "ib_core:ib_register_mad_agent", "core" },
	{ "ib_core:ib_unregister_mad_agent", "core" },
	{ "ib_core:rdma_create_user_ah", "resolve" },
	{ "ib_core:rdma_destroy_ah_user", "core" },
	{ "ib_core:ib_modify_port", "core" },
	{ "flush_work", "work" },
	{ "flush_delayed_work", "work" },
	{ "queue_work_on", "work" },
	{ "queue_delayed_work_on", "work" },
	{ "mod_delayed_work_on", "work" },
	{ "cancel_work_sync", "work" },
	{ "cancel_delayed_work", "work" },
	{ "cancel_delayed_work_sync", "work" },
	{ "__wake_up", "wake" },
	{ "__wake_up_sync_key", "wake" },
	{ "complete", "wake" },
	{ "_copy_from_user", "copy" },
	{ "_copy_to_user", "copy" },
	{ "kfree", "kfree" },
	{ "kvfree", "kfree" },
	{ "kmem_cache_free", "kfree" },
	{ "__kmalloc", "alloc" },
	{ "__kmalloc_node", "alloc" },
	{ "kmalloc_trace", "alloc" },
	{ "kmalloc_large", "alloc" },
	{ "kmem_cache_alloc", "alloc" },
	{ "kmem_cache_alloc_lru", "alloc" },
	{ "kmemdup", "alloc" },
	{ "__alloc_pages", "alloc" },
	/* The same since 6.10. */
	{ "__kmalloc_noprof", "alloc" },
	{ "__kmalloc_cache_noprof", "alloc" },
	{ "__kmalloc_node_noprof", "alloc" },
	{ "__kvmalloc_node_noprof", "alloc" },
	{ "__kmalloc_large_noprof", "alloc" },
	{ "kmem_cache_alloc_noprof", "alloc" },
	{ "kmem_cache_alloc_lru_noprof", "alloc" },
	{ "kmemdup_noprof", "alloc" },
	{ "alloc_pages_noprof", "alloc" },
	{ "__alloc_pages_noprof", "alloc" },
	{ "ib_core:ib_create_send_mad", "build" },
};

static bool plant_all = true;
module_param(plant_all, bool, 0644);
MODULE_PARM_DESC(plant_all,
		 "Count who comes to each point, not only to those where somebody is to be stopped; an ib_umad that is loaded then is slow to load (default: on)");

static LIST_HEAD(points);
static DEFINE_MUTEX(points_lock); /* protects the list, but for the handler */

/* With one of these a probe is not turned into a jump, which goes its own way. */
static void after_step(struct kprobe *kp, struct pt_regs *regs,
		       unsigned long flags)
{
}

static struct race_point *find_name(const char *name)
{
	struct race_point *point;

	list_for_each_entry(point, &points, node)
		if (!strcmp(point->name, name))
			return point;
	return NULL;
}

static bool known(unsigned long address)
{
	struct race_point *point;

	list_for_each_entry(point, &points, node)
		if (point->address == address)
			return true;
	return false;
}

static int plant(struct race_point *point)
{
	int ret;

	if (point->planted)
		return 0;
	memset(&point->kp, 0, sizeof(point->kp));
	point->kp.addr = (kprobe_opcode_t *)point->address;
	point->kp.pre_handler = race_hit;
	point->kp.post_handler = after_step;
	ret = register_kprobe(&point->kp);
	point->planted = !ret;
	return ret;
}

/* One that was there when ib_umad was loaded before keeps its count. */
static struct race_point *add(const char *name, unsigned long address,
			      enum race_kind kind)
{
	struct race_point *point = find_name(name);

	if (!point) {
		point = kzalloc(sizeof(*point), GFP_KERNEL);
		if (!point)
			return NULL;
		strscpy(point->name, name, sizeof(point->name));
		list_add_tail(&point->node, &points);
	}
	point->kind = kind;
	point->address = address;
	return point;
}

static const struct target *target_of(unsigned long address)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(targets); i++)
		if (targets[i].address == address)
			return &targets[i];
	return NULL;
}

/* The name of the @n-th point of its kind in the function around @address. */
static void make_name(char *name, unsigned long address, const char *word)
{
	char symbol[KSYM_SYMBOL_LEN];
	struct race_point *point;
	unsigned int n = 0;

	sprint_symbol(symbol, address);
	symbol[strcspn(symbol, "+ ")] = '\0';
	do {
		scnprintf(name, RACE_NAME, "%.60s %s%u", symbol, word, ++n);
		point = find_name(name);
	} while (point && point->address);
}

/* Is there a call at @code, and of whom? */
static void look(const u8 *code)
{
	unsigned long address = (unsigned long)code;
	const struct target *target;
	char name[RACE_NAME];
	s32 distance;

	if (*code != CALL && *code != JUMP)
		return;
	memcpy(&distance, code + 1, sizeof(distance));
	target = target_of(address + CALL_LEN + distance);
	if (!target)
		return;
	if (target->after && *code == CALL)
		address += CALL_LEN;
	if (known(address))
		return;
	make_name(name, (unsigned long)code, target->word);
	if (target->after)
		add(name, address, *code == CALL ? RACE_AT : RACE_RETURN);
	else
		add(name, address, *code == CALL ? RACE_CALL : RACE_AT);
}

/* Not an instruction's begin: register_kprobe() sees that. */
static void plant_points(void)
{
	struct race_point *point, *next;

	list_for_each_entry_safe(point, next, &points, node) {
		if (!point->address || !plant(point))
			continue;
		list_del(&point->node);
		kfree(point);
	}
}

static void find_points(struct module *mod)
{
#ifdef RACE_HAVE_CORE_LAYOUT
	const u8 *text = mod->core_layout.base;
	size_t size = mod->core_layout.text_size;
#else
	const u8 *text = mod->mem[MOD_TEXT].base;
	size_t size = mod->mem[MOD_TEXT].size;
#endif
	size_t i;

	for (i = 0; i < ARRAY_SIZE(targets); i++)
		targets[i].address = race_lookup(targets[i].symbol);
	for (i = 0; i + CALL_LEN <= size; i++)
		look(text + i);
	if (plant_all)
		plant_points();
}

static void drop_points(void)
{
	struct race_point *point;
	struct kprobe **probes;
	int n = 0;

	list_for_each_entry(point, &points, node)
		n++;
	probes = kcalloc(n, sizeof(*probes), GFP_KERNEL | __GFP_NOFAIL);
	n = 0;
	list_for_each_entry(point, &points, node) {
		race_forget(point);
		if (point->planted)
			probes[n++] = &point->kp;
		point->planted = false;
		point->address = 0;
	}
	unregister_kprobes(probes, n);
	kfree(probes);
}

static void free_points(void)
{
	struct race_point *point, *next;

	drop_points();
	list_for_each_entry_safe(point, next, &points, node) {
		list_del(&point->node);
		kfree(point);
	}
}

/* Before its initialization, and after its exit. */
static int on_module(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;

	if (strcmp(mod->name, "ib_umad"))
		return NOTIFY_DONE;
	mutex_lock(&points_lock);
	if (event == MODULE_STATE_COMING)
		find_points(mod);
	else if (event == MODULE_STATE_GOING)
		drop_points();
	mutex_unlock(&points_lock);
	return NOTIFY_DONE;
}

static struct notifier_block module_nb = {
	.notifier_call = on_module,
	/* Before the probes' own, which gives up those of a module that goes. */
	.priority = 1,
};

static struct race_point *add_function(const char *function, const char *where,
				       const char *name)
{
	unsigned long address = race_lookup(function);

	if (!address)
		return NULL;
	if (!strcmp(where, "entry"))
		return add(name, address, RACE_AT);
	if (!strcmp(where, "return"))
		return add(name, address, RACE_RETURN);
	return NULL;
}

/**
 * race_point_get() - a point by its name
 * @function: of ib_umad; "MODULE:FUNCTION" or any other for entry and return
 * @where: "entry", "return", or what the list of points says
 *
 * Return: the point, which stays until ib_umad is unloaded, or an errno.
 */
struct race_point *race_point_get(const char *function, const char *where)
{
	struct race_point *point;
	char name[RACE_NAME];
	int ret = -ENOENT;

	scnprintf(name, sizeof(name), "%.60s %.30s", function, where);
	mutex_lock(&points_lock);
	point = find_name(name);
	if (!point || !point->address)
		point = add_function(function, where, name);
	if (point)
		ret = plant(point);
	mutex_unlock(&points_lock);
	return ret ? ERR_PTR(ret) : point;
}

/* "FUNCTION WHERE HITS" */
int race_points_show(struct seq_file *s, void *unused)
{
	struct race_point *point;

	mutex_lock(&points_lock);
	list_for_each_entry(point, &points, node)
		seq_printf(s, "%s %lu\n", point->name, READ_ONCE(point->hits));
	mutex_unlock(&points_lock);
	return 0;
}

int race_points_init(void)
{
	struct module *(*find)(const char *name);
	struct module *mod;
	int ret;

	ret = register_module_notifier(&module_nb);
	if (ret)
		return ret;
	find = (void *)race_lookup("find_module");
	if (!find)
		return 0;
	preempt_disable();
	mod = find("ib_umad");
	if (mod && !try_module_get(mod))
		mod = NULL;
	preempt_enable();
	if (!mod)
		return 0;
	mutex_lock(&points_lock);
	find_points(mod);
	mutex_unlock(&points_lock);
	module_put(mod);
	return 0;
}

void race_points_exit(void)
{
	unregister_module_notifier(&module_nb);
	mutex_lock(&points_lock);
	free_points();
	mutex_unlock(&points_lock);
}
