/* pair_user: which pair is bound, and by which file. With a word: also the files in the process with that name. */
#include <stdio.h>
#include <string.h>

#include "latebind/stub.h"

LB_DECLARE_STUB(pair);

int pair_status(void);

static void print_loaded(const char* name) {
  char line[4096], last[4096] = "";
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    char* path = strchr(line, '/');
    char* base = path ? strrchr(path, '/') + 1 : NULL;
    if (!base || strncmp(base, name, strlen(name)) || strcmp(base + strlen(name), "\n") || !strcmp(last, path))
      continue;
    printf("%s", strcpy(last, path));
  }
  if (maps) fclose(maps);
}

int main(int count, char** words) {
  printf("%d %s\n", pair_status(), lb_pair_version());
  printf("%s%s\n", lb_pair_file(), lb_pair_message());
  if (count > 1) print_loaded(words[1]);
  return 0;
}
