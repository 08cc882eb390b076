/* SQLite's VFS `unix-excl` (https://www.sqlite.org/vfs.html#standard_unix_vfses) with precise errors. The standard one reports a
   failed read as damage (SQLITE_CORRUPT), an exhausted quota as an I/O error, and each failure to open a file with the same code. */
#pragma once

#include <stdint.h>

/* Registers the VFS in this process at the first call. Returns its name, which remains valid; NULL if SQLite refuses.

   Result codes of its calls, by the errno of the system call: SQLITE_FULL for ENOSPC and EDQUOT, SQLITE_READONLY for EROFS,
   SQLITE_IOERR with its extensions for all others; SQLITE_CANTOPEN only if a permission or the file is missing, or the
   name is invalid. */
const char *sqlite_disk_errors_vfs(void);

/* Returns the number of failed reads of the calling thread, which PRAGMA integrity_check only reports in its text. */
uint64_t sqlite_disk_errors_failed_reads(void);
