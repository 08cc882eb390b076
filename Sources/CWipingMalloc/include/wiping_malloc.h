/* The allocator of a program that holds secrets: what is freed is zeroed first (contract H1). Linked into the program
   `keychainfs` alone, never into a library: it takes the place of glibc's functions for the whole process. */
#pragma once

/* Until it is called with 0, munmap(2) by this thread zeroes what it takes away: libsodium 1.0.18 gives the memory of
   Argon2id back as it is. Others find this function by its name, weakly, as the program may lack it. */
void wiping_malloc_set_unmap(int wipes);
