/* negotiate.c: <latebind/ep.h> with runtimes that deny their interface (synthetic). Prints what is wrong. */
#include <latebind/ep.h>
#include <stdio.h>

static const char* version;
static OrtApi interface_;
static uint32_t newest; /* GetApi() gives an interface up to this version */

static const OrtApi* ORT_API_CALL get_api(uint32_t wanted) {
  return wanted <= newest ? &interface_ : NULL;
}

static const char* ORT_API_CALL get_version(void) {
  return version;
}

static OrtStatus* ORT_API_CALL create_status(OrtErrorCode code, const char* message) {
  static char kept[300];
  (void)code;
  snprintf(kept, sizeof kept, "%s", message);
  return (OrtStatus*)kept;
}

static void check(const char* text, uint32_t up_to, int is_refused, int has_interface) {
  const OrtApiBase base = {get_api, get_version};
  const OrtApi* api = &interface_;
  uint32_t number = 0;
  version = text;
  newest = up_to;
  const OrtStatus* status = lb_ep_negotiate(&base, &api, &number);
  if ((status != NULL) != is_refused || (api != NULL) != has_interface || (number != 0 && !api && !status)) {
    printf("%s up to %u: status %s, interface %s\n", text ? text : "none", up_to, status ? "made" : "none",
           api ? "given" : "none");
  }
}

int main(void) {
  const OrtApiBase empty = {NULL, NULL};
  const OrtApi* api = &interface_;
  uint32_t number = 1;
  interface_.CreateStatus = create_status;
  check("1.31.1", 99, 0, 1);
  check("1.22.0", 99, 1, 0);
  check("1.24.1", 99, 1, 0); /* in the list of exceptions */
  check("garbage", 99, 1, 0);
  check(NULL, 99, 1, 0);
  check("1.31.1", 1, 1, 0);
  check("1.31.1", 0, 0, 0);
  check("1.22.0", 0, 0, 0);
  check(NULL, 0, 0, 0);
  if (lb_ep_negotiate(&empty, &api, &number) || api || number) puts("a runtime without functions");
  puts("checked");
  return 0;
}
