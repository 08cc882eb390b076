#define _GNU_SOURCE
#include "requests.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "table.h"

static struct table table;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct timespec started;

/* Names and attributes stay in the kernel's caches. */
static const double timeout = 3600;
/* The one extended attribute that each file has. */
static const char label_name[] = "user.label", label[] = "hello-label!";

int limit_prepare(size_t count, size_t size) {
    clock_gettime(CLOCK_REALTIME, &started);
    return table_init(&table, count) && table_fill(&table, count, size) ? 0 : -1;
}

static int index_of(fuse_ino_t inode) { return (int)(inode - FIRST_INODE); }
static struct node *node_of(fuse_ino_t inode) { return &table.nodes[index_of(inode)]; }

static struct stat attributes(fuse_ino_t inode) {
    struct stat status = {
        .st_ino = inode, .st_nlink = 1, .st_uid = getuid(), .st_gid = getgid(), .st_blksize = 4096,
        .st_atim = started, .st_mtim = started, .st_ctim = started, .st_mode = S_IFREG | 0600,
    };
    if (inode == ROOT_INODE) {
        status.st_mode = S_IFDIR | 0700;
        status.st_nlink = 2;
    } else {
        status.st_size = (off_t)node_of(inode)->size;
        status.st_blocks = (status.st_size + 511) / 512;
    }
    return status;
}

static struct fuse_entry_param entry(int index) {
    fuse_ino_t inode = (fuse_ino_t)index + FIRST_INODE;
    return (struct fuse_entry_param){
        .ino = inode, .generation = 1, .attr = attributes(inode), .attr_timeout = timeout, .entry_timeout = timeout,
    };
}

/* Contents bypass the page cache, as secrets must; a close sends no FLUSH. */
static void open_directly(struct fuse_file_info *file) {
    file->direct_io = 1;
    file->noflush = 1;
}

static void on_init(void *data, struct fuse_conn_info *connection) {
    (void)data;
    connection->want &= ~FUSE_CAP_AUTO_INVAL_DATA;
}

/* Names */

static void on_lookup(fuse_req_t request, fuse_ino_t parent, const char *name) {
    (void)parent;
    pthread_rwlock_rdlock(&lock);
    int index = table_find(&table, name);
    /* Inode 0: a missing name, which the kernel caches. */
    struct fuse_entry_param answer = {.entry_timeout = timeout};
    if (index >= 0) answer = entry(index);
    pthread_rwlock_unlock(&lock);
    fuse_reply_entry(request, &answer);
}

static void on_getattr(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file) {
    (void)file;
    pthread_rwlock_rdlock(&lock);
    struct stat status = attributes(inode);
    pthread_rwlock_unlock(&lock);
    fuse_reply_attr(request, &status, timeout);
}

static void on_setattr(fuse_req_t request, fuse_ino_t inode, struct stat *wanted, int set,
                       struct fuse_file_info *file) {
    (void)file;
    pthread_rwlock_wrlock(&lock);
    bool done = true;
    if (inode != ROOT_INODE && (set & FUSE_SET_ATTR_SIZE))
        done = table_resize(&table, index_of(inode), (size_t)wanted->st_size);
    struct stat status = attributes(inode);
    pthread_rwlock_unlock(&lock);
    if (done) fuse_reply_attr(request, &status, timeout);
    else fuse_reply_err(request, ENOMEM);
}

static void on_unlink(fuse_req_t request, fuse_ino_t parent, const char *name) {
    (void)parent;
    pthread_rwlock_wrlock(&lock);
    int index = table_find(&table, name);
    if (index >= 0) table_remove(&table, index);
    pthread_rwlock_unlock(&lock);
    fuse_reply_err(request, index < 0 ? ENOENT : 0);
}

static void on_rename(fuse_req_t request, fuse_ino_t from, const char *name, fuse_ino_t to, const char *new_name,
                      unsigned flags) {
    (void)from, (void)to, (void)flags;
    pthread_rwlock_wrlock(&lock);
    int index = table_find(&table, name);
    if (index >= 0) table_rename(&table, index, new_name);
    pthread_rwlock_unlock(&lock);
    fuse_reply_err(request, index < 0 ? ENOENT : 0);
}

static void on_forget(fuse_req_t request, fuse_ino_t inode, uint64_t count) {
    (void)inode, (void)count;
    fuse_reply_none(request);
}

static void on_forget_multi(fuse_req_t request, size_t count, struct fuse_forget_data *forgotten) {
    (void)count, (void)forgotten;
    fuse_reply_none(request);
}

/* Contents */

static void on_open(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file) {
    if (file->flags & O_TRUNC) {
        pthread_rwlock_wrlock(&lock);
        node_of(inode)->size = 0;
        pthread_rwlock_unlock(&lock);
    }
    open_directly(file);
    fuse_reply_open(request, file);
}

