/* What Swift needs of libsodium and the system's memory and process calls and cannot import by itself. */
#pragma once
#include <sodium.h>
#include <sys/prctl.h>

/* prctl(2) is variadic, which Swift cannot call. */
static inline int csodium_set_dumpable(int dumpable) { return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0); }
static inline int csodium_get_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }
