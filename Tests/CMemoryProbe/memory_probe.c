#define _GNU_SOURCE
#include "memory_probe.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { allocators_own = 32, mark = 0xA5 };

static _Thread_local struct {
    size_t least;
    void *view;
    size_t count;
} watch;

static void *map(void *address, size_t count, int protection, int flags, int file, off_t offset)
{
    return (void *)syscall(SYS_mmap, address, count, protection, flags, file, offset);
}

/* Replaces glibc's function for all callers: a watched mapping consists of shared memory with two views. */
void *mmap(void *address, size_t count, int protection, int flags, int file, off_t offset)
{
    void *first, *second;
    int memory;

    if (watch.least == 0 || count < watch.least || !(flags & MAP_ANONYMOUS))
        return map(address, count, protection, flags, file, offset);
    watch.least = 0;
    memory = (int)syscall(SYS_memfd_create, "watched", 0);
    if (memory < 0 || ftruncate(memory, (off_t)count) != 0)
        return MAP_FAILED;
    first = map(address, count, protection, MAP_SHARED, memory, 0);
    second = map(NULL, count, PROT_READ, MAP_SHARED, memory, 0);
    close(memory);
    if (second != MAP_FAILED) {
        watch.view = second;
        watch.count = count;
    }
    return first;
}

void memory_probe_begin(size_t least)
{
    watch.least = least;
    watch.view = NULL;
    watch.count = 0;
}

const unsigned char *memory_probe_end(size_t *count)
{
    watch.least = 0;
    *count = watch.count;
    return watch.view;
}

void memory_probe_release(const unsigned char *view, size_t count)
{
    syscall(SYS_munmap, (void *)view, count);
}

static _Thread_local size_t allocations;

size_t memory_allocations(void) { return allocations; }

/* A build with a sanitizer needs these names for the sanitizer's own allocator. */
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

/* glibc's own functions, exported under these names since 2.0. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t count)
{
    allocations++;
    return __libc_malloc(count);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

void *aligned_alloc(size_t alignment, size_t count)
{
    allocations++;
    return __libc_memalign(alignment, count);
}

int posix_memalign(void **block, size_t alignment, size_t count)
{
    void *memory;

    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    allocations++;
    memory = __libc_memalign(alignment, count);
    if (memory == NULL)
        return ENOMEM;
    *block = memory;
    return 0;
}

#endif

/* Through volatile pointers: otherwise the compiler knows malloc and free and removes the writes. */
static void *(*volatile take)(size_t) = malloc;
static void *(*volatile resize)(void *, size_t) = realloc;
static void (*volatile give)(void *) = free;

static size_t marks(const volatile unsigned char *start, size_t from, size_t to)
{
    size_t found = 0;

    for (size_t index = from; index < to; index++)
        found += start[index] == mark;
    return found;
}

size_t memory_left_by_free(size_t count)
{
    unsigned char *block = take(count);
    /* Keeps the end of the heap from being returned to the system. */
    void *after = take(count);
    size_t found;

    if (!block || !after)
        return SIZE_MAX;
    memset(block, mark, count);
    give(block);
    found = marks(block, allocators_own, count);
    give(after);
    return found;
}

size_t memory_left_by_realloc(size_t from, size_t to)
{
    unsigned char *block = take(from), *moved;
    void *after = take(from);
    size_t found;

    if (!block || !after)
        return SIZE_MAX;
    memset(block, mark, from);
    moved = resize(block, to);
    if (!moved)
        return SIZE_MAX;
    /* The data of the block is unchanged. */
    if (marks(moved, 0, to) < (from < to ? from : to))
        return SIZE_MAX;
    found = marks(block, moved == block ? to : allocators_own, from);
    give(moved);
    give(after);
    return found;
}
