#define _GNU_SOURCE
#include "sqlite_disk_errors.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* The methods of an open file are replaced by a copy in which some functions differ. The file itself remains the standard VFS's. */
struct table {
    /* First, so that the address of both is the same. */
    sqlite3_io_methods methods;
    const sqlite3_io_methods *base;
    struct table *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct table *tables;
static sqlite3_vfs vfs, *base;
static _Thread_local uint64_t failed_reads;

/* Every file that this VFS has opened has the methods of a table, which are its first member. */
static const sqlite3_io_methods *base_of(sqlite3_file *file) { return ((const struct table *)file->pMethods)->base; }

static int code_of(int number, int otherwise)
{
    switch (number) {
    case ENOSPC: case EDQUOT: return SQLITE_FULL;
    case EROFS: return SQLITE_READONLY;
    default: return otherwise;
    }
}

/* The result of a call that changes the file. */
static int changed(sqlite3_file *file, int code)
{
    int number = 0;
    if ((code & 0xFF) != SQLITE_IOERR || base_of(file)->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number) != SQLITE_OK)
        return code;
    return code_of(number, code);
}

static int read_file(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset)
{
    int code = base_of(file)->xRead(file, bytes, count, offset);

    if (code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ)
        return code;
    failed_reads++;
    /* Returned for EIO, ENXIO and ERANGE; sqlite3_step() makes SQLITE_CORRUPT of it (vdbe.c). */
    return code == SQLITE_IOERR_CORRUPTFS ? SQLITE_IOERR_READ : code;
}

static int write_file(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset)
{
    return changed(file, base_of(file)->xWrite(file, bytes, count, offset));
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) { return changed(file, base_of(file)->xTruncate(file, size)); }

static int sync_file(sqlite3_file *file, int flags) { return changed(file, base_of(file)->xSync(file, flags)); }

static int lock_file(sqlite3_file *file, int level)
{
    errno = 0;
    int code = base_of(file)->xLock(file, level);
    /* The file system has no locks: no other process holds one. */
    return code == SQLITE_BUSY && errno == ENOLCK ? SQLITE_IOERR_LOCK : code;
}

/* Returns the table of `methods`; NULL without memory. */
static struct table *table_of(const sqlite3_io_methods *methods)
{
    struct table *table;

    pthread_mutex_lock(&mutex);
    for (table = tables; table != NULL && table->base != methods; table = table->next)
        ;
    if (table == NULL && (table = malloc(sizeof *table)) != NULL) {
        *table = (struct table){.methods = *methods, .base = methods, .next = tables};
        table->methods.xRead = read_file;
        table->methods.xWrite = write_file;
        table->methods.xTruncate = truncate_file;
        table->methods.xSync = sync_file;
        table->methods.xLock = lock_file;
        tables = table;
    }
    pthread_mutex_unlock(&mutex);
    return table;
}

/* Opens `name` as the standard VFS does, which loses the errno. Returns it; 0 on success. A file that this creates is removed,
   because the standard VFS gives a new one the owner and the mode of the database. */
static int errno_of_open(const char *name, int flags)
{
    int file = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

    if (file < 0 && errno == ENOENT && flags & SQLITE_OPEN_CREATE) {
        file = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_CREAT | O_EXCL, 0600);
        if (file >= 0)
            unlink(name);
    }
    if (file < 0)
        return errno;
    close(file);
    return 0;
}

/* The result of a call that has failed with SQLITE_CANTOPEN. */
static int code_of_open(int number, int code)
{
    switch (number) {
    case 0: case EACCES: case EPERM: case ELOOP: case ENOENT: case ENOTDIR: case EISDIR: case ENAMETOOLONG: return code;
    default: return code_of(number, SQLITE_IOERR);
    }
}

static int open_standard(const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    errno = 0;
    int code = base->xOpen(base, name, file, flags, out_flags), number = errno;

    if ((code & 0xFF) != SQLITE_CANTOPEN)
        return code;
    /* To close a descriptor of the database would release this process's locks on it (fcntl(2)). */
    if (name != NULL && !(flags & SQLITE_OPEN_MAIN_DB) && (number = errno_of_open(name, flags)) == 0)
        return base->xOpen(base, name, file, flags, out_flags);
    return code_of_open(number, code);
}

static int full_pathname(sqlite3_vfs *self, const char *name, int count, char *path)
{
    errno = 0;
    int code = base->xFullPathname(base, name, count, path), number = errno;

    (void)self;
    return (code & 0xFF) == SQLITE_CANTOPEN ? code_of_open(number, code) : code;
}

static int open_file(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    int code = open_standard(name, file, flags, out_flags);
    struct table *table;

    (void)self;
    if (file->pMethods == NULL)
        return code;
    if ((table = table_of(file->pMethods)) == NULL) {
        file->pMethods->xClose(file);
        file->pMethods = NULL;
        return SQLITE_NOMEM;
    }
    file->pMethods = &table->methods;
    return code;
}

/* The standard VFS takes every error for the absence of the file, and would not read a log then. */
static int access_file(sqlite3_vfs *self, const char *name, int flags, int *result)
{
    errno = 0;
    int code = base->xAccess(base, name, flags, result);

    (void)self;
    if (code != SQLITE_OK || *result || flags != SQLITE_ACCESS_EXISTS)
        return code;
    switch (errno) {
    case 0: case ENOENT: case ENOTDIR: case EACCES: case ENAMETOOLONG: return code;
    default: return SQLITE_IOERR_ACCESS;
    }
}

static bool is_registered;

static void install(void)
{
    base = sqlite3_vfs_find("unix-excl");
    if (base == NULL)
        return;
    vfs = *base;
    vfs.zName = "keychainfs";
    vfs.pNext = NULL;
    vfs.xOpen = open_file;
    vfs.xAccess = access_file;
    vfs.xFullPathname = full_pathname;
    is_registered = sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

const char *sqlite_disk_errors_vfs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, install);
    return is_registered ? vfs.zName : NULL;
}

uint64_t sqlite_disk_errors_failed_reads(void) { return failed_reads; }
