#include "linux_support.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Whether an entry of the environment sets the same variable as an assignment NAME=VALUE. */
static int sets_same(const char *entry, const char *assignment) {
    const char *sign = strchr(assignment, '=');
    return sign && strncmp(entry, assignment, (size_t)(sign - assignment) + 1) == 0;
}

static int is_replaced(const char *entry, const char *assignments, size_t size) {
    for (size_t at = 0; at < size; at += strlen(assignments + at) + 1)
        if (sets_same(entry, assignments + at)) return 1;
    return 0;
}

int execute_program(int first, const char *assignments, size_t size) {
    char **arguments;
    int count = program_arguments(&arguments);
    if (first < 0 || first >= count || (size > 0 && assignments[size - 1] != 0)) return EINVAL;
    size_t entries = 1;
    for (char **entry = environ; *entry; entry++) entries++;
    for (size_t at = 0; at < size; at++) entries += assignments[at] == 0;
    char **inherited = environ, **result = calloc(entries, sizeof *result), **next = result;
    if (!result) return ENOMEM;
    for (char **entry = inherited; *entry; entry++)
        if (!is_replaced(*entry, assignments, size)) *next++ = *entry;
    for (size_t at = 0; at < size; at += strlen(assignments + at) + 1) *next++ = (char *)assignments + at;
    environ = result;
    execvp(arguments[first], arguments + first);
    int error = errno;
    environ = inherited;
    free(result);
    return error;
}
