/* Many calls of one operation, by several threads. */
#ifndef RUN_H
#define RUN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "operations.h"

/* What the kernel forgets before the calls (root), so that each is the first of its file: names and attributes, or
 * pages of files too, those of the daemon's own among them. */
enum cold { WARM, COLD_NAMES, COLD_ALL };

struct run {
    const struct operation *operation;
    struct job job;
    size_t count;
    int threads;
    /* If not WARM, no file comes twice. */
    enum cold cold;
    uint64_t seed;
    /* Whose processor time is told; 0: nobody's. */
    pid_t daemon;
};

struct outcome {
    /* Nanoseconds of each call that succeeded. */
    uint64_t *times;
    size_t succeeded, failed;
    /* Of the first call that failed. */
    int error;
    /* Of all calls together, and the daemon's processor time meanwhile. */
    double seconds, daemon_seconds;
};

/* 0, or an error number if it could not be run at all. `times` is the caller's to free. */
int perform_run(struct run *run, struct outcome *outcome);

#endif
