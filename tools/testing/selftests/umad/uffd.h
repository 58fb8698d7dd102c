/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory whose pages are missing for as long as the test likes: a system call
 * that touches one sleeps in the page fault (userfaultfd).
 */
#ifndef UMAD_UFFD_H
#define UMAD_UFFD_H

#include <stddef.h>

/* Two pages; the first is there, the second is missing. */
struct uffd_pages {
	char *base;
	char *hole;		/* the missing page */
	size_t page;
	int fd;
	int released;
};

int uffd_open(struct uffd_pages *pages);
int uffd_wait_fault(struct uffd_pages *pages, int wait_ms);
void uffd_fill(struct uffd_pages *pages, const void *data, size_t len);
void uffd_unmap(struct uffd_pages *pages);
void uffd_close(struct uffd_pages *pages);

#endif /* UMAD_UFFD_H */
