#define _GNU_SOURCE
#include "fault_vfs.h"
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* A shim over SQLite's own VFS (https://www.sqlite.org/vfs.html), for the VFS that the store uses and for the default VFS. */

struct fault_vfs {
    char *directory;
    struct fault_plan plan;
    bool is_paused;
    int64_t calls, failures, calls_of_kind[fault_kinds];
    struct fault_event *events;
    int64_t count, room;
    struct fault_vfs *next;
};

struct file {
    sqlite3_file base;
    struct fault_vfs *disk;    /* NULL: not affected */
    bool is_log, is_other;
    int error;                 /* the errno of the last planned failure */
    sqlite3_file real[];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct fault_vfs *disks;
static sqlite3_vfs shim, *system_vfs;

static struct file *file_of(sqlite3_file *base) { return (struct file *)base; }

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

static struct fault_vfs *disk_of(const char *path)
{
    struct fault_vfs *disk;

    if (path == NULL)
        return NULL;
    for (disk = disks; disk != NULL; disk = disk->next)
        if (strncmp(path, disk->directory, strlen(disk->directory)) == 0 && path[strlen(disk->directory)] == '/')
            return disk;
    return NULL;
}

/* The keychain of every test has the same name; the names of temporary files begin with a dot. */
static bool is_database(const char *path) { return ends_with(path, "/login.keychain"); }
static bool is_log(const char *path) { return ends_with(path, "/login.keychain-wal"); }

/* The planned result code of this call; 0 if the call is executed. The caller holds the mutex. */
static int planned(struct fault_vfs *disk, enum fault_kind kind)
{
    struct fault_plan *plan = &disk->plan;
    int64_t number;

    if (disk->is_paused)
        return SQLITE_OK;
    disk->calls_of_kind[__builtin_ctz(kind)]++;
    if (!(plan->kinds & kind))
        return SQLITE_OK;
    number = disk->calls++;
    if (number < plan->first || (plan->count >= 0 && number >= plan->first + plan->count))
        return SQLITE_OK;
    disk->failures++;
    return plan->code;
}

static void record(struct fault_vfs *disk, struct fault_event event, const void *bytes)
{
    if (disk->count == disk->room) {
        disk->room = disk->room ? 2 * disk->room : 1024;
        disk->events = realloc(disk->events, (size_t)disk->room * sizeof *disk->events);
    }
    if (bytes != NULL) {
        void *copy = malloc((size_t)event.count + 1);
        memcpy(copy, bytes, (size_t)event.count);
        event.bytes = copy;
    }
    disk->events[disk->count++] = event;
}

/* Decides whether to execute the call, executes it and records it, while holding the mutex. */
#define CALL(file, event_kind, at, length, data, make)                                                       \
    do {                                                                                                     \
        struct file *f_ = (file);                                                                            \
        int code_;                                                                                           \
        if (f_->disk == NULL)                                                                                \
            return (make);                                                                                   \
        pthread_mutex_lock(&mutex);                                                                          \
        code_ = planned(f_->disk, (event_kind));                                                             \
        f_->error = code_ == SQLITE_OK ? 0 : f_->disk->plan.error;                                           \
        if (code_ == SQLITE_OK) {                                                                            \
            code_ = (make);                                                                                  \
        }                                                                                                    \
        if ((event_kind) != fault_read)                                                                      \
            record(f_->disk,                                                                                 \
                   (struct fault_event){.kind = (event_kind), .failed = code_ != SQLITE_OK,                  \
                                        .is_log = f_->is_log, .is_other = f_->is_other, .offset = (at),      \
                                        .count = (length)},                                                  \
                   code_ == SQLITE_OK ? (data) : NULL);                                                      \
        pthread_mutex_unlock(&mutex);                                                                        \
        return code_;                                                                                        \
    } while (0)

static int close_file(sqlite3_file *base)
{
    struct file *file = file_of(base);
    return file->real->pMethods ? file->real->pMethods->xClose(file->real) : SQLITE_OK;
}

static int read_file(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset)
{
    struct file *file = file_of(base);
    CALL(file, fault_read, offset, count, NULL, file->real->pMethods->xRead(file->real, bytes, count, offset));
}

static int write_file(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset)
{
    struct file *file = file_of(base);
    CALL(file, fault_write, offset, count, bytes, file->real->pMethods->xWrite(file->real, bytes, count, offset));
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size)
{
    struct file *file = file_of(base);
    CALL(file, fault_truncate, size, 0, NULL, file->real->pMethods->xTruncate(file->real, size));
}

/* No real sync: the state after a power cut is computed from the events. */
static int sync_file(sqlite3_file *base, int flags)
{
    struct file *file = file_of(base);
    CALL(file, fault_sync, 0, 0, NULL,
         file->disk == NULL ? file->real->pMethods->xSync(file->real, flags) : SQLITE_OK);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    return file_of(base)->real->pMethods->xFileSize(file_of(base)->real, size);
}

static int lock_file(sqlite3_file *base, int level)
{
    return file_of(base)->real->pMethods->xLock(file_of(base)->real, level);
}

static int unlock_file(sqlite3_file *base, int level)
{
    return file_of(base)->real->pMethods->xUnlock(file_of(base)->real, level);
}

static int check_lock(sqlite3_file *base, int *is_reserved)
{
    return file_of(base)->real->pMethods->xCheckReservedLock(file_of(base)->real, is_reserved);
}

/* A size hint is an additional write on which SQLite does not rely: refused, so that all writes are recorded. */
static int control_file(sqlite3_file *base, int operation, void *argument)
{
    struct file *file = file_of(base);
    if (file->disk != NULL && (operation == SQLITE_FCNTL_SIZE_HINT || operation == SQLITE_FCNTL_CHUNK_SIZE))
        return SQLITE_OK;
    if (file->disk != NULL && operation == SQLITE_FCNTL_LAST_ERRNO && file->error != 0) {
        *(int *)argument = file->error;
        return SQLITE_OK;
    }
    return file->real->pMethods->xFileControl(file->real, operation, argument);
}

static int sector_size(sqlite3_file *base) { return file_of(base)->real->pMethods->xSectorSize(file_of(base)->real); }

static int characteristics(sqlite3_file *base)
{
    return file_of(base)->real->pMethods->xDeviceCharacteristics(file_of(base)->real);
}

static int map_shared(sqlite3_file *base, int region, int size, int extend, void volatile **memory)
{
    return file_of(base)->real->pMethods->xShmMap(file_of(base)->real, region, size, extend, memory);
}

static int lock_shared(sqlite3_file *base, int offset, int count, int flags)
{
    return file_of(base)->real->pMethods->xShmLock(file_of(base)->real, offset, count, flags);
}

static void barrier(sqlite3_file *base) { file_of(base)->real->pMethods->xShmBarrier(file_of(base)->real); }

static int unmap_shared(sqlite3_file *base, int delete)
{
    return file_of(base)->real->pMethods->xShmUnmap(file_of(base)->real, delete);
}

/* Version 2: without memory mapping, which would write past the shim. */
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_shared,
};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out_flags)
{
    struct file *file = file_of(base);
    bool is_made = false;
    int code = SQLITE_OK, exists = 1;

    (void)vfs;
    memset(file, 0, sizeof *file);
    memset(file->real, 0, (size_t)system_vfs->szOsFile);
    pthread_mutex_lock(&mutex);
    file->disk = disk_of(name);
    if (file->disk != NULL) {
        file->is_log = is_log(name);
        file->is_other = !file->is_log && !is_database(name);
        if (flags & SQLITE_OPEN_CREATE)
            system_vfs->xAccess(system_vfs, name, SQLITE_ACCESS_EXISTS, &exists);
        is_made = !exists;
        code = planned(file->disk, is_made ? fault_open : fault_reopen);
    }
    if (code == SQLITE_OK)
        code = system_vfs->xOpen(system_vfs, name, file->real, flags, out_flags);
    if (file->disk != NULL && is_made)
        record(file->disk,
               (struct fault_event){.kind = fault_open, .failed = code != SQLITE_OK, .is_log = file->is_log,
                                    .is_other = file->is_other},
               NULL);
    pthread_mutex_unlock(&mutex);
    if (code == SQLITE_OK || file->real->pMethods != NULL)
        file->base.pMethods = &methods;
    return code;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    struct fault_vfs *disk;
    int code;

    (void)vfs;
    pthread_mutex_lock(&mutex);
    disk = disk_of(name);
    code = disk == NULL ? SQLITE_OK : planned(disk, fault_delete);
    if (code == SQLITE_OK)
        code = system_vfs->xDelete(system_vfs, name, disk == NULL ? sync_directory : 0);
    if (disk != NULL)
        record(disk,
               (struct fault_event){.kind = fault_delete, .failed = code != SQLITE_OK, .is_log = is_log(name),
                                    .is_other = !is_log(name) && !is_database(name), .count = sync_directory},
               NULL);
    pthread_mutex_unlock(&mutex);
    return code;
}

