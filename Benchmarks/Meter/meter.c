/* meter: measures operations of programs on a directory of secrets; prints a line of JSON for each operation, times in
 * nanoseconds.
 *
 * meter --directory D --operation NAME,… [--items N] [--size BYTES] [--count CALLS] [--threads T] [--seed S]
 *       [--attribute NAME] [--daemon PID] [--sync] [--cold names|all]   meter --list
 * --items: the number of existing files s000000, …; --sync: changes end with fsync; --cold: the kernel drops cached
 * names, or also pages, before (root). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "samples.h"

enum { CONTENTS_SIZE = 1024 * 1024 };

struct options {
    struct run run;
    char *operations;
    bool list;
};

static const struct option known[] = {
    {"directory", required_argument, NULL, 'd'}, {"operation", required_argument, NULL, 'o'},
    {"items", required_argument, NULL, 'i'},     {"size", required_argument, NULL, 'b'},
    {"count", required_argument, NULL, 'c'},     {"threads", required_argument, NULL, 't'},
    {"seed", required_argument, NULL, 's'},      {"daemon", required_argument, NULL, 'p'},
    {"attribute", required_argument, NULL, 'a'}, {"sync", no_argument, NULL, 'y'},
    {"cold", required_argument, NULL, 'k'},      {"list", no_argument, NULL, 'l'},
    {0},
};

static bool set_cold(struct run *run, const char *value) {
    if (!strcmp(value, "names")) run->cold = COLD_NAMES;
    else if (!strcmp(value, "all")) run->cold = COLD_ALL;
    return run->cold != WARM;
}

static bool set_option(struct options *options, int letter, char *value) {
    struct run *run = &options->run;
    switch (letter) {
    case 'd': run->job.directory = value; return true;
    case 'o': options->operations = value; return true;
    case 'i': run->job.items = atol(value); return true;
    case 'b': run->job.size = strtoul(value, NULL, 10); return true;
    case 'c': run->count = strtoul(value, NULL, 10); return true;
    case 't': run->threads = atoi(value); return true;
    case 's': run->seed = strtoull(value, NULL, 10); return true;
    case 'p': run->daemon = atoi(value); return true;
    case 'a': run->job.attribute = value; return true;
    case 'y': run->job.sync = true; return true;
    case 'k': return set_cold(run, value);
    case 'l': options->list = true; return true;
    default: return false;
    }
}

static bool parse(int count, char **arguments, struct options *options) {
    *options = (struct options){
        .run = {.job = {.items = 1000, .size = 32, .attribute = "user.label"}, .count = 1000, .threads = 1, .seed = 1},
    };
    for (int letter; (letter = getopt_long(count, arguments, "", known, NULL)) != -1;)
        if (!set_option(options, letter, optarg)) return false;
    const struct run *run = &options->run;
    if (options->list) return true;
    return optind == count && run->job.directory && options->operations && run->job.items > 0 && run->count > 0 &&
           run->threads > 0 && run->job.size <= CONTENTS_SIZE;
}

static void report(const struct run *run, struct outcome *outcome) {
    printf("{\"operation\": \"%s\", ", run->operation->name);
    print_samples(outcome->times, outcome->succeeded);
    printf(", \"seconds\": %.6f, \"failed\": %zu", outcome->seconds, outcome->failed);
    if (run->daemon) printf(", \"daemon_seconds\": %.6f", outcome->daemon_seconds);
    if (outcome->failed) printf(", \"error\": \"%s\"", strerrorname_np(outcome->error));
    puts("}");
    fflush(stdout);
}

static int measure(struct run run, const char *name) {
    run.operation = find_operation(name);
    if (!run.operation) {
        fprintf(stderr, "meter: there is no operation %s\n", name);
        return 64;
    }
    struct outcome outcome;
    int error = perform_run(&run, &outcome);
    if (error) fprintf(stderr, "meter: %s in %s: %s\n", name, run.job.directory, strerror(error));
    else report(&run, &outcome);
    free(outcome.times);
    return error ? 1 : 0;
}

int main(int count, char **arguments) {
    struct options options;
    if (!parse(count, arguments, &options)) {
        fprintf(stderr, "usage: meter --directory D --operation NAME,… (see the head of meter.c)\n");
        return 64;
    }
    if (options.list) {
        print_operations();
        return 0;
    }
    char *contents = malloc(CONTENTS_SIZE);
    if (!contents) return 1;
    memset(contents, 'x', CONTENTS_SIZE);
    options.run.job.contents = contents;
    options.run.job.directory_file = open(options.run.job.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (options.run.job.directory_file < 0) {
        perror(options.run.job.directory);
        return 1;
    }
    int result = 0;
    for (char *name = strtok(options.operations, ","); name && !result; name = strtok(NULL, ","))
        result = measure(options.run, name);
    free(contents);
    return result;
}
