#define _GNU_SOURCE
#include "linux_support.h"
#include <fcntl.h>

int lock_holder(int descriptor, int64_t start, int64_t length) {
    /* Unlike F_GETLK, it finds locks of this process, too. The process ID must be 0. */
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return -errno;
    if (lock.l_type == F_UNLCK) return LOCK_HOLDER_NONE;
    return lock.l_pid > 0 ? lock.l_pid : 0;
}
