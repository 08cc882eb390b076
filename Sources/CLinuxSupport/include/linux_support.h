/* What Swift's modules do not have of Linux, glibc and libdispatch, and logind through libsystemd's sd-bus. */
#pragma once
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* glibc has it for _GNU_SOURCE alone (renameat2(2)). */
int renameat2(int old_directory, const char *old_path, int new_directory, const char *new_path, unsigned int flags);

/* The number of the mount that a path, or with "" a descriptor, lies in, and of its device. A negative errno if that fails.
   Asks no file system. */
int mount_identity_of(int directory, const char *path, uint64_t *mount, uint64_t *device);

/* What a path leads to, and its size in bytes; its times are not asked for. A negative errno if that fails. */
struct file_status { uint64_t device, inode, size; };
int file_status_of(const char *path, struct file_status *status);

/* The same with the times of the last write and of the last change of the inode, in nanoseconds since the epoch. */
struct file_stamp { struct file_status status; int64_t modified, changed; };
int file_stamp_of(const char *path, struct file_stamp *stamp);

/* Sets no_new_privs (prctl(2)) for all threads of this process, for good. A negative errno if that fails: then it may hold for the
   calling thread alone. */
int new_privileges_renounce(void);

/* The Dispatch queue that runs the caller, retained; the caller releases it. Outside of a queue a global one, or NULL. */
void *dispatch_queue_retain_current(void);
void dispatch_queue_release(void *queue);

/* The most that a message and its answer have, in bytes, and what ps(1) calls the process. */
#define FILE_EXCHANGE_LIMIT (1 << 20)
#define FILE_EXCHANGE_NAME "keychainfs-ask"

/* Opens the file `name`, one or more components, below `directory`; no component of `name` may be a symbolic link. `flags` are
   those of open(2). Returns a descriptor, or a negative errno. Async-signal-safe. */
int open_below(const char *directory, const char *name, int flags);

/* Where a file is, see open_below, and whether the message is written to it. */
struct child_file_request_place { const char *directory, *name; bool is_written; };
/* The first record that the child sends: an errno, or 0 and the mount that the open file lies in. */
struct child_file_request_opening { uint64_t mount, device; int32_t error; };

/* Forks a child that opens the file and sends a child_file_request_opening. If it is open, the child reads a message from `peer` up to
   its end, writes it if `is_written`, reads the file up to its end and closes it. Then it sends a status, an int32_t that is 0 or
   an errno, and the bytes that it has read, and ends. A message of no bytes is not written: the caller gives up.
   The child ends with the thread that has started it.
   Returns its process ID, or a negative errno. The caller closes `peer`, a socket, and waits for the child. */
int child_file_request_start(const struct child_file_request_place *place, int *peer);

/* A connection to the system bus, for one thread. Functions return a negative errno when they fail. */
typedef struct login_bus login_bus;

/* What logind has told: see login_bus_event. */
enum login_bus_event_kind {
    login_bus_sleep = 1,       /* PrepareForSleep(true) */
    login_bus_wake = 2,        /* PrepareForSleep(false) */
    login_bus_session_lock = 3, /* a session of this user: its Lock signal, or LockedHint became true */
    login_bus_owner_lost = 4,  /* logind has left the bus */
    login_bus_owner_new = 5,   /* logind is there (again) */
};

/* `address` is NULL for the system's bus. ENOPKG: there is no libsystemd. `timeout`: of each call, in microseconds; connecting itself is bounded by libsystemd. */
int login_bus_open(const char *address, uint64_t timeout, login_bus **bus);
void login_bus_close(login_bus *bus);

/* Asks for signals, from now on; then fails if no logind answers. */
int login_bus_watch(login_bus *bus, bool sleep, bool sessions);
/* Takes a delay inhibitor for sleep: a descriptor that the caller closes when the system may sleep. */
int login_bus_inhibit_sleep(login_bus *bus, const char *who, const char *why);
/* Whether the system is about to sleep. */
int login_bus_is_preparing(login_bus *bus);
/* Whether a session of this user has its LockedHint set. */
int login_bus_is_locked(login_bus *bus);

/* What to poll for. */
int login_bus_descriptor(login_bus *bus);
int login_bus_poll_events(login_bus *bus);
/* Handles what has come; 0: nothing is left, and no event. Else the kind of the next event. */
int login_bus_next(login_bus *bus);
