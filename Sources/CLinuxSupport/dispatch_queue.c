#include "linux_support.h"

/* libdispatch's own declarations: its headers are not in the include path of a C target. */
void *dispatch_get_current_queue(void);
void dispatch_retain(void *object);
void dispatch_release(void *object);

void *dispatch_queue_retain_current(void) {
    void *queue = dispatch_get_current_queue();
    if (queue) dispatch_retain(queue);
    return queue;
}

void dispatch_queue_release(void *queue) { dispatch_release(queue); }
