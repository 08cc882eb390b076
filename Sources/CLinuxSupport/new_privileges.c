#include "linux_support.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int new_privileges_renounce(void) {
    /* prctl(2) concerns the calling thread alone. Installing a filter for all threads (SECCOMP_FILTER_FLAG_TSYNC) sets the flag for
       all of them: seccomp(2). The filter allows every call, and the kernel needs no speculation mitigations for it. */
    struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {.len = 1, .filter = allow};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
    long thread = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
    if (thread < 0) return -errno;
    return thread > 0 ? -EBUSY : 0;
}
