/* For tests: finds data in freed memory, and counts allocations. */
#pragma once
#include <stddef.h>

/* Watches for the next anonymous mapping of at least `least` bytes that this thread creates with mmap(2), in any function.
   That mapping gets a second view, which remains when the first one is unmapped. */
void memory_probe_begin(size_t least);
/* Ends the watch and returns the second view, read-only, and its size; NULL if there was no such mapping. Unmapped with
   memory_probe_release. */
const unsigned char *memory_probe_end(size_t *count);
void memory_probe_release(const unsigned char *view, size_t count);

/* The number of `count` bytes that remain of a block after free(3); the allocator uses the first 32 itself. */
size_t memory_left_by_free(size_t count);
/* The number of bytes that remain outside of the block after realloc(3) from `from` to `to` bytes: in the old place, or, if
   the block did not move, after its new end. */
size_t memory_left_by_realloc(size_t from, size_t to);

/* The number of blocks that this thread has allocated: malloc(3), calloc(3), aligned_alloc(3), posix_memalign(3). Not counted
   in a build with a sanitizer. */
size_t memory_allocations(void);
