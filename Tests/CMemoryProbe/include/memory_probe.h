/* For tests: what is left in memory that was given back. */
#pragma once
#include <stddef.h>

/* From now on the next anonymous mapping of at least `least` bytes that this thread makes with mmap(2), whoever calls it,
   keeps a second view, which stays when the first is unmapped. */
void memory_probe_begin(size_t least);
/* The second view, to read, and its size; NULL if there was no such mapping. Ends the watch. */
const unsigned char *memory_probe_end(size_t *count);
void memory_probe_release(const unsigned char *view, size_t count);

/* How many of `count` bytes are left where a block was after free(3); the first 32 are the allocator's own. */
size_t memory_left_by_free(size_t count);
/* The same after realloc(3) of a block of `from` bytes to `to`, of what does not belong to the block any more; if it went
   on at the same place, of what was cut off. */
size_t memory_left_by_realloc(size_t from, size_t to);

/* How many blocks this thread has taken so far: malloc(3), calloc(3), aligned_alloc(3), posix_memalign(3). Not counted in a build
   with a sanitizer. */
size_t memory_allocations(void);
