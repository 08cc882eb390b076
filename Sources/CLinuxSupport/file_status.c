#define _GNU_SOURCE
#include "linux_support.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static void identify(const struct statx *found, struct file_status *status) {
    status->device = makedev(found->stx_dev_major, found->stx_dev_minor);
    status->inode = found->stx_ino;
    status->size = found->stx_size;
}

int file_status_of(const char *path, struct file_status *status) {
    struct statx found;
    if (statx(AT_FDCWD, path, 0, STATX_TYPE | STATX_INO | STATX_SIZE, &found) != 0) return -errno;
    identify(&found, status);
    return 0;
}

static int64_t nanoseconds(struct statx_timestamp time) { return time.tv_sec * 1000000000 + time.tv_nsec; }

int file_stamp_of(const char *path, struct file_stamp *stamp) {
    struct statx found;
    if (statx(AT_FDCWD, path, 0, STATX_TYPE | STATX_INO | STATX_SIZE | STATX_MTIME | STATX_CTIME, &found) != 0) return -errno;
    identify(&found, &stamp->status);
    stamp->modified = nanoseconds(found.stx_mtime);
    stamp->changed = nanoseconds(found.stx_ctime);
    return 0;
}
