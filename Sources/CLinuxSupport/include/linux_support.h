/* The functions of Linux, glibc and libdispatch that Swift's modules lack, and logind through libsystemd's sd-bus. */
#pragma once
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* renameat2(2), which glibc declares only with _GNU_SOURCE. */
int renameat2(int old_directory, const char *old_path, int new_directory, const char *new_path, unsigned int flags);

/* Gets the mount ID and device number of a path or, with "", of a descriptor. Does not wait for the file system.
   Returns a negative errno on failure. */
int mount_identity_of(int directory, const char *path, uint64_t *mount, uint64_t *device);

/* Gets device, inode and size in bytes of the file that a path resolves to, but not its times. Returns a negative errno on failure. */
struct file_status { uint64_t device, inode, size; };
int file_status_of(const char *path, struct file_status *status);

/* Gets also the times of the last write and of the last change of the inode, in nanoseconds since the epoch. */
struct file_stamp { struct file_status status; int64_t modified, changed; };
int file_stamp_of(const char *path, struct file_stamp *stamp);

/* Sets no_new_privs (prctl(2)) permanently for all threads of this process. Returns a negative errno on failure; it may then be
   set for the calling thread only. */
int new_privileges_renounce(void);

/* Gets the process that has locked bytes of a file for writing with a POSIX lock (fcntl_locking(2)): its ID, 0 if it is in a PID namespace
   that is not visible, LOCK_HOLDER_NONE if no process has, or a negative errno. The file needs to be open for reading only. */
#define LOCK_HOLDER_NONE INT_MAX
int lock_holder(int descriptor, int64_t start, int64_t length);

/* Gets the arguments of main, which belong to the process. Returns their number. */
int program_arguments(char ***result);

/* Replaces this process by a program (execvp(3)), whose arguments are those of main from the index `first` on, bytes unchanged. Its
   environment is this process's with `assignments`: texts NAME=VALUE, each followed by a zero byte, `size` bytes together. It also
   has the PATH in which the program is searched. Returns only a failure: the errno, EINVAL if there is no such argument. */
int execute_program(int first, const char *assignments, size_t size);

/* Returns the retained Dispatch queue that runs the caller, who releases it; outside of a queue a global one, or NULL. */
void *dispatch_queue_retain_current(void);
void dispatch_queue_release(void *queue);

/* The maximum size of a message and of its answer in bytes, and the name of the child in ps(1). */
#define FILE_EXCHANGE_LIMIT (1 << 20)
#define FILE_EXCHANGE_NAME "keychainfs-ask"

/* Opens the inode that a path resolves to with O_PATH, without access to the file. Returns a descriptor, which the caller
   closes, or a negative errno. */
int open_inode(const char *path);

/* Opens the file `name`, one or more components, below `directory`; no component of `name` may be a symbolic link. `flags` are
   those of open(2). Returns a descriptor, or a negative errno. Async-signal-safe. */
int open_below(const char *directory, const char *name, int flags);

/* Opens the directory `name` below the open directory (AT_FDCWD: a path) with O_PATH. Returns a descriptor, which the caller closes,
   or a negative errno: ENOTDIR for a symbolic link that is not followed. */
int open_directory(int directory, const char *name, bool follows_link);

/* A message that is written without its sender, if the file is in this mount. */
struct child_file_request_order { const void *bytes; size_t count; uint64_t mount, device; };
/* The file, as for open_below, and whether the message is written to it. `order` is NULL unless the message is known before. */
struct child_file_request_place { const char *directory, *name; bool is_written; const struct child_file_request_order *order; };
/* The first record that the child sends: an errno, or 0 and the mount of the open file. */
struct child_file_request_opening { uint64_t mount, device; int32_t error; };

/* Forks a child that opens the file and sends a child_file_request_opening. If it is open, the child reads a message from `peer` until
   end of file, writes it if `is_written`, reads the complete file and closes it. Then it sends a status, an int32_t that is 0 or
   an errno, and the bytes that it has read, and ends. A message of no bytes is not written: the caller gives up.
   The child ends with the thread that has started it; but one with an order executes it in any case, in its own session (setsid(2)),
   and reads no message. It fails with ECANCELED if the file is in another mount. It opens the file in a child, which it replaces
   every second until the file is open.
   Returns its process ID, or a negative errno. The caller closes `peer`, a socket, and waits for the child. */
int child_file_request_start(const struct child_file_request_place *place, int *peer);

/* Adds the closing of all descriptors from `first` on to file actions of posix_spawn(3) (posix_spawn_file_actions_addclosefrom_np(3),
   which glibc declares only with _GNU_SOURCE). */
void close_in_child(void *actions, int first);
/* POSIX_SPAWN_SETSID */
extern const short spawn_own_session;
/* Returns an open file in memory without a name (memfd_create(2), close-on-exec), or -errno. */
int anonymous_file(const char *label);

/* A connection to the system bus, for one thread. Functions return a negative errno when they fail. */
typedef struct login_bus login_bus;

/* The events of logind, which login_bus_next returns. */
enum login_bus_event_kind {
    login_bus_sleep = 1,       /* PrepareForSleep(true) */
    login_bus_wake = 2,        /* PrepareForSleep(false) */
    login_bus_session_lock = 3, /* a session of this user: its Lock signal, or LockedHint became true */
    login_bus_owner_lost = 4,  /* logind has left the bus */
    login_bus_owner_new = 5,   /* logind has joined the bus (again) */
};

/* Connects to the bus at `address`, or to the system's bus for NULL. `timeout` applies to each call, in microseconds; libsystemd limits
   the time to connect. Fails with ENOPKG if libsystemd is not installed. */
int login_bus_open(const char *address, uint64_t timeout, login_bus **bus);
void login_bus_close(login_bus *bus);

/* Subscribes to signals, then fails if logind does not respond. */
int login_bus_watch(login_bus *bus, bool sleep, bool sessions);
/* Acquires a delay inhibitor for sleep: a descriptor that the caller closes when the system may sleep. */
int login_bus_inhibit_sleep(login_bus *bus, const char *who, const char *why);
/* Returns whether the system is about to sleep. */
int login_bus_is_preparing(login_bus *bus);
/* Returns whether a session of this user has its LockedHint set. */
int login_bus_is_locked(login_bus *bus);

/* Return the descriptor and the events for poll(2). */
int login_bus_descriptor(login_bus *bus);
int login_bus_poll_events(login_bus *bus);
/* Handles received messages. Returns the kind of the next event, or 0 if no message is left. */
int login_bus_next(login_bus *bus);
