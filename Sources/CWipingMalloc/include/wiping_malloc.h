/* The allocator of a program that holds secrets: it zeroes memory before it frees it (contract H1). Linked only into the
   program `keychainfs`, never into a library: it replaces glibc's functions for the whole process. */
#pragma once

/* Makes munmap(2) zero the memory that this thread unmaps, until a call with 0: libsodium 1.0.18 unmaps the memory of
   Argon2id without wiping it. Callers declare this function weak, because a program may not contain it. */
void wiping_malloc_set_unmap(int wipes);
