/* LibFuzzer, where a program is linked with it (scripts/fuzz); no other build has it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

extern int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*test)(const uint8_t *, size_t))
    __attribute__((weak));

/* What libFuzzer returns; -1 where there is none. */
static inline int cfuzzer_run(int *count, char ***arguments, int (*test)(const uint8_t *, size_t))
{
    return LLVMFuzzerRunDriver ? LLVMFuzzerRunDriver(count, arguments, test) : -1;
}
