/* For tests: how many instructions a thread takes, on machines whose counters a guest cannot see. */
#pragma once
#include <stdint.h>

/* From now on each instruction of this thread is followed by a trap (EFLAGS.TF), for which a handler of SIGTRAP counts one: some
   thousand times as slow. A system call is one instruction. Only one thread of a process at a time; nothing in between may block
   SIGTRAP. Returns 0 where nothing is counted: not on x86-64, or in a build with a sanitizer. */
int instruction_counter_begin(void);
/* How many they were; a few are the watch's own. The former handler of SIGTRAP is back. */
uint64_t instruction_counter_end(void);
