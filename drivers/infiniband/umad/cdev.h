/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The calls of umadN. */
#ifndef UMAD_CDEV_H
#define UMAD_CDEV_H

#include <linux/fs.h>

struct umad_file;
struct umad_port;

extern const struct file_operations umad_fops;

int umad_cdev_init(void);
void umad_cdev_exit(void);
struct umad_file *umad_file_create(struct umad_port *port);
void umad_file_destroy(struct umad_file *file);
void umad_file_shut(struct umad_file *file);
void umad_file_shutdown(struct umad_file *file);

/* ioctl.c */
long umad_ioctl(struct file *filp, unsigned int cmd, unsigned long arg);
long umad_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg);
/* read.c */
ssize_t umad_read_iter(struct kiocb *iocb, struct iov_iter *to);
/* write.c */
ssize_t umad_write_iter(struct kiocb *iocb, struct iov_iter *from);

#endif /* UMAD_CDEV_H */
