/* The one directory of the limit file system: small files by name and by inode number, in memory. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum { NAME_CAPACITY = 48 };

/* Inode numbers are positions in the table, from 2 on: 1 is the directory. */
enum { ROOT_INODE = 1, FIRST_INODE = 2 };

struct node {
    char name[NAME_CAPACITY];
    char *data;
    size_t size;
    bool live;
    /* Index of the next node of the same bucket, or of the next free node; -1 at the end. */
    int next;
};

struct table {
    struct node *nodes;
    size_t used, capacity;
    int *buckets;
    size_t bucket_count;
    int free;
};

/* Creates a table for `expected` files; false without memory. */
bool table_init(struct table *table, size_t expected);
/* Adds `count` files s000000, s000001, … of `size` letters. */
bool table_fill(struct table *table, size_t count, size_t size);

/* Return the index of the node; -1 if it does not exist, or without memory. */
int table_find(const struct table *table, const char *name);
int table_add(struct table *table, const char *name);

void table_remove(struct table *table, int index);
/* Removes the file that had the name before. */
void table_rename(struct table *table, int index, const char *name);
bool table_resize(struct table *table, int index, size_t size);

#endif
