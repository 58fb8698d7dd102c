// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of a hostile caller: missing, forbidden, late, changing. See fuzz_gen.h. */
#include "fuzz_gen.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <linux/userfaultfd.h>

#define PAGE		4096
#define SCRIBBLED	8192

/* Everybody's; the scribbler changes it all the time. A page of no access follows. */
static char *scribbled;
static struct fuzz_rng helper_rng;

static void *map(size_t len)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

int fuzz_mem_init(struct fuzz_mem *mem)
{
	memset(mem, 0, sizeof(*mem));
	mem->plain = map(FUZZ_MAX_LEN + PAGE);
	mem->readonly = map(2 * PAGE);
	mem->hole = map(2 * PAGE);
	if (!mem->plain || !mem->readonly || !mem->hole)
		return -ENOMEM;
	mem->hole += PAGE;
	memset(mem->readonly, 1, PAGE);
	if (mprotect(mem->plain + FUZZ_MAX_LEN, PAGE, PROT_NONE) ||
	    mprotect(mem->readonly, PAGE, PROT_READ) ||
	    mprotect(mem->readonly + PAGE, PAGE, PROT_NONE))
		return -errno;
	return 0;
}

void fuzz_mem_free(struct fuzz_mem *mem)
{
	munmap(mem->plain, FUZZ_MAX_LEN + PAGE);
	munmap(mem->readonly, 2 * PAGE);
	munmap(mem->hole - PAGE, 2 * PAGE);
}

static void *bad_pointer(struct fuzz_rng *rng)
{
	static const uint64_t pointers[] = {
		0, 1, 8, 0x1000, 0x7fffffffe000, 0x7fffffffefff, 0x7ffffffff000,
		0x800000000000, 0xffff800000000000, 0xffff888000000000,
		0xffffffff81000000, 0xfffffffffffff000, 0xffffffffffffffc0,
		0xffffffffffffffff, 0xfffff000, 0xffffe000, 0xffffffc0,
	};

	return (void *)(uintptr_t)pointers[fuzz_below(rng, 17)];
}

/* Across the end of what there is: at most @len bytes, cut anywhere. */
static void *at_edge(struct fuzz_rng *rng, struct fuzz_mem *mem,
		     const void *data, size_t len)
{
	size_t there = len ? fuzz_below(rng, len + 1) : 0;
	char *at = mem->plain + FUZZ_MAX_LEN - there;

	memcpy(at, data, there);
	return at;
}

/* The second part comes when the pager likes. */
static void *at_hole(struct fuzz_rng *rng, struct fuzz_mem *mem,
		     const void *data, size_t len)
{
	size_t there = len < PAGE ? len : PAGE;

	there = there ? fuzz_below(rng, there) : 0;
	madvise(mem->hole, PAGE, MADV_DONTNEED);
	memcpy(mem->hole - there, data, there);
	return mem->hole - there;
}

/*
 * Put @len bytes somewhere, or what fits of them, or nothing. One call in two
 * gets memory that is as it should be.
 */
void *fuzz_place(struct fuzz_rng *rng, struct fuzz_mem *mem, const void *data,
		 size_t len)
{
	unsigned int kind = fuzz_below(rng, 32);

	if (len > FUZZ_MAX_LEN)
		len = FUZZ_MAX_LEN;
	if (kind < 2)
		return bad_pointer(rng);
	if (kind < 3)
		return mem->readonly + fuzz_below(rng, PAGE);
	if (kind < 6)
		return at_edge(rng, mem, data, len);
	if (kind < 7)
		return at_hole(rng, mem, data, len);
	if (kind < 14) {
		if (len > SCRIBBLED)
			len = SCRIBBLED;
		memcpy(scribbled, data, len);
		return scribbled;
	}
	memcpy(mem->plain, data, len);
	return mem->plain;
}

/*
 * Where it hurts: ids, lengths, what decides between a MAD and a message. Never
 * the class of the well-behaved, nor a Set.
 */
