/* What Swift cannot call of SQLite: sqlite3_db_config is variadic. */
#pragma once

struct sqlite3;

/* Refuses statements that damage the file or its schema (SQLITE_DBCONFIG_DEFENSIVE), and ignores triggers and views of the file
   (SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW). Returns a result code of SQLite.
   https://www.sqlite.org/c3ref/c_dbconfig_defensive.html */
int sqlite_rows_set_defensive(struct sqlite3 *connection);
