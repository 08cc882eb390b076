#include "loops.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POLL_NANOSECONDS = 50 * 1000 };

int loop_of_threads(struct fuse_session *session) {
    struct fuse_loop_config *config = fuse_loop_cfg_create();
    if (!config) return -1;
    fuse_loop_cfg_set_clone_fd(config, 1);
    fuse_loop_cfg_set_idle_threads(config, 10);
    int result = fuse_session_loop_mt(session, config);
    fuse_loop_cfg_destroy(config);
    return result;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Yields the processor until the deadline; after it, sleeps until there is a request. */
static void wait_for(struct fuse_session *session, int64_t deadline) {
    if (now() < deadline) {
        sched_yield();
        return;
    }
    struct pollfd device = {.fd = fuse_session_fd(session), .events = POLLIN};
    poll(&device, 1, -1);
}

int loop_that_polls(struct fuse_session *session) {
    int device = fuse_session_fd(session);
    if (fcntl(device, F_SETFL, fcntl(device, F_GETFL) | O_NONBLOCK)) return -1;
    struct fuse_buf message = {0};
    int64_t deadline = 0;
    int received = 1;
    while (received > 0 && !fuse_session_exited(session)) {
        received = fuse_session_receive_buf(session, &message);
        if (received == -EAGAIN || received == -EINTR) {
            wait_for(session, deadline);
            received = 1;
        } else if (received > 0) {
            fuse_session_process_buf(session, &message);
            deadline = now() + POLL_NANOSECONDS;
        }
    }
    free(message.mem);
    return received < 0 ? -1 : 0;
}

loop *loop_named(const char *name) {
    static const struct {
        const char *name;
        loop *loop;
    } known[] = {{"threads", loop_of_threads}, {"single", fuse_session_loop}, {"polling", loop_that_polls}};
    for (size_t index = 0; index < sizeof known / sizeof *known; index++)
        if (strcmp(known[index].name, name) == 0) return known[index].loop;
    return NULL;
}
