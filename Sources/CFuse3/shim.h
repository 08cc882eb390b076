/* The parts of libfuse3's low-level API that Swift cannot import. Each helper states its reason. */
#pragma once
#define FUSE_USE_VERSION 312
#include <malloc.h>
#include <fuse_lowlevel.h>
#include <fuse_opt.h>
#include <linux/fuse.h>
#include <stdarg.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <syslog.h>

/* What differs between the versions of libfuse, 3.10 to 3.18 (docs/architecture.md). FUSE_VERSION is the version of the headers;
   libfuse keeps old symbols, so a program runs with every later version that has the same soname. */

/* fuse_session_new is a macro since libfuse 3.17, and a function before. */
static inline struct fuse_session *cfuse3_session_new(
    struct fuse_args *arguments, const struct fuse_lowlevel_ops *operations, size_t size, void *data)
{
    return fuse_session_new(arguments, operations, size, data);
}

typedef ssize_t (*cfuse3_write_t)(int descriptor, struct iovec *parts, int count, void *data);

static inline ssize_t cfuse3_no_read(int descriptor, void *memory, size_t size, void *data)
{
    (void)descriptor, (void)memory, (void)size, (void)data;
    errno = ENOSYS;
    return -1;
}

/* Gives `descriptor` to a session, which closes it at its end and sends replies with `write`. Returns 0 on success.
   Before 3.13 libfuse has no fuse_session_custom_io: it writes itself, and prints errors to standard error. */
static inline int cfuse3_session_attach(struct fuse_session *session, int descriptor, cfuse3_write_t write)
{
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 13)
    struct fuse_custom_io functions = {.writev = write, .read = cfuse3_no_read};

    return fuse_session_custom_io(session, &functions, descriptor);
#else
    char name[32];

    snprintf(name, sizeof(name), "/dev/fd/%d", descriptor);
    return fuse_session_mount(session, name);
#endif
}

/* Requests those of `features` (FUSE_CAP_*) that the kernel has, and no others. Since 3.17 there are more than 32. */
static inline void cfuse3_request_features(struct fuse_conn_info *connection, uint64_t features)
{
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
    fuse_unset_feature_flag(connection, ~(uint64_t)0);
    fuse_set_feature_flag(connection, connection->capable_ext & features);
#else
    connection->want = connection->capable & (uint32_t)features;
#endif
}

/* Asks the kernel not to send FUSE_FLUSH for an open file. libfuse cannot before 3.11, and the kernel ignores it before
   Linux 5.16: then a flush is sent. */
static inline void cfuse3_omit_flush(struct fuse_file_info *file)
{
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 11)
    file->noflush = 1;
#else
    (void)file;
#endif
}

typedef void (*cfuse3_log_sink_t)(int level, const char *text);
/* The storage of the sink. A variable of this header would not be emitted. */
static inline cfuse3_log_sink_t *cfuse3_log_sink(void)
{
    static cfuse3_log_sink_t sink;
    return &sink;
}

static inline void cfuse3_log_formatted(enum fuse_log_level level, const char *format, va_list arguments)
{
    char text[512];
    if (vsnprintf(text, sizeof(text), format, arguments) >= 0)
        (*cfuse3_log_sink())((int)level, text);
}

/* fuse_set_log_func hands its function a va_list, which a Swift closure cannot format. */
static inline void cfuse3_set_log_sink(cfuse3_log_sink_t sink)
{
    *cfuse3_log_sink() = sink;
    fuse_set_log_func(cfuse3_log_formatted);
}

/* syslog(3) is variadic. `text` is not interpreted as a format. */
static inline void cfuse3_syslog(int priority, const char *text)
{
    syslog(priority, "%s", text);
}

/* The macros around control messages (cmsg(3)) are not imported. Returns the received descriptor, or -1. */
static inline int cfuse3_receive_descriptor(int socket)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    char byte;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    struct cmsghdr *header;
    ssize_t count;
    int descriptor;

    do
        count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    header = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
        return -1;
    memcpy(&descriptor, CMSG_DATA(header), sizeof(descriptor));
    return descriptor;
}

/* prctl(2) is variadic. */
static inline void cfuse3_signal_at_parents_end(int number)
{
    prctl(PR_SET_PDEATHSIG, number, 0, 0, 0);
}

/* Returns the number of bytes by which the calling thread's stack may still grow; for the main thread the rest of
   RLIMIT_STACK (pthread_getattr_np(3)). 0 if it is unknown. */
extern int pthread_getattr_np(pthread_t, pthread_attr_t *);
static inline size_t cfuse3_stack_left(void)
{
    const char *here = __builtin_frame_address(0);
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return 0;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    return lowest && here > (const char *)lowest ? (size_t)(here - (const char *)lowest) : 0;
}

/* Zeroes `size` bytes of the stack below the caller, or fewer if less than `margin` would remain at its end. Not
   inlined, because it needs a separate frame. */
__attribute__((noinline)) static void cfuse3_wipe_stack(size_t size, size_t margin)
{
    size_t left = cfuse3_stack_left();
    void *memory;

    if (left <= margin)
        return;
    if (size > left - margin)
        size = left - margin;
    memory = __builtin_alloca(size);
    memset(memory, 0, size);
    __asm__ volatile("" : : "r"(memory) : "memory");
}

/* Zeroes the vector registers, in which memcpy(3) and ciphers leave data that would be part of a core dump. A
   call may change all of them, so no caller loses values. Inline assembly, because a compiler would remove stores that
   are never read. */
#if defined(__x86_64__)
__attribute__((noinline, target("avx512f"))) static void cfuse3_wipe_upper_registers(void)
{
    __asm__ volatile(
        "vpxorq %%zmm16, %%zmm16, %%zmm16\n\t"
        "vpxorq %%zmm17, %%zmm17, %%zmm17\n\t"
        "vpxorq %%zmm18, %%zmm18, %%zmm18\n\t"
        "vpxorq %%zmm19, %%zmm19, %%zmm19\n\t"
        "vpxorq %%zmm20, %%zmm20, %%zmm20\n\t"
        "vpxorq %%zmm21, %%zmm21, %%zmm21\n\t"
        "vpxorq %%zmm22, %%zmm22, %%zmm22\n\t"
        "vpxorq %%zmm23, %%zmm23, %%zmm23\n\t"
        "vpxorq %%zmm24, %%zmm24, %%zmm24\n\t"
        "vpxorq %%zmm25, %%zmm25, %%zmm25\n\t"
        "vpxorq %%zmm26, %%zmm26, %%zmm26\n\t"
        "vpxorq %%zmm27, %%zmm27, %%zmm27\n\t"
        "vpxorq %%zmm28, %%zmm28, %%zmm28\n\t"
        "vpxorq %%zmm29, %%zmm29, %%zmm29\n\t"
        "vpxorq %%zmm30, %%zmm30, %%zmm30\n\t"
        "vpxorq %%zmm31, %%zmm31, %%zmm31\n\t"
        ::: "memory");
}
__attribute__((noinline, target("avx"))) static void cfuse3_wipe_lower_registers(void)
{
    __asm__ volatile("vzeroall" ::: "memory");
}
__attribute__((noinline)) static void cfuse3_wipe_sse_registers(void)
{
    __asm__ volatile(
        "pxor %%xmm0, %%xmm0\n\t"
        "pxor %%xmm1, %%xmm1\n\t"
        "pxor %%xmm2, %%xmm2\n\t"
        "pxor %%xmm3, %%xmm3\n\t"
        "pxor %%xmm4, %%xmm4\n\t"
        "pxor %%xmm5, %%xmm5\n\t"
        "pxor %%xmm6, %%xmm6\n\t"
        "pxor %%xmm7, %%xmm7\n\t"
        "pxor %%xmm8, %%xmm8\n\t"
        "pxor %%xmm9, %%xmm9\n\t"
        "pxor %%xmm10, %%xmm10\n\t"
        "pxor %%xmm11, %%xmm11\n\t"
        "pxor %%xmm12, %%xmm12\n\t"
        "pxor %%xmm13, %%xmm13\n\t"
        "pxor %%xmm14, %%xmm14\n\t"
        "pxor %%xmm15, %%xmm15\n\t"
        ::: "memory");
}
static inline void cfuse3_wipe_registers(void)
{
    if (__builtin_cpu_supports("avx512f"))
        cfuse3_wipe_upper_registers();
    if (__builtin_cpu_supports("avx"))
        cfuse3_wipe_lower_registers();
    else
        cfuse3_wipe_sse_registers();
}
#elif defined(__aarch64__)
__attribute__((noinline)) static void cfuse3_wipe_registers(void)
{
    /* The lower halves of v8 to v15 are the caller's. */
    __asm__ volatile(
        "movi v0.16b, #0\n\t"
        "movi v1.16b, #0\n\t"
        "movi v2.16b, #0\n\t"
        "movi v3.16b, #0\n\t"
        "movi v4.16b, #0\n\t"
        "movi v5.16b, #0\n\t"
        "movi v6.16b, #0\n\t"
        "movi v7.16b, #0\n\t"
        "movi v16.16b, #0\n\t"
        "movi v17.16b, #0\n\t"
        "movi v18.16b, #0\n\t"
        "movi v19.16b, #0\n\t"
        "movi v20.16b, #0\n\t"
        "movi v21.16b, #0\n\t"
        "movi v22.16b, #0\n\t"
        "movi v23.16b, #0\n\t"
        "movi v24.16b, #0\n\t"
        "movi v25.16b, #0\n\t"
        "movi v26.16b, #0\n\t"
        "movi v27.16b, #0\n\t"
        "movi v28.16b, #0\n\t"
        "movi v29.16b, #0\n\t"
        "movi v30.16b, #0\n\t"
        "movi v31.16b, #0\n\t"
        ::: "memory");
}
#else
static inline void cfuse3_wipe_registers(void) {}
#endif

/* glibc declares these only with _GNU_SOURCE, which this header cannot define, because Swift's other modules do not. */
extern int pipe2(int[2], int);
extern int renameat2(int, const char *, int, const char *, unsigned int);
static const int cfuse3_umount_detach = 2;   /* MNT_DETACH */
static const int cfuse3_umount_nofollow = 8; /* UMOUNT_NOFOLLOW */

/* mlock2(2), which can lock each page when it is first used, instead of all pages immediately. */
extern int mlock2(const void *, size_t, unsigned int);
static const unsigned int cfuse3_lock_on_fault = 1;  /* MLOCK_ONFAULT, Linux 4.4 */
static const int cfuse3_dont_need_locked = 24;       /* MADV_DONTNEED_LOCKED, Linux 5.18 */
