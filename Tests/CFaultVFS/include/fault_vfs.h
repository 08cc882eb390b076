/* A disk that remembers what SQLite does to it, and fails when told to. Files outside of all such disks are left alone. */
#ifndef FAULT_VFS_H
#define FAULT_VFS_H

#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
    fault_open = 1 << 0,     /* that creates the file */
    fault_read = 1 << 1,
    fault_write = 1 << 2,
    fault_truncate = 1 << 3,
    fault_sync = 1 << 4,
    fault_delete = 1 << 5,
    fault_reopen = 1 << 6,   /* of a file that is there */
    fault_kinds = 7
};

/* One call of SQLite's that the disk has seen. Reads are counted, not kept. */
struct fault_event {
    enum fault_kind kind;
    bool failed;
    bool is_log;             /* the write-ahead log; else the database */
    bool is_other;           /* neither: a copy, a draft */
    int64_t offset;          /* of a write; the new size of a truncation */
    int64_t count;
    const unsigned char *bytes;
};

/* Which calls fail: of the kinds, the one numbered `first` (from 0, counted from now on) and those behind it, `count` in all
   (negative: for ever), with this SQLite result code. */
struct fault_plan {
    unsigned kinds;
    int64_t first;
    int64_t count;
    int code;
};

struct fault_vfs;

/* All files below a directory, which nobody has open yet. */
struct fault_vfs *fault_vfs_make(const char *directory);
/* Nobody has a file of it open. */
void fault_vfs_free(struct fault_vfs *disk);
void fault_vfs_set_plan(struct fault_vfs *disk, struct fault_plan plan);
/* While it is paused no call fails, and none is counted. */
void fault_vfs_pause(struct fault_vfs *disk, bool is_paused);
/* How many calls have failed by plan, ever. */
int64_t fault_vfs_failures(struct fault_vfs *disk);
/* How many calls of these kinds there have been, ever. */
int64_t fault_vfs_calls(struct fault_vfs *disk, unsigned kinds);
int64_t fault_vfs_event_count(struct fault_vfs *disk);
/* Its bytes stay where they are as long as the disk. */
struct fault_event fault_vfs_event(struct fault_vfs *disk, int64_t index);

#endif
