/* Operations of programs on a directory of secrets. Files are named by a letter and six digits: existing files begin with
 * `s`, files that an operation creates and removes with another letter. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>

struct job {
    const char *directory;
    /* The number of existing files s000000, …, and their size in bytes. */
    long items;
    size_t size;
    /* Whether each change ends with fsync, of the directory too: file systems make different promises for close. */
    bool sync;
    /* A descriptor of the directory. */
    int directory_file;
    /* The written bytes, and the name of the extended attribute. */
    const char *contents, *attribute;
    /* A descriptor for operations on a separate file. */
    int file;
};

/* Returns 0, or -1 and errno. `index` is the number of the call in its run, `item` that of an existing file. */
typedef int step(const struct job *job, long index, long item);

struct operation {
    const char *name;
    /* Called before and after all calls; may be NULL. */
    int (*begin)(struct job *job);
    void (*end)(struct job *job);
    /* `perform` is timed; `prepare` and `clean` run before and after each call, and may be NULL. */
    step *prepare, *perform, *clean;
    /* Whether it changes nothing, so that it can be repeated to warm the caches. */
    bool reads;
};

const struct operation *find_operation(const char *name);
/* Prints all names, a line each. */
void print_operations(void);

#endif
