/* version.c: versions as runtimes return them, by an address; must not believe that the address is right. */
#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "os.h"

enum { LB_LONGEST_TEXT = 100, LB_SMALLEST_PAGE = 4096 };

static int lb_refuse_version(char* text, size_t size, const char* why) {
  snprintf(text, size, "%s", why);
  return 1;
}

/* The first bytes of a text, at most `size` with the 0 at the end. 1 when an address is none. */
static int lb_copy_text(const char* returned, char* copy, size_t size) {
  size_t length = 0;
  for (; length < size - 1; length++) {
    int is_new_page = length == 0 || (uintptr_t)(returned + length) % LB_SMALLEST_PAGE == 0;
    if (is_new_page && !lb_os_can_read(returned + length, 1)) return 1;
    if (!returned[length]) break;
    copy[length] = returned[length];
  }
  copy[length] = 0;
  return 0;
}

/* What a version function of another kind returns is no address, or one of something else: a number, a code. */
int lb_read_text(const char* returned, char* text, size_t size) {
  char copy[LB_LONGEST_TEXT];
  if (lb_copy_text(returned, copy, sizeof copy)) {
    return lb_refuse_version(text, size, "it does not report its version as text");
  }
  char* version = copy + strcspn(copy, "0123456789"); /* "v1.2", "thing 1.2 of May", "1.0.8, 13-Jul-2019" */
  version[strcspn(version, " \t\r\n,;")] = 0;
  if (!*version || strlen(version) >= size) {
    return lb_refuse_version(text, size, "the text that it reports has no version");
  }
  memcpy(text, version, strlen(version) + 1);
  return 0;
}

static unsigned lb_number_at(const void* numbers, size_t width, size_t index) {
  const unsigned char* at = (const unsigned char*)numbers + width * index;
  uint16_t two = 0;
  uint32_t four = 0;
  if (width == sizeof two) memcpy(&two, at, sizeof two);
  if (width == sizeof four) memcpy(&four, at, sizeof four);
  return width == 1 ? *at : (width == sizeof two ? two : four);
}

int lb_read_numbers(const void* numbers, size_t width, size_t count, char* text, size_t size) {
  size_t length = 0;
  if (!lb_os_can_read(numbers, width * count)) {
    return lb_refuse_version(text, size, "it does not report its version at an address");
  }
  for (size_t index = 0; index < count; index++) {
    int added = snprintf(text + length, size - length, index ? ".%u" : "%u", lb_number_at(numbers, width, index));
    if (added < 0 || (size_t)added >= size - length) return 1;
    length += (size_t)added;
  }
  return 0;
}
