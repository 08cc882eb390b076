// A library to preload (ld.so(8)). While the file that SLOW_DISK names exists, fsync(2) and fdatasync(2) take as many milliseconds
// longer as it says; they continue early when it is removed.
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long delay(void) {
    long milliseconds = 0;
    FILE *file = getenv("SLOW_DISK") ? fopen(getenv("SLOW_DISK"), "re") : NULL;
    if (file && fscanf(file, "%ld", &milliseconds) != 1) milliseconds = 0;
    if (file) fclose(file);
    return milliseconds;
}

static int slow(long call, int descriptor) {
    const struct timespec step = {.tv_nsec = 5000000};
    for (long waited = 0; waited < delay(); waited += 5) nanosleep(&step, NULL);
    return syscall(call, descriptor);
}

int fsync(int descriptor) { return slow(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return slow(SYS_fdatasync, descriptor); }
