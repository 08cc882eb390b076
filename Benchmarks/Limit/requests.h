/* The operations of the limit file system, executed immediately and in memory. */
#ifndef REQUESTS_H
#define REQUESTS_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
#include <stddef.h>

extern const struct fuse_lowlevel_ops limit_operations;

/* Creates files s000000, s000001, … of `size` bytes. Called before the first request. Returns 0 or -1. */
int limit_prepare(size_t count, size_t size);

#endif
