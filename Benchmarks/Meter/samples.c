#include "samples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int ascending(const void *one, const void *other) {
    uint64_t left = *(const uint64_t *)one, right = *(const uint64_t *)other;
    return (left > right) - (left < right);
}

void print_samples(uint64_t *times, size_t count) {
    printf("\"count\": %zu", count);
    if (count == 0) return;
    double sum = 0;
    for (size_t index = 0; index < count; index++) sum += (double)times[index];
    qsort(times, count, sizeof *times, ascending);
    printf(", \"p50\": %" PRIu64 ", \"p90\": %" PRIu64 ", \"p99\": %" PRIu64, times[count / 2], times[count * 9 / 10],
           times[count * 99 / 100]);
    printf(", \"mean\": %.0f, \"least\": %" PRIu64 ", \"most\": %" PRIu64, sum / (double)count, times[0],
           times[count - 1]);
}
