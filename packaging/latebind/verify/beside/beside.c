/* beside.c: asks the library of a new project to bind a runtime and to compute. */
#include "beside.h"

#include <stdio.h>

/* A model that adds its input to itself. */
static const unsigned char model[] = {8,  8, 18, 0,   58,  55, 10, 14,  10, 1,  120, 10, 1,   120, 18, 1,  121,
                                      34, 3, 65, 100, 100, 18, 1,  103, 90, 16, 10,  1,  120, 18,  11, 10, 9,
                                      8,  1, 18, 5,   10,  3,  18, 1,   78, 98, 16,  10, 1,   121, 18, 11, 10,
                                      9,  8, 1,  18,  5,   10, 3,  18,  1,  78, 66,  4,  10,  0,   16, 17};

#ifdef _WIN32
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
int beside_check(const char* path) {
  static char report[1 << 16], error[1000];
  float x[] = {1, 2, 3.5f}, y[3] = {0};
  beside_model* loaded = NULL;
  if (beside_open(NULL, path, NULL, NULL, report, sizeof report)) {
    fprintf(stderr, "%s\n", report);
  } else if (!(loaded = beside_load(model, sizeof model, error, sizeof error)) ||
             beside_run(loaded, x, y, 3, error, sizeof error)) {
    fprintf(stderr, "%s\n", error);
  } else if (y[0] == 2 && y[1] == 4 && y[2] == 7) {
    return 0;
  }
  return 1;
}
