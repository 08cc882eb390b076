/* For tests: counts the instructions of a thread, on machines whose performance counters a guest cannot use. */
#pragma once
#include <stdint.h>

/* Sets EFLAGS.TF: each instruction of this thread then causes a trap, which a handler of SIGTRAP counts, about a thousand times
   slower. A system call is one instruction. Only one thread of a process at a time; no code in between may block
   SIGTRAP. Returns 0 if nothing is counted: on other processors than x86-64, and in a build with a sanitizer. */
int instruction_counter_begin(void);
/* Ends the count and returns it; a few instructions are those of the counter. Restores the former handler of SIGTRAP. */
uint64_t instruction_counter_end(void);