static void *scribble(void *arg)
{
	static const struct {
		unsigned int at;
		uint8_t value[4];
	} spots[] = {
		{ 0, { 0, 1, 2, 255 } },	/* id */
		{ 8, { 0, 1, 3, 255 } },	/* timeout_ms */
		{ 12, { 0, 1, 3, 255 } },	/* retries */
		{ HDR_NEW + 0, { 0, 1, 0x80, 255 } },
		{ HDR_NEW + 1, { CLASS_SA, CLASS_VENDOR1, CLASS_VENDOR2, 0x81 } },
		{ HDR_NEW + 3, { METHOD_GET, METHOD_TEST, 0x90, 0x81 } },
		{ HDR_NEW + 6, { 0, 1, 63, 255 } },	/* hops */
		{ HDR_NEW + 7, { 0, 1, 63, 255 } },
		{ HDR_NEW + 15, { 0, 1, 2, 3 } },	/* TID */
		{ HDR_NEW + 25, { 1, 2, 3, 4 } },	/* RMPP type */
		{ HDR_NEW + 26, { 0, 1, 3, 7 } },	/* flags */
		{ HDR_NEW + 34, { 0, 1, 3, 255 } },	/* PayloadLength */
		{ HDR_NEW + 35, { 0, 20, 220, 255 } },
	};
	struct fuzz_helpers *helpers = arg;
	unsigned int i, turn = 0;

	while (!__atomic_load_n(&helpers->stop, __ATOMIC_RELAXED)) {
		i = fuzz_below(&helper_rng, sizeof(spots) / sizeof(*spots));
		scribbled[spots[i].at] =
			spots[i].value[fuzz_below(&helper_rng, 4)];
		if (!(++turn % 4096))
			sleep_ms(1);
	}
	return NULL;
}

static void fill(int uffd, uint64_t address)
{
	static char page[PAGE] __attribute__((aligned(PAGE)));
	struct uffdio_copy copy = {
		.dst = address & ~(uint64_t)(PAGE - 1),
		.src = (uintptr_t)page, .len = PAGE,
	};
	unsigned int i;

	for (i = 0; i < PAGE; i++)
		page[i] = i % 5 ? 0 : i / 5;
	ioctl(uffd, UFFDIO_COPY, &copy);
}

/* Pages come late; the last ones when all is over. */
static void *page_in(void *arg)
{
	struct fuzz_helpers *helpers = arg;
	struct pollfd pfd = { .fd = helpers->uffd, .events = POLLIN };
	struct fuzz_rng rng = helper_rng;
	struct uffd_msg msg;

	while (!__atomic_load_n(&helpers->stop, __ATOMIC_RELAXED)) {
		if (poll(&pfd, 1, 20) != 1 ||
		    read(helpers->uffd, &msg, sizeof(msg)) != sizeof(msg))
			continue;
		if (fuzz_one_in(&rng, 4))
			sleep_ms(fuzz_one_in(&rng, 20) ? 200 :
						       fuzz_below(&rng, 10));
		fill(helpers->uffd, msg.arg.pagefault.address);
	}
	return NULL;
}

int fuzz_helpers_start(struct fuzz_helpers *helpers, uint64_t seed)
{
	struct uffdio_api api = { .api = UFFD_API };

	memset(helpers, 0, sizeof(*helpers));
	/* What is read may be longer: it must not be what lies behind that changes. */
	scribbled = map(SCRIBBLED + PAGE);
	if (!scribbled || mprotect(scribbled + SCRIBBLED, PAGE, PROT_NONE))
		return -ENOMEM;
	fuzz_seed(&helper_rng, seed, 1000, 0);
	helpers->uffd = syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (helpers->uffd < 0 || ioctl(helpers->uffd, UFFDIO_API, &api))
		return -errno;
	side_start(&helpers->pager, page_in, helpers);
	side_start(&helpers->scribbler, scribble, helpers);
	return 0;
}

/* From now on the pager looks after the hole of @mem. */
int fuzz_helpers_hole(struct fuzz_helpers *helpers, struct fuzz_mem *mem)
{
	struct uffdio_register reg = {
		.mode = UFFDIO_REGISTER_MODE_MISSING,
		.range = { .start = (uintptr_t)mem->hole, .len = PAGE },
	};

	return ioctl(helpers->uffd, UFFDIO_REGISTER, &reg) ? -errno : 0;
}

void fuzz_helpers_stop(struct fuzz_helpers *helpers)
{
	__atomic_store_n(&helpers->stop, 1, __ATOMIC_RELAXED);
	side_join(&helpers->scribbler);
	side_join(&helpers->pager);
	close(helpers->uffd);
}
