#define _GNU_SOURCE
#include "instruction_counter.h"

#include <signal.h>

#if defined(__x86_64__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define COUNTS 1
#define SET_TRAP_FLAG(change)                                                                                          \
    /* The 128 bytes below the stack pointer may be in use (the red zone). */                                          \
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" change ", (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::      \
                         : "cc", "memory")
#else
#define COUNTS 0
#define SET_TRAP_FLAG(change) (void)0
#endif

static volatile uint64_t count;
static struct sigaction former;

static void count_one(int signal)
{
    (void)signal;
    count++;
}

int instruction_counter_begin(void)
{
    struct sigaction action = {.sa_handler = count_one, .sa_flags = SA_RESTART};
    sigaction(SIGTRAP, &action, &former);
    count = 0;
    SET_TRAP_FLAG("orq $0x100");
    return COUNTS;
}

uint64_t instruction_counter_end(void)
{
    SET_TRAP_FLAG("andq $~0x100");
    sigaction(SIGTRAP, &former, 0);
    return count;
}
