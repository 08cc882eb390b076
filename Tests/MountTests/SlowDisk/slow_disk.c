// A library to preload (ld.so(8)). While the file that SLOW_DISK names exists, fsync(2) and fdatasync(2) take as many milliseconds
// longer as its first number says, and pwrite(2) as its second; they continue early when it is removed.
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SYNC, WRITE };

static long delay(int kind) {
    long milliseconds[] = {0, 0};
    FILE *file = getenv("SLOW_DISK") ? fopen(getenv("SLOW_DISK"), "re") : NULL;
    if (!file) return 0;
    fscanf(file, "%ld %ld", &milliseconds[SYNC], &milliseconds[WRITE]);
    fclose(file);
    return milliseconds[kind];
}

static void wait_for_disk(int kind) {
    const struct timespec step = {.tv_nsec = 5000000};
    for (long waited = 0; waited < delay(kind); waited += 5) nanosleep(&step, NULL);
}

static int slow(long call, int descriptor) {
    wait_for_disk(SYNC);
    return syscall(call, descriptor);
}

int fsync(int descriptor) { return slow(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return slow(SYS_fdatasync, descriptor); }

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    wait_for_disk(WRITE);
    return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) { return pwrite64(descriptor, bytes, count, offset); }
