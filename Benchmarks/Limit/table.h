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
    /* Index of the next node of the same bucket, or of the next free node; -1: none. */
    int next;
};

struct table {
    struct node *nodes;
    size_t used, capacity;
    int *buckets;
    size_t bucket_count;
    int free;
};

/* A table with room for `expected` files; false without memory. */
bool table_init(struct table *table, size_t expected);
/* Names are s000000, s000001, …, contents `size` letters. */
bool table_fill(struct table *table, size_t count, size_t size);

/* Indices of nodes; -1: there is none, or no memory. */
int table_find(const struct table *table, const char *name);
int table_add(struct table *table, const char *name);

void table_remove(struct table *table, int index);
/* What had the name before is removed. */
void table_rename(struct table *table, int index, const char *name);
bool table_resize(struct table *table, int index, size_t size);

#endif
