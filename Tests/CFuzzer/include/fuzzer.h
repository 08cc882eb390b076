/* LibFuzzer, in a program that is linked with it (scripts/fuzz); not in other builds. */
#pragma once
#include <stddef.h>
#include <stdint.h>

extern int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*test)(const uint8_t *, size_t))
    __attribute__((weak));

/* Returns libFuzzer's result; -1 in a build without libFuzzer. */
static inline int cfuzzer_run(int *count, char ***arguments, int (*test)(const uint8_t *, size_t))
{
    return LLVMFuzzerRunDriver ? LLVMFuzzerRunDriver(count, arguments, test) : -1;
}
