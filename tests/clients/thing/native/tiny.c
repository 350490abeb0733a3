#include <stdio.h>
#include "latebind/thing.h"

static lb_binding thing = LB_BINDING_INIT;

#ifdef _WIN32
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
int tiny_open(const char* folder, char* message, size_t room)
{
  lb_report report = {.size = sizeof report};
  lb_options search = {.size = sizeof search, .directories = &folder, .directory_count = 1};
  const int outcome = lb_bind(&thing, &lb_thing, &search, &report);
  snprintf(message, room, "%s", report.message);
  lb_report_clear(&report);
  return outcome;
}
