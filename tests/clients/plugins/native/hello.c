/* An ADBC driver that connects and does nothing else. arrow-adbc/adbc.h comes with adbc-driver-manager. */
#include "adbc.h"
#include <string.h>

#define DO_NOTHING(name, ...) \
  static AdbcStatusCode name(__VA_ARGS__) { return ADBC_STATUS_OK; }
#define NOT_THERE(name, ...) \
  static AdbcStatusCode name(__VA_ARGS__) { return ADBC_STATUS_NOT_IMPLEMENTED; }

DO_NOTHING(release, struct AdbcDriver *driver, struct AdbcError *error)
DO_NOTHING(database, struct AdbcDatabase *database, struct AdbcError *error)
DO_NOTHING(end, struct AdbcConnection *connection, struct AdbcError *error)
DO_NOTHING(option, struct AdbcDatabase *database, const char *key, const char *value, struct AdbcError *error)
DO_NOTHING(connect, struct AdbcConnection *connection, struct AdbcDatabase *database, struct AdbcError *error)
DO_NOTHING(statement, struct AdbcStatement *statement, struct AdbcError *error)
DO_NOTHING(begin, struct AdbcConnection *connection, struct AdbcStatement *statement, struct AdbcError *error)
NOT_THERE(execute, struct AdbcStatement *statement, struct ArrowArrayStream *out, int64_t *rows, struct AdbcError *error)

static AdbcStatusCode open(struct AdbcConnection *connection, struct AdbcError *error) {
  connection->private_data = connection; /* the manager closes no connection without data */
  return ADBC_STATUS_OK;
}

__attribute__((visibility("default"))) AdbcStatusCode AdbcDriverInit(int version, void *raw, struct AdbcError *error) {
  struct AdbcDriver *driver = raw;
  memset(driver, 0, version == ADBC_VERSION_1_0_0 ? ADBC_DRIVER_1_0_0_SIZE : ADBC_DRIVER_1_1_0_SIZE);
  driver->release = release;
  driver->DatabaseNew = driver->DatabaseInit = driver->DatabaseRelease = database;
  driver->DatabaseSetOption = option;
  driver->ConnectionNew = open;
  driver->ConnectionRelease = end;
  driver->ConnectionInit = connect;
  driver->StatementNew = begin;
  driver->StatementRelease = statement;
  driver->StatementExecuteQuery = execute;
  return ADBC_STATUS_OK;
}
