/* Writes to and reads from a file in a child process, because a thread that waits in the kernel for a file system that does not respond
   cannot be killed. */
#define _GNU_SOURCE
#include "linux_support.h"
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* The buffer of a message, in both directions. */
struct buffer {
    char *bytes;
    size_t count;
};

/* Allocates a buffer in separate pages, excluded from swap and core dumps as far as an unprivileged process can do that. */
static bool allocate_buffer(struct buffer *buffer) {
    void *bytes = mmap(NULL, FILE_EXCHANGE_LIMIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return false;
    madvise(bytes, FILE_EXCHANGE_LIMIT, MADV_DONTDUMP);
    mlock2(bytes, FILE_EXCHANGE_LIMIT, MLOCK_ONFAULT);
    *buffer = (struct buffer){.bytes = bytes};
    return true;
}

static void wipe(struct buffer *buffer) {
    explicit_bzero(buffer->bytes, buffer->count);
    buffer->count = 0;
}

/* Up to the end. These return an errno. EAGAIN: a command still runs, and the file has waited before it reported that. */
static int read_all(int file, struct buffer *buffer) {
    while (buffer->count < FILE_EXCHANGE_LIMIT) {
        ssize_t count = read(file, buffer->bytes + buffer->count, FILE_EXCHANGE_LIMIT - buffer->count);
        if (count == 0) return 0;
        if (count > 0) buffer->count += (size_t)count;
        else if (errno != EINTR && errno != EAGAIN) return errno;
    }
    return EMSGSIZE;
}

static int write_all(int file, const void *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(file, bytes, count);
        if (written < 0 && errno != EINTR) return errno;
        if (written <= 0) continue;
        bytes = (const char *)bytes + written;
        count -= (size_t)written;
    }
    return 0;
}

/* See child_file_request_start. Returns -1 if the file cannot be opened, and the record of that. */
static int open_file(const struct child_file_request_place *place, struct child_file_request_opening *opening) {
    int file = open_below(place->directory, place->name, place->is_written ? O_RDWR : O_RDONLY);
    if (file < 0) opening->error = -file;
    else opening->error = -mount_identity_of(file, "", &opening->mount, &opening->device);
    if (!opening->error) return file;
    if (file >= 0) close(file);
    return -1;
}

/* Writes the message of the caller. Returns an errno. */
static int write_message(int file, bool is_written, int peer, struct buffer *buffer) {
    int error = read_all(peer, buffer);
    if (error) return error;
    if (is_written && buffer->count == 0) return ECANCELED;
    if (is_written) error = write_all(file, buffer->bytes, buffer->count);
    wipe(buffer);
    return error;
}

static void send_answer(int peer, int32_t status, struct buffer *buffer) {
    if (status) wipe(buffer);
    if (write_all(peer, &status, sizeof status) == 0) write_all(peer, buffer->bytes, buffer->count);
    wipe(buffer);
}

/* Asks on behalf of a caller that waits: a child without an open file has nothing else to do. */
static void ask(const struct child_file_request_place *place, int peer, struct buffer *buffer) {
    struct child_file_request_opening opening = {0};
    int file = open_file(place, &opening);
    if (write_all(peer, &opening, sizeof opening) != 0 || file < 0) return;
    int32_t status = write_message(file, place->is_written, peer, buffer);
    if (!status) status = read_all(file, buffer);
    close(file);
    send_answer(peer, status, buffer);
}

/* Sends all records at the end, because it may be killed before it has reported to `opened` that the file is open, or cannot be
   opened. */
static void execute(const struct child_file_request_place *place, int peer, struct buffer *buffer, int opened) {
    const struct child_file_request_order *order = place->order;
    struct child_file_request_opening opening = {0};
    int32_t status = ECANCELED;
    int file = open_file(place, &opening);
    if (write_all(opened, "", 1) != 0) return;
    if (file >= 0 && opening.mount == order->mount && opening.device == order->device) {
        status = write_all(file, order->bytes, order->count);
        if (!status) status = read_all(file, buffer);
    }
    if (write_all(peer, &opening, sizeof opening) == 0 && file >= 0) send_answer(peer, status, buffer);
}

/* Returns whether a process that executes an order has ended by itself; kills it after a second without a report in `opened`. */
static bool has_executed(pid_t process, int opened) {
    struct pollfd event = {.fd = opened, .events = POLLIN};
    int status = 0;
    if (poll(&event, 1, 1000) == 0) kill(process, SIGKILL);
    return waitpid(process, &status, 0) == process && WIFEXITED(status);
}

/* Executes an order in another process, which is replaced every second until it has opened the file: while it looks up a name, no
   process that looks up the same name can be killed (d_alloc_parallel of fs/dcache.c). */
static void execute_repeatedly(const struct child_file_request_place *place, int peer, struct buffer *buffer) {
    for (bool is_done = false; !is_done;) {
        int ends[2];
        if (pipe(ends) != 0) return;
        pid_t parent = getpid(), process = _Fork();
        if (process < 0) return;
        if (process == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
            if (getppid() == parent) execute(place, peer, buffer, ends[1]);
            _exit(0);
        }
        close(ends[1]);
        is_done = has_executed(process, ends[0]);
        close(ends[0]);
    }
}

static void close_from(int first) {
    if (close_range((unsigned)first, UINT_MAX, 0) == 0) return;
    /* Before Linux 5.9. */
    for (int file = first; file < FD_SETSIZE; file++) close(file);
}

/* Closes all inherited descriptors except `peer`: in a child that hangs they would keep the parent's output from ending. Returns
   the peer, or -1. */
static int keep_only(int peer) {
    int null = open("/dev/null", O_RDWR), kept = fcntl(peer, F_DUPFD, 3);
    if (null < 0 || kept < 0) return -1;
    for (int standard = 0; standard < 3; standard++) dup2(null, standard);
    if (dup2(kept, 3) != 3) return -1;
    close_from(4);
    return 3;
}

static void become_killable(void) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The child ends with its parent; one with an order continues, also when a terminal or a shell ends its group. */
static bool follow(pid_t parent, const struct child_file_request_order *order) {
    if (order) {
        setsid();
        return signal(SIGPIPE, SIG_IGN) != SIG_ERR;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    /* A parent that ended before that sends no signal. */
    return getppid() == parent;
}

/* Calls only functions that signal-safety(7) allows after a fork, and system calls: the parent may have had other threads. */
static void answer(const struct child_file_request_place *place, int peer, pid_t parent) {
    struct buffer buffer;
    const struct rlimit none = {0, 0};
    prctl(PR_SET_NAME, FILE_EXCHANGE_NAME, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    setrlimit(RLIMIT_CORE, &none);
    become_killable();
    if (!follow(parent, place->order) || (peer = keep_only(peer)) < 0 || !allocate_buffer(&buffer)) return;
    if (place->order) execute_repeatedly(place, peer, &buffer);
    else ask(place, peer, &buffer);
}

int child_file_request_start(const struct child_file_request_place *place, int *peer) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -errno;
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        answer(place, ends[1], parent);
        _exit(0);
    }
    int error = errno;
    close(ends[1]);
    *peer = ends[0];
    if (child > 0) return child;
    close(ends[0]);
    return -error;
}
