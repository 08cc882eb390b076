/* How the limit file system receives its requests. */
#ifndef LOOPS_H
#define LOOPS_H

#include "requests.h"

/* Serves until the end of the session; negative if it could not, otherwise what libfuse's loops return. */
typedef int loop(struct fuse_session *session);

/* "threads": libfuse's, with a descriptor for each, as most daemons use it. */
loop loop_of_threads;
/* "polling": one thread that asks the device again for 50 us after each request before it sleeps, as keychainfs does. The
 * least that a read takes on two processors of this machine. */
loop loop_that_polls;

/* One of these, or "single", libfuse's of one thread; NULL if there is none of that name. */
loop *loop_named(const char *name);

#endif
