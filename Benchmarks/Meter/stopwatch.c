/* stopwatch: times a complete command, as a user at a shell runs it; prints a line of JSON.
 *
 * stopwatch COUNT COMMAND ARGUMENT…
 * The command runs twice more before, to warm the caches. It reads from and writes to /dev/null. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "samples.h"

enum { WARM_UPS = 2 };

extern char **environ;

/* The duration of one run; 0 if it could not be started or failed. */
static uint64_t time_command(char **command, const posix_spawn_file_actions_t *actions) {
    pid_t process;
    int status = -1;
    uint64_t begin = now();
    int error = posix_spawnp(&process, command[0], actions, NULL, command, environ);
    if (error) {
        fprintf(stderr, "stopwatch: %s: %s\n", command[0], strerror(error));
        return 0;
    }
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    uint64_t elapsed = now() - begin;
    return status == 0 ? elapsed : 0;
}

static void print_times(uint64_t *times, size_t count, size_t failed) {
    printf("{\"operation\": \"command\", ");
    print_samples(times, count);
    printf(", \"failed\": %zu}\n", failed);
}

int main(int argument_count, char **arguments) {
    size_t count = argument_count > 2 ? strtoul(arguments[1], NULL, 10) : 0;
    uint64_t *times = count ? calloc(count, sizeof *times) : NULL;
    if (!times) {
        fprintf(stderr, "usage: stopwatch COUNT COMMAND ARGUMENT…\n");
        return 64;
    }
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions)) return 1;
    for (int number = 0; number < 3; number++)
        if (posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number ? O_WRONLY : O_RDONLY, 0)) return 1;
    size_t succeeded = 0, failed = 0;
    for (size_t round = 0; round < count + WARM_UPS; round++) {
        uint64_t elapsed = time_command(&arguments[2], &actions);
        if (round < WARM_UPS) continue;
        if (elapsed) times[succeeded++] = elapsed;
        else failed++;
    }
    print_times(times, succeeded, failed);
    posix_spawn_file_actions_destroy(&actions);
    free(times);
    return 0;
}
