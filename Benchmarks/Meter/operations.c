#define _GNU_SOURCE
#include "operations.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, READ_SIZE = 128 * 1024, BLOCK = 4096, BLOCKS = 1024 };

static const char label[] = "hello-label!";

static const char *path_of(char *path, const struct job *job, char letter, long number) {
    snprintf(path, PATH_SIZE, "%s/%c%06ld", job->directory, letter, number);
    return path;
}

static int failure(int error) {
    errno = error;
    return -1;
}

/* Names */

static int look_up(const struct job *job, long index, long item) {
    (void)index;
    char path[PATH_SIZE];
    struct stat status;
    return stat(path_of(path, job, 's', item), &status);
}

static int miss(const struct job *job, long index, long item) {
    (void)index;
    char path[PATH_SIZE];
    struct stat status;
    if (stat(path_of(path, job, 'z', item), &status) == 0) return failure(EEXIST);
    return errno == ENOENT ? 0 : -1;
}

static int get_attribute(const struct job *job, long index, long item) {
    (void)index;
    char path[PATH_SIZE], value[256];
    return getxattr(path_of(path, job, 's', item), job->attribute, value, sizeof value) > 0 ? 0 : -1;
}

static int list_attributes(const struct job *job, long index, long item) {
    (void)index;
    char path[PATH_SIZE], names[4096];
    return listxattr(path_of(path, job, 's', item), names, sizeof names) > 0 ? 0 : -1;
}

/* Makes a change of a name durable. Not every file system supports this. */
static int sync_directory(const struct job *job) {
    if (!job->sync || fsync(job->directory_file) == 0) return 0;
    return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -1;
}

static int set_attribute_durably(const char *path, const struct job *job) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    int result = fsetxattr(file, job->attribute, label, sizeof label - 1, 0);
    if (result == 0) result = fsync(file);
    int error = errno;
    close(file);
    return result ? failure(error) : 0;
}

static int set_attribute(const struct job *job, long index, long item) {
    (void)index;
    char path[PATH_SIZE];
    path_of(path, job, 's', item);
    return job->sync ? set_attribute_durably(path, job) : setxattr(path, job->attribute, label, sizeof label - 1, 0);
}

static int list_directory(const struct job *job, bool status_too) {
    DIR *directory = opendir(job->directory);
    if (!directory) return -1;
    long seen = 0;
    errno = 0;
    for (struct dirent *entry; (entry = readdir(directory)); errno = 0) {
        if (entry->d_name[0] == '.') continue;
        struct stat status;
        if (status_too && fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW)) break;
        seen++;
    }
    int error = errno;
    closedir(directory);
    if (error) return failure(error);
    return seen >= job->items ? 0 : failure(ENODATA);
}

static int list_names(const struct job *job, long index, long item) {
    (void)index, (void)item;
    return list_directory(job, false);
}

static int list_long(const struct job *job, long index, long item) {
    (void)index, (void)item;
    return list_directory(job, true);
}

/* Contents */

static int expect(const struct job *job, ssize_t length) {
    if (length < 0) return -1;
    return (size_t)length == job->size ? 0 : failure(ENODATA);
}