/* Before main: the VFS of the program (Sources/CSQLiteRows) is a layer above this one from its first use. */
__attribute__((constructor)) static void install(void)
{
    system_vfs = sqlite3_vfs_find("unix-excl");
    /* The same name: of two VFSs with one name SQLite uses the last registered one. */
    shim = *system_vfs;
    shim.szOsFile = (int)sizeof(struct file) + system_vfs->szOsFile;
    shim.pNext = NULL;
    shim.xOpen = open_file;
    shim.xDelete = delete_file;
    sqlite3_vfs_register(&shim, 1);
}

struct fault_vfs *fault_vfs_make(const char *directory)
{
    struct fault_vfs *disk = calloc(1, sizeof *disk);

    disk->directory = strdup(directory);
    pthread_mutex_lock(&mutex);
    disk->next = disks;
    disks = disk;
    pthread_mutex_unlock(&mutex);
    return disk;
}

void fault_vfs_free(struct fault_vfs *disk)
{
    struct fault_vfs **place;
    int64_t index;

    pthread_mutex_lock(&mutex);
    for (place = &disks; *place != disk; place = &(*place)->next)
        ;
    *place = disk->next;
    pthread_mutex_unlock(&mutex);
    for (index = 0; index < disk->count; index++)
        free((void *)disk->events[index].bytes);
    free(disk->events);
    free(disk->directory);
    free(disk);
}

