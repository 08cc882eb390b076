#define _GNU_SOURCE
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "samples.h"

/* A pass over all calls: threads take numbers until all are taken. */
struct pass {
    const struct run *run;
    const long *items;
    step *step;
    /* NULL: not timed. 0 for a call that failed. */
    uint64_t *times;
    atomic_size_t next, failed;
    atomic_int error;
};

static void *work(void *argument) {
    struct pass *pass = argument;
    for (size_t index; (index = atomic_fetch_add(&pass->next, 1)) < pass->run->count;) {
        uint64_t begin = now();
        int result = pass->step(&pass->run->job, (long)index, pass->items[index]);
        int error = errno;
        uint64_t elapsed = now() - begin;
        if (pass->times) pass->times[index] = result ? 0 : elapsed;
        if (result && atomic_fetch_add(&pass->failed, 1) == 0) atomic_store(&pass->error, error);
    }
    return NULL;
}

static int go(struct pass *pass) {
    int wanted = pass->run->threads, started = 0;
    pthread_t *threads = calloc((size_t)wanted, sizeof *threads);
    if (!threads) return ENOMEM;
    int error = 0;
    while (started < wanted && !(error = pthread_create(&threads[started], NULL, work, pass))) started++;
    for (int index = 0; index < started; index++) pthread_join(threads[index], NULL);
    free(threads);
    return error;
}

/* Executes calls that are not timed but must succeed. */
static int go_aside(const struct run *run, const long *items, step *step) {
    if (!step) return 0;
    struct pass pass = {.run = run, .items = items, .step = step};
    int error = go(&pass);
    return error ? error : pass.error;
}

static uint64_t draw(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Selects an existing file for each call, each file only once if cold. */
static long *pick_items(const struct run *run) {
    uint64_t state = run->seed * 2654435761u + 0x9E3779B97F4A7C15u;
    size_t items = (size_t)run->job.items;
    long *picked = calloc(run->count > items ? run->count : items, sizeof *picked);
    if (!picked) return NULL;
    if (!run->cold) {
        for (size_t index = 0; index < run->count; index++) picked[index] = (long)(draw(&state) % items);
        return picked;
    }
    for (size_t index = 0; index < items; index++) picked[index] = (long)index;
    for (size_t index = 0; index < run->count && index < items; index++) {
        size_t other = index + draw(&state) % (items - index);
        long item = picked[index];
        picked[index] = picked[other];
        picked[other] = item;
    }
    return picked;
}

/* The processor time of another process, including exited threads. */
static double processor_seconds(pid_t process) {
    clockid_t clock;
    struct timespec time;
    if (process == 0 || clock_getcpuclockid(process, &clock) || clock_gettime(clock, &time)) return 0;
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Waits until the daemon is idle: the kernel sends it a FORGET for each dropped name, which must not be measured. */
static void await_idleness(pid_t daemon) {
    const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
    double used = processor_seconds(daemon), before;
    int rounds = 0;
    do {
        before = used;
        nanosleep(&pause, NULL);
        used = processor_seconds(daemon);
    } while (used - before > 0.001 && ++rounds < 600);
}

static int drop_caches(enum cold cold, pid_t daemon) {
    sync();
    int file = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
    if (file < 0) return errno;
    /* proc(5): 2 are dentries and inodes, 3 pages as well. */
    int error = write(file, cold == COLD_NAMES ? "2" : "3", 1) == 1 ? 0 : errno;
    close(file);
    if (!error) await_idleness(daemon);
    return error;
}

/* Brings the caches into the requested state. */
static int set_caches(const struct run *run, const long *items) {
    if (run->cold) return drop_caches(run->cold, run->daemon);
    if (!run->operation->reads) return 0;
    /* Errors are reported for the timed calls. */
    struct pass pass = {.run = run, .items = items, .step = run->operation->perform};
    return go(&pass);
}

/* Moves the times of successful calls to the front. */
static size_t keep_successes(uint64_t *times, size_t count) {
    size_t kept = 0;
    for (size_t index = 0; index < count; index++)
        if (times[index]) times[kept++] = times[index];
    return kept;
}

static int measure(const struct run *run, const long *items, struct outcome *outcome) {
    struct pass pass = {
        .run = run, .items = items, .step = run->operation->perform, .times = outcome->times,
    };
    double used = processor_seconds(run->daemon);
    uint64_t begin = now();
    int error = go(&pass);
    outcome->seconds = (double)(now() - begin) / 1e9;
    outcome->daemon_seconds = processor_seconds(run->daemon) - used;
    outcome->failed = pass.failed;
    outcome->error = pass.error;
    outcome->succeeded = keep_successes(outcome->times, run->count);
    return error;
}

static int perform_with(const struct run *run, const long *items, struct outcome *outcome) {
    int error = go_aside(run, items, run->operation->prepare);
    if (!error) error = set_caches(run, items);
    if (!error) error = measure(run, items, outcome);
    int left = go_aside(run, items, run->operation->clean);
    /* A file that could not be created cannot be removed: the outcome contains that error already. */
    return error || outcome->failed ? error : left;
}

int perform_run(struct run *run, struct outcome *outcome) {
    if (run->cold && run->count > (size_t)run->job.items) run->count = (size_t)run->job.items;
    *outcome = (struct outcome){.times = calloc(run->count, sizeof *outcome->times)};
    long *items = pick_items(run);
    int error = items && outcome->times ? 0 : ENOMEM;
    if (!error && run->operation->begin && run->operation->begin(&run->job)) error = errno;
    if (!error) error = perform_with(run, items, outcome);
    if (!error && run->operation->end) run->operation->end(&run->job);
    free(items);
    return error;
}
