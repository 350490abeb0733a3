/* slug('Hello, World!') is 'hello-world'. SQLite passes its functions to the extension, which links nothing of it. */
#include <sqlite3ext.h>
#include <stddef.h>

SQLITE_EXTENSION_INIT1

static int is_kept(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static void slug(sqlite3_context *context, int count, sqlite3_value **values) {
  const unsigned char *text = sqlite3_value_text(values[0]);
  char *made = text ? sqlite3_malloc64(sqlite3_value_bytes(values[0]) + 1) : NULL;
  int length = 0;
  if (text && !made) sqlite3_result_error_nomem(context);
  if (!made) return;
  for (; *text; text++) {
    unsigned char c = *text >= 'A' && *text <= 'Z' ? *text + ('a' - 'A') : *text;
    if (is_kept(c))
      made[length++] = (char)c;
    else if (length && made[length - 1] != '-')
      made[length++] = '-';
  }
  if (length && made[length - 1] == '-') length--;
  sqlite3_result_text(context, made, length, sqlite3_free);
}

#if defined(_WIN32)
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
int sqlite3_slug_init(sqlite3 *database, char **message, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api)
  return sqlite3_create_function(database, "slug", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL, slug,
                                 NULL, NULL);
}