void fault_vfs_set_plan(struct fault_vfs *disk, struct fault_plan plan)
{
    pthread_mutex_lock(&mutex);
    disk->plan = plan;
    disk->calls = 0;
    pthread_mutex_unlock(&mutex);
}

void fault_vfs_pause(struct fault_vfs *disk, bool is_paused)
{
    pthread_mutex_lock(&mutex);
    disk->is_paused = is_paused;
    pthread_mutex_unlock(&mutex);
}

int64_t fault_vfs_failures(struct fault_vfs *disk)
{
    pthread_mutex_lock(&mutex);
    int64_t failures = disk->failures;
    pthread_mutex_unlock(&mutex);
    return failures;
}

int64_t fault_vfs_calls(struct fault_vfs *disk, unsigned kinds)
{
    int64_t calls = 0;
    int kind;

    pthread_mutex_lock(&mutex);
    for (kind = 0; kind < fault_kinds; kind++)
        if (kinds >> kind & 1)
            calls += disk->calls_of_kind[kind];
    pthread_mutex_unlock(&mutex);
    return calls;
}

int64_t fault_vfs_event_count(struct fault_vfs *disk)
{
    pthread_mutex_lock(&mutex);
    int64_t count = disk->count;
    pthread_mutex_unlock(&mutex);
    return count;
}

struct fault_event fault_vfs_event(struct fault_vfs *disk, int64_t index)
{
    pthread_mutex_lock(&mutex);
    struct fault_event event = disk->events[index];
    pthread_mutex_unlock(&mutex);
    return event;
}
