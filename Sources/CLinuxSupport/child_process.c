#define _GNU_SOURCE
#include "linux_support.h"

#include <spawn.h>
#include <sys/mman.h>

const short spawn_own_session = POSIX_SPAWN_SETSID;

void close_in_child(void *actions, int first)
{
    posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int anonymous_file(const char *label)
{
    int file = memfd_create(label, MFD_CLOEXEC);
    return file < 0 ? -errno : file;
}
