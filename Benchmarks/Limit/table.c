#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nodes beyond those expected, before the array has to grow. */
enum { SPARE_NODES = 4096 };

static int *bucket_of(const struct table *table, const char *name) {
    unsigned hash = 2166136261u;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 16777619u;
    return &table->buckets[hash & (table->bucket_count - 1)];
}

static void link_node(struct table *table, int index) {
    int *bucket = bucket_of(table, table->nodes[index].name);
    table->nodes[index].next = *bucket;
    *bucket = index;
}

static void unlink_node(struct table *table, int index) {
    int *link = bucket_of(table, table->nodes[index].name);
    while (*link != index) link = &table->nodes[*link].next;
    *link = table->nodes[index].next;
}

static void set_name(struct node *node, const char *name) { snprintf(node->name, sizeof node->name, "%s", name); }

bool table_init(struct table *table, size_t expected) {
    *table = (struct table){.capacity = expected + SPARE_NODES, .bucket_count = 1u << 18, .free = -1};
    while (table->bucket_count < expected) table->bucket_count *= 2;
    table->nodes = calloc(table->capacity, sizeof *table->nodes);
    table->buckets = malloc(table->bucket_count * sizeof *table->buckets);
    if (!table->nodes || !table->buckets) return false;
    memset(table->buckets, 0xff, table->bucket_count * sizeof *table->buckets);
    return true;
}

bool table_fill(struct table *table, size_t count, size_t size) {
    for (size_t number = 0; number < count; number++) {
        char name[NAME_CAPACITY];
        snprintf(name, sizeof name, "s%06zu", number);
        int index = table_add(table, name);
        if (index < 0 || !table_resize(table, index, size)) return false;
        memset(table->nodes[index].data, 'a' + (int)(number % 26), size);
    }
    return true;
}

int table_find(const struct table *table, const char *name) {
    int index = *bucket_of(table, name);
    while (index >= 0 && strcmp(table->nodes[index].name, name)) index = table->nodes[index].next;
    return index;
}

/* A node that is in no bucket. */
static int take_node(struct table *table) {
    if (table->free >= 0) {
        int index = table->free;
        table->free = table->nodes[index].next;
        return index;
    }
    if (table->used == table->capacity) {
        struct node *grown = realloc(table->nodes, 2 * table->capacity * sizeof *grown);
        if (!grown) return -1;
        table->nodes = grown;
        table->capacity *= 2;
    }
    return (int)table->used++;
}

int table_add(struct table *table, const char *name) {
    int index = take_node(table);
    if (index < 0) return -1;
    table->nodes[index] = (struct node){.live = true};
    set_name(&table->nodes[index], name);
    link_node(table, index);
    return index;
}

void table_remove(struct table *table, int index) {
    unlink_node(table, index);
    free(table->nodes[index].data);
    table->nodes[index] = (struct node){.next = table->free};
    table->free = index;
}

void table_rename(struct table *table, int index, const char *name) {
    int replaced = table_find(table, name);
    if (replaced == index) return;
    if (replaced >= 0) table_remove(table, replaced);
    unlink_node(table, index);
    set_name(&table->nodes[index], name);
    link_node(table, index);
}

bool table_resize(struct table *table, int index, size_t size) {
    struct node *node = &table->nodes[index];
    char *data = realloc(node->data, size ? size : 1);
    if (!data) return false;
    if (size > node->size) memset(data + node->size, 0, size - node->size);
    node->data = data;
    node->size = size;
    return true;
}
