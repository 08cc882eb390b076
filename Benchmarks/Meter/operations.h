/* What programs do to a directory of secrets. Files are named by a letter and six digits: those that are there begin
 * with `s`, those that an operation makes for itself, and removes, with another letter. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>

struct job {
    const char *directory;
    /* Files s000000, … that are there, and bytes of each. */
    long items;
    size_t size;
    /* Whether each change ends with fsync, of the directory too: file systems differ in what a close promises. */
    bool sync;
    /* Of the directory. */
    int directory_file;
    /* What is written, and the extended attribute that is asked for and set. */
    const char *contents, *attribute;
    /* Of operations on one file of their own. */
    int file;
};

/* 0, or -1 and errno. `index` numbers the calls of one run, `item` is one of the files that are there. */
typedef int step(const struct job *job, long index, long item);

struct operation {
    const char *name;
    /* Before and after all calls; may be NULL. */
    int (*begin)(struct job *job);
    void (*end)(struct job *job);
    /* The calls: what is timed, and what each needs before and leaves after. The latter two may be NULL. */
    step *prepare, *perform, *clean;
    /* Whether it changes nothing, so that it can be repeated to warm the caches. */
    bool reads;
};

const struct operation *find_operation(const char *name);
/* Prints all names, a line each. */
void print_operations(void);

#endif