static int read_once(const struct job *job, long index, long item) {
    (void)index;
    char path[PATH_SIZE], buffer[READ_SIZE];
    int file = open(path_of(path, job, 's', item), O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t length = read(file, buffer, sizeof buffer);
    close(file);
    return expect(job, length);
}

/* As cat(1) does: fstat, and reads until the end of the file. */
static int read_to_end(const struct job *job, long index, long item) {
    (void)index;
    char path[PATH_SIZE], buffer[READ_SIZE];
    int file = open(path_of(path, job, 's', item), O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    struct stat status;
    ssize_t total = 0, length = fstat(file, &status);
    posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
    if (length == 0)
        while ((length = read(file, buffer, sizeof buffer)) > 0) total += length;
    close(file);
    return length < 0 ? -1 : expect(job, total);
}

static int write_file(const struct job *job, char letter, long number, int flags) {
    char path[PATH_SIZE];
    int file = open(path_of(path, job, letter, number), O_WRONLY | O_CLOEXEC | flags, 0600);
    if (file < 0) return -1;
    int result = write(file, job->contents, job->size) == (ssize_t)job->size ? 0 : -1;
    if (job->sync && fsync(file)) result = -1;
    int error = errno;
    if (close(file)) return -1;
    return result ? failure(error) : 0;
}

static int remove_file(const struct job *job, char letter, long number) {
    char path[PATH_SIZE];
    return unlink(path_of(path, job, letter, number)) ? -1 : sync_directory(job);
}

static int populate(const struct job *job, long index, long item) {
    (void)item;
    if (write_file(job, 's', index, O_CREAT | O_TRUNC)) return -1;
    /* Not every file system has extended attributes; getxattr reports that. */
    (void)set_attribute(job, index, index);
    return 0;
}

static int create(const struct job *job, long index, long item) {
    (void)item;
    return write_file(job, 'c', index, O_CREAT | O_EXCL) ? -1 : sync_directory(job);
}

static int remove_created(const struct job *job, long index, long item) {
    (void)item;
    return remove_file(job, 'c', index);
}

static int overwrite(const struct job *job, long index, long item) {
    (void)index;
    return write_file(job, 's', item, O_TRUNC);
}

static int create_two(const struct job *job, long index, long item) {
    (void)item;
    return write_file(job, 'a', index, O_CREAT) ? -1 : write_file(job, 'b', index, O_CREAT);
}

static int rename_over(const struct job *job, long index, long item) {
    (void)item;
    char from[PATH_SIZE], to[PATH_SIZE];
    if (rename(path_of(from, job, 'a', index), path_of(to, job, 'b', index))) return -1;
    return sync_directory(job);
}

static int remove_renamed(const struct job *job, long index, long item) {
    (void)item;
    return remove_file(job, 'b', index);
}

static int create_victim(const struct job *job, long index, long item) {
    (void)item;
    return write_file(job, 'u', index, O_CREAT);
}

static int remove_victim(const struct job *job, long index, long item) {
    (void)item;
    return remove_file(job, 'u', index);
}

/* The disk itself: the lower limit of a durable change. */

static int open_blocks(struct job *job) {
    char path[PATH_SIZE];
    job->file = open(path_of(path, job, 'd', 0), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return job->file < 0 ? -1 : 0;
}

static int open_written_blocks(struct job *job) {
    if (open_blocks(job)) return -1;
    static const char block[BLOCK];
    for (int number = 0; number < BLOCKS; number++)
        if (write(job->file, block, BLOCK) != BLOCK) return -1;
    return fsync(job->file);
}

static void remove_blocks(struct job *job) {
    close(job->file);
    (void)remove_file(job, 'd', 0);
}

static int append_block(const struct job *job, long index, long item) {
    (void)index, (void)item;
    return write(job->file, job->contents, BLOCK) == BLOCK ? fdatasync(job->file) : -1;
}

static int rewrite_block(const struct job *job, long index, long item) {
    (void)item;
    return pwrite(job->file, job->contents, BLOCK, index % BLOCKS * BLOCK) == BLOCK ? fdatasync(job->file) : -1;
}

static const struct operation operations[] = {
    {.name = "stat", .perform = look_up, .reads = true},
    {.name = "miss", .perform = miss, .reads = true},
    {.name = "getxattr", .perform = get_attribute, .reads = true},
    {.name = "listxattr", .perform = list_attributes, .reads = true},
    {.name = "list", .perform = list_names, .reads = true},
    {.name = "list-long", .perform = list_long, .reads = true},
    {.name = "read", .perform = read_once, .reads = true},
    {.name = "cat", .perform = read_to_end, .reads = true},
    {.name = "populate", .perform = populate},
    {.name = "create", .perform = create, .clean = remove_created},
    {.name = "overwrite", .perform = overwrite},
    {.name = "rename-over", .prepare = create_two, .perform = rename_over, .clean = remove_renamed},
    {.name = "unlink", .prepare = create_victim, .perform = remove_victim},
    {.name = "setxattr", .perform = set_attribute},
    {.name = "append", .begin = open_blocks, .perform = append_block, .end = remove_blocks},
    {.name = "rewrite", .begin = open_written_blocks, .perform = rewrite_block, .end = remove_blocks},
};

const struct operation *find_operation(const char *name) {
    for (size_t index = 0; index < sizeof operations / sizeof *operations; index++)
        if (!strcmp(operations[index].name, name)) return &operations[index];
    return NULL;
}

void print_operations(void) {
    for (size_t index = 0; index < sizeof operations / sizeof *operations; index++) puts(operations[index].name);
}
