// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pages that are missing for as long as the test likes. See uffd.h.
 */
#include "uffd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdalign.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/userfaultfd.h>

int uffd_open(struct uffd_pages *pages)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int ret;

	memset(pages, 0, sizeof(*pages));
	pages->page = sysconf(_SC_PAGESIZE);
	pages->fd = syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (pages->fd < 0)
		return -errno;
	pages->base = mmap(NULL, 2 * pages->page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages->base == MAP_FAILED) {
		ret = -errno;
		goto err_close;
	}
	pages->hole = pages->base + pages->page;
	memset(pages->base, 0, pages->page);
	reg.range.start = (unsigned long)pages->hole;
	reg.range.len = pages->page;
	if (ioctl(pages->fd, UFFDIO_API, &api) ||
	    ioctl(pages->fd, UFFDIO_REGISTER, &reg)) {
		ret = -errno;
		goto err_unmap;
	}
	return 0;

err_unmap:
	munmap(pages->base, 2 * pages->page);
err_close:
	close(pages->fd);
	return ret;
}

/* Until somebody has touched the hole: 0, or -ETIME. */
int uffd_wait_fault(struct uffd_pages *pages, int wait_ms)
{
	struct pollfd pfd = { .fd = pages->fd, .events = POLLIN };
	struct uffd_msg msg;

	if (poll(&pfd, 1, wait_ms) != 1)
		return -ETIME;
	if (read(pages->fd, &msg, sizeof(msg)) != sizeof(msg))
		return -errno;
	return msg.event == UFFD_EVENT_PAGEFAULT ? 0 : -EPROTO;
}

/* Let the fault end well: the hole now holds @data. */
void uffd_fill(struct uffd_pages *pages, const void *data, size_t len)
{
	alignas(4096) char page[65536];
	struct uffdio_copy copy = {
		.dst = (unsigned long)pages->hole, .src = (unsigned long)page,
		.len = pages->page,
	};

	if (pages->released)
		return;
	pages->released = 1;
	memset(page, 0, pages->page);
	if (len)
		memcpy(page, data, len);
	ioctl(pages->fd, UFFDIO_COPY, &copy);
}

/* Let the fault end badly: the hole is gone, the call gets EFAULT. */
void uffd_unmap(struct uffd_pages *pages)
{
	struct uffdio_range range = {
		.start = (unsigned long)pages->hole, .len = pages->page,
	};

	if (pages->released)
		return;
	pages->released = 1;
	munmap(pages->hole, pages->page);
	ioctl(pages->fd, UFFDIO_WAKE, &range);
}

void uffd_close(struct uffd_pages *pages)
{
	if (!pages->page)
		return;
	uffd_fill(pages, NULL, 0);
	close(pages->fd);
	munmap(pages->base, 2 * pages->page);
	pages->page = 0;
}
