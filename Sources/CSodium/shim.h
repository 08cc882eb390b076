/* The parts of libsodium, and of the system's memory and process calls, that Swift cannot import. */
#pragma once
#include <malloc.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* prctl(2) is variadic, which Swift cannot call. */
static inline int csodium_set_dumpable(int dumpable) { return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0); }
static inline int csodium_get_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

/* mlock2(2), which can lock each page when it is first used, instead of all pages immediately. */
extern int mlock2(const void *, size_t, unsigned int);
static const unsigned int csodium_lock_on_fault = 1; /* MLOCK_ONFAULT, Linux 4.4 */

/* A function of CWipingMalloc, which libraries and tests are not linked with. */
extern void wiping_malloc_set_unmap(int wipes) __attribute__((weak));

static inline void csodium_wipe_unmapped(int wipes)
{
    if (wiping_malloc_set_unmap)
        wiping_malloc_set_unmap(wipes);
}

/* Returns whether a freed block is zero when it is allocated again, except its first bytes, which malloc uses.
   Calls malloc and free through volatile pointers, because the compiler would otherwise remove the calls. */
static inline int csodium_allocator_wipes(void)
{
    void *(*volatile take)(size_t) = malloc;
    void (*volatile give)(void *) = free;
    const size_t count = 1000, own = 32;
    volatile unsigned char *block;
    int round, found = 0, same = 0;

    for (round = 0; round < 8 && !same; round++) {
        volatile unsigned char *before = (volatile unsigned char *)take(count);
        size_t index;
        if (!before)
            return 0;
        for (index = 0; index < count; index++)
            before[index] = 0xA5;
        give((void *)before);
        block = (volatile unsigned char *)take(count);
        same = block == before;
        if (block && same)
            for (index = own; index < count; index++)
                found |= block[index] == 0xA5;
        give((void *)block);
    }
    return same && !found;
}
