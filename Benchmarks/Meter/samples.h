/* The durations of an operation, and their statistics. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/* The time of a monotonic clock in nanoseconds. */
uint64_t now(void);

/* Sorts `times` and prints, as members of a JSON object without its braces, their number, percentiles, mean and
 * extremes in nanoseconds. Prints a number of 0 without any. */
void print_samples(uint64_t *times, size_t count);

#endif
