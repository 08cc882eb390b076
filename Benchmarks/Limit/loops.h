/* The ways in which the limit file system receives its requests. */
#ifndef LOOPS_H
#define LOOPS_H

#include "requests.h"

/* Serves until the end of the session. Returns a negative number if it cannot, otherwise the result of libfuse's loops. */
typedef int loop(struct fuse_session *session);

/* "threads": libfuse's, with a descriptor for each, as most daemons use it. */
loop loop_of_threads;
/* "polling": one thread that polls the device for 50 us after each request before it sleeps, as keychainfs does. The shortest
 * possible read on two processors. */
loop loop_that_polls;

/* The loop with that name: one of these, or "single", libfuse's of one thread; NULL for another name. */
loop *loop_named(const char *name);

#endif
