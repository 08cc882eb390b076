/* limitfs: a file system in memory on libfuse's low-level API, with one directory of small files. It encrypts nothing
 * and stores nothing: an operation cannot cost less on any file system on libfuse and this kernel. That is the
 * limit.
 *
 * limitfs MOUNTPOINT [--items N] [--size BYTES] [--loop LOOP]
 * Stays in the foreground; unmounting or SIGTERM ends it. See loops.h for the values of LOOP. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "loops.h"
#include "requests.h"

struct options {
    const char *mount_point;
    size_t items, size;
    loop *loop;
};

static bool parse(int count, char **arguments, struct options *options) {
    static const struct option known[] = {
        {"items", required_argument, NULL, 'n'},
        {"size", required_argument, NULL, 's'},
        {"loop", required_argument, NULL, 'l'},
        {0},
    };
    *options = (struct options){.size = 32, .loop = loop_of_threads};
    for (int found; (found = getopt_long(count, arguments, "", known, NULL)) != -1;) {
        if (found == 'n') options->items = strtoul(optarg, NULL, 10);
        else if (found == 's') options->size = strtoul(optarg, NULL, 10);
        else if (found == 'l') options->loop = loop_named(optarg);
        else return false;
    }
    if (optind != count - 1 || !options->loop) return false;
    options->mount_point = arguments[optind];
    return true;
}

static int mount_and_serve(struct fuse_session *session, const struct options *options) {
    if (fuse_set_signal_handlers(session)) return -1;
    int result = fuse_session_mount(session, options->mount_point);
    if (result == 0) {
        result = options->loop(session);
        fuse_session_unmount(session);
    }
    fuse_remove_signal_handlers(session);
    return result;
}

int main(int count, char **arguments) {
    struct options options;
    if (!parse(count, arguments, &options)) {
        fprintf(stderr, "usage: limitfs MOUNTPOINT [--items N] [--size BYTES] [--loop threads|single|polling]\n");
        return 64;
    }
    if (limit_prepare(options.items, options.size)) {
        fprintf(stderr, "limitfs: no memory for %zu files\n", options.items);
        return 1;
    }
    char *fuse_arguments[] = {arguments[0], "-o", "fsname=limitfs,default_permissions"};
    struct fuse_args parsed = FUSE_ARGS_INIT(3, fuse_arguments);
    struct fuse_session *session = fuse_session_new(&parsed, &limit_operations, sizeof limit_operations, NULL);
    if (!session) return 1;
    int result = mount_and_serve(session, &options);
    fuse_session_destroy(session);
    /* A positive result is the signal that ended it. */
    return result < 0;
}
