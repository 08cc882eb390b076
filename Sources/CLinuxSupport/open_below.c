#define _GNU_SOURCE
#include "linux_support.h"
#include <fcntl.h>
#include <limits.h>
#include <string.h>

int open_below(const char *directory, const char *name, int flags) {
    int place = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *slash;
    while (place >= 0 && (slash = strchr(name, '/'))) {
        char component[NAME_MAX + 1] = {0};
        size_t length = (size_t)(slash - name);
        int next = -1;
        errno = ENAMETOOLONG;
        if (length <= NAME_MAX) {
            memcpy(component, name, length);
            next = openat(place, component, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        int error = errno;
        close(place);
        errno = error;
        place = next;
        name = slash + 1;
    }
    if (place < 0) return -errno;
    int file = openat(place, name, flags | O_NOFOLLOW | O_CLOEXEC), error = errno;
    close(place);
    return file < 0 ? -error : file;
}

int open_inode(const char *path) {
    int descriptor = open(path, O_PATH | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int open_directory(int directory, const char *name, bool follows_link) {
    int descriptor = openat(directory, name, O_PATH | O_DIRECTORY | O_CLOEXEC | (follows_link ? 0 : O_NOFOLLOW));
    return descriptor < 0 ? -errno : descriptor;
}
