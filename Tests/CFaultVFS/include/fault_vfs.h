/* A VFS that records SQLite's calls and fails on request. Files outside of all its directories are not affected. */
#ifndef FAULT_VFS_H
#define FAULT_VFS_H

#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
    fault_open = 1 << 0,     /* creates the file */
    fault_read = 1 << 1,
    fault_write = 1 << 2,
    fault_truncate = 1 << 3,
    fault_sync = 1 << 4,
    fault_delete = 1 << 5,
    fault_reopen = 1 << 6,   /* opens an existing file */
    fault_kinds = 7
};

/* A recorded call of SQLite. Reads are counted, not recorded. */
struct fault_event {
    enum fault_kind kind;
    bool failed;
    bool is_log;             /* the write-ahead log; otherwise the database */
    bool is_other;           /* neither: a copy or a temporary file */
    int64_t offset;          /* offset of a write, or the new size of a truncation */
    int64_t count;
    const unsigned char *bytes;
};

/* The calls that fail with the SQLite result code `code`: of `kinds`, `count` calls (negative: without end) from number `first`
   on, counted from 0 when the plan is set. `error` is the errno that SQLite's VFS would have seen (SQLITE_FCNTL_LAST_ERRNO). */
struct fault_plan {
    unsigned kinds;
    int64_t first;
    int64_t count;
    int code;
    int error;
};

struct fault_vfs;

/* Creates a disk for all files below a directory, none of which is open. Freed with fault_vfs_free. */
struct fault_vfs *fault_vfs_make(const char *directory);
/* Frees the disk. None of its files is open. */
void fault_vfs_free(struct fault_vfs *disk);
void fault_vfs_set_plan(struct fault_vfs *disk, struct fault_plan plan);
/* While the disk is paused no call fails, and none is counted. */
void fault_vfs_pause(struct fault_vfs *disk, bool is_paused);
/* The number of calls that have failed because of a plan. */
int64_t fault_vfs_failures(struct fault_vfs *disk);
/* The number of calls of these kinds. */
int64_t fault_vfs_calls(struct fault_vfs *disk, unsigned kinds);
int64_t fault_vfs_event_count(struct fault_vfs *disk);
/* The bytes of the event are valid until fault_vfs_free. */
struct fault_event fault_vfs_event(struct fault_vfs *disk, int64_t index);

#endif
