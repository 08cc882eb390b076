#include "linux_support.h"

static int count;
static char **arguments;

/* glibc calls the constructors of a program and of its libraries with the arguments of main (call_init in csu/libc-start.c and
   elf/dl-init.c). */
__attribute__((constructor)) static void keep_arguments(int argc, char **argv, char **environment) {
    (void)environment;
    count = argc;
    arguments = argv;
}

int program_arguments(char ***result) {
    *result = arguments;
    return count;
}
