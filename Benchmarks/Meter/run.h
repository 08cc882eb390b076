/* Runs many calls of an operation on several threads. */
#ifndef RUN_H
#define RUN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "operations.h"

/* The caches that the kernel drops before the calls (root), so that each call is the first one for its file: names and
 * attributes, or also pages of files, including those of the daemon. */
enum cold { WARM, COLD_NAMES, COLD_ALL };

struct run {
    const struct operation *operation;
    struct job job;
    size_t count;
    int threads;
    /* Unless it is WARM, each file is used once. */
    enum cold cold;
    uint64_t seed;
    /* The process whose processor time is reported; 0 for none. */
    pid_t daemon;
};

struct outcome {
    /* The duration of each successful call in nanoseconds. */
    uint64_t *times;
    size_t succeeded, failed;
    /* errno of the first failed call. */
    int error;
    /* The duration of all calls, and the daemon's processor time during them. */
    double seconds, daemon_seconds;
};

/* Returns 0, or an error number if the run was not possible. The caller frees `times`. */
int perform_run(struct run *run, struct outcome *outcome);

#endif