static void on_create(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode,
                      struct fuse_file_info *file) {
    (void)parent, (void)mode;
    pthread_rwlock_wrlock(&lock);
    int index = table_find(&table, name);
    if (index < 0) index = table_add(&table, name);
    else if (file->flags & O_TRUNC) table.nodes[index].size = 0;
    struct fuse_entry_param answer = {0};
    if (index >= 0) answer = entry(index);
    pthread_rwlock_unlock(&lock);
    open_directly(file);
    if (index < 0) fuse_reply_err(request, ENOMEM);
    else fuse_reply_create(request, &answer, file);
}

static void on_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset, struct fuse_file_info *file) {
    (void)file;
    pthread_rwlock_rdlock(&lock);
    struct node *node = node_of(inode);
    size_t rest = (size_t)offset < node->size ? node->size - (size_t)offset : 0;
    if (rest == 0) fuse_reply_buf(request, NULL, 0);
    else fuse_reply_buf(request, node->data + offset, rest < size ? rest : size);
    pthread_rwlock_unlock(&lock);
}

static void on_write(fuse_req_t request, fuse_ino_t inode, const char *bytes, size_t size, off_t offset,
                     struct fuse_file_info *file) {
    (void)file;
    pthread_rwlock_wrlock(&lock);
    struct node *node = node_of(inode);
    size_t end = (size_t)offset + size;
    bool done = end <= node->size || table_resize(&table, index_of(inode), end);
    if (done) memcpy(node->data + offset, bytes, size);
    pthread_rwlock_unlock(&lock);
    if (done) fuse_reply_write(request, size);
    else fuse_reply_err(request, ENOMEM);
}

static void on_flush(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file) {
    (void)inode, (void)file;
    fuse_reply_err(request, ENOSYS);
}

static void on_release(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file) {
    (void)inode, (void)file;
    fuse_reply_err(request, 0);
}

static void on_fsync(fuse_req_t request, fuse_ino_t inode, int data_only, struct fuse_file_info *file) {
    (void)inode, (void)data_only, (void)file;
    fuse_reply_err(request, 0);
}

/* Listings */

static size_t add_name(fuse_req_t request, char *buffer, size_t room, int index) {
    struct stat status = {.st_ino = (ino_t)index + FIRST_INODE, .st_mode = S_IFREG};
    return fuse_add_direntry(request, buffer, room, table.nodes[index].name, &status, index + 1);
}

static size_t add_entry(fuse_req_t request, char *buffer, size_t room, int index) {
    struct fuse_entry_param answer = entry(index);
    return fuse_add_direntry_plus(request, buffer, room, table.nodes[index].name, &answer, index + 1);
}

static void list(fuse_req_t request, size_t size, off_t offset, size_t (*add)(fuse_req_t, char *, size_t, int)) {
    char *buffer = malloc(size);
    if (!buffer) {
        fuse_reply_err(request, ENOMEM);
        return;
    }
    size_t length = 0;
    pthread_rwlock_rdlock(&lock);
    for (size_t index = (size_t)offset; index < table.used; index++) {
        if (!table.nodes[index].live) continue;
        size_t added = add(request, buffer + length, size - length, (int)index);
        if (added > size - length) break;
        length += added;
    }
    pthread_rwlock_unlock(&lock);
    fuse_reply_buf(request, buffer, length);
    free(buffer);
}

static void on_readdir(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset, struct fuse_file_info *file) {
    (void)inode, (void)file;
    list(request, size, offset, add_name);
}

static void on_readdirplus(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                           struct fuse_file_info *file) {
    (void)inode, (void)file;
    list(request, size, offset, add_entry);
}

/* Extended attributes */

static void reply_value(fuse_req_t request, const char *value, size_t length, size_t size) {
    if (size == 0) fuse_reply_xattr(request, length);
    else if (size < length) fuse_reply_err(request, ERANGE);
    else fuse_reply_buf(request, value, length);
}

static void on_getxattr(fuse_req_t request, fuse_ino_t inode, const char *name, size_t size) {
    (void)inode;
    if (!strcmp(name, label_name)) reply_value(request, label, sizeof label - 1, size);
    /* After this error for other namespaces ls -l sends no further request for each file. */
    else fuse_reply_err(request, strncmp(name, "user.", 5) ? EOPNOTSUPP : ENODATA);
}

static void on_listxattr(fuse_req_t request, fuse_ino_t inode, size_t size) {
    (void)inode;
    reply_value(request, label_name, sizeof label_name, size);
}

static void on_setxattr(fuse_req_t request, fuse_ino_t inode, const char *name, const char *value, size_t size,
                        int flags) {
    (void)inode, (void)name, (void)value, (void)size, (void)flags;
    fuse_reply_err(request, 0);
}

const struct fuse_lowlevel_ops limit_operations = {
    .init = on_init, .lookup = on_lookup, .forget = on_forget, .forget_multi = on_forget_multi,
    .getattr = on_getattr, .setattr = on_setattr, .unlink = on_unlink, .rename = on_rename,
    .open = on_open, .create = on_create, .read = on_read, .write = on_write,
    .flush = on_flush, .release = on_release, .fsync = on_fsync,
    .readdir = on_readdir, .readdirplus = on_readdirplus,
    .getxattr = on_getxattr, .listxattr = on_listxattr, .setxattr = on_setxattr,
};
