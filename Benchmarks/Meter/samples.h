/* Durations of one operation, and what is said of them. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/* Nanoseconds of a clock that only goes forward. */
uint64_t now(void);

/* Sorts `times` and prints, as members of a JSON object without its braces, their number, percentiles, mean and
 * extremes in nanoseconds. Prints a number of 0 if there are none. */
void print_samples(uint64_t *times, size_t count);

#endif
