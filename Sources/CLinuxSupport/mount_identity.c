#define _GNU_SOURCE
#include "linux_support.h"
#include <fcntl.h>
#include <sys/stat.h>

int mount_identity_of(int directory, const char *path, uint64_t *mount, uint64_t *device) {
    struct statx status;
    /* Uses the kernel's cached attributes, so that the call does not wait for a daemon. */
    int flags = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT | (path[0] ? 0 : AT_EMPTY_PATH);
    if (statx(directory, path, flags, STATX_MNT_ID, &status) != 0) return -errno;
    *mount = status.stx_mask & STATX_MNT_ID ? status.stx_mnt_id : 0;
    *device = (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor;
    return 0;
}
