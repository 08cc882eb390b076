/* Interposes free, realloc, reallocarray and munmap of glibc. Everything else of malloc's family stays glibc's own, whose
   blocks these take: an interposed function in the program comes before the C library's for every caller. */
#define _GNU_SOURCE
#include "wiping_malloc.h"
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc's own functions, exported under these names since 2.0. */
extern void *__libc_malloc(size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

static _Thread_local int unmap_wipes;

void wiping_malloc_set_unmap(int wipes)
{
    unmap_wipes = wipes;
}

/* A build with a sanitizer, which no user has, needs these names for the sanitizer's own allocator. */
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

/* As explicit_bzero(3), without the call: the compiler must not take it for a dead store. */
static inline void wipe(void *memory, size_t count)
{
    memset(memory, 0, count);
    __asm__ volatile("" : : "r"(memory) : "memory");
}

void free(void *block)
{
    if (!block)
        return;
    wipe(block, malloc_usable_size(block));
    __libc_free(block);
}

/* Never by glibc's, which moves a block without wiping the place where it was. */
void *realloc(void *block, size_t size)
{
    size_t old;
    void *moved;

    if (!block)
        return __libc_malloc(size);
    if (size == 0) {
        free(block);
        return NULL;
    }
    old = malloc_usable_size(block);
    if (size <= old && size >= old / 2) {
        /* The block keeps its address. */
        wipe((char *)block + size, old - size);
        return block;
    }
    moved = __libc_malloc(size);
    if (!moved)
        return size <= old ? block : NULL;
    memcpy(moved, block, size < old ? size : old);
    free(block);
    return moved;
}

void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, bytes);
}

/* By the system call: glibc's own function is hidden behind this one. */
int munmap(void *memory, size_t count)
{
    /* Only what libsodium mapped reaches this while the flag is set: readable and writable, and its own. */
    if (unmap_wipes)
        wipe(memory, count);
    return (int)syscall(SYS_munmap, memory, count);
}

#endif
