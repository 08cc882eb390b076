#include "sqlite_rows.h"
#include <sqlite3.h>
#include <stddef.h>

int sqlite_rows_set_defensive(struct sqlite3 *connection) {
    const struct { int option, value; } settings[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1}, {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        int result = sqlite3_db_config(connection, settings[i].option, settings[i].value, NULL);
        if (result != SQLITE_OK) return result;
    }
    return SQLITE_OK;
}
