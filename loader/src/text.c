/* text.c: text that grows, and text from outside made fit to read; must not know what the text is about. */
#include <stdio.h>
#include <string.h>

#include "hidden.h"
#include "internal.h"

/* A path of 10 kB helps nobody in a message; the structured report keeps it whole. */
enum { LB_FOREIGN_LIMIT = 600 };

static const char LB_REPLACEMENT[] = "\xEF\xBF\xBD";
static const char LB_ELLIPSIS[] = "\xE2\x80\xA6";

static int lb_text_reserve(lb_text* text, size_t more) {
  if (text->failed || more > (size_t)-1 - text->length - 1) {
    text->failed = 1;
    return 0;
  }
  size_t needed = text->length + more + 1;
  if (text->data && needed <= text->capacity) return 1;
  size_t capacity = text->capacity ? text->capacity : 128;
  while (capacity < needed) capacity = capacity > (size_t)-1 / 2 ? needed : capacity * 2;
  char* data = lb_resize(text->data, capacity);
  if (!data) {
    text->failed = 1;
    return 0;
  }
  text->data = data;
  text->capacity = capacity;
  return 1;
}

void lb_text_add_bytes(lb_text* text, const char* bytes, size_t count) {
  if (!lb_text_reserve(text, count)) return;
  if (count) memcpy(text->data + text->length, bytes, count);
  text->length += count;
  text->data[text->length] = 0;
}

void lb_text_add(lb_text* text, const char* piece) {
  lb_text_add_bytes(text, piece, strlen(piece));
}

void lb_text_add_number(lb_text* text, unsigned long long number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%llu", number);
  lb_text_add(text, digits);
}

void lb_text_add_version(lb_text* text, lb_version version) {
  lb_text_add_number(text, version.major);
  lb_text_add(text, ".");
  lb_text_add_number(text, version.minor);
  if (version.patch) {
    lb_text_add(text, ".");
    lb_text_add_number(text, version.patch);
  }
}

static int lb_is_continuation(unsigned char byte) {
  return (byte & 0xC0u) == 0x80u;
}

size_t lb_utf8_length(const char* at) {
  const unsigned char* byte = (const unsigned char*)at;
  if (byte[0] < 0x80) return byte[0] ? 1 : 0;
  if (byte[0] >= 0xC2 && byte[0] <= 0xDF) return lb_is_continuation(byte[1]) ? 2 : 0;
  if (byte[0] >= 0xE0 && byte[0] <= 0xEF) {
    if (!lb_is_continuation(byte[1]) || !lb_is_continuation(byte[2])) return 0;
    if (byte[0] == 0xE0 && byte[1] < 0xA0) return 0; /* overlong */
    if (byte[0] == 0xED && byte[1] > 0x9F) return 0; /* a surrogate */
    return 3;
  }
  if (byte[0] >= 0xF0 && byte[0] <= 0xF4) {
    if (!lb_is_continuation(byte[1]) || !lb_is_continuation(byte[2]) || !lb_is_continuation(byte[3])) return 0;
    if (byte[0] == 0xF0 && byte[1] < 0x90) return 0; /* overlong */
    if (byte[0] == 0xF4 && byte[1] > 0x8F) return 0; /* past U+10FFFF */
    return 4;
  }
  return 0;
}

/* Whether a UTF-8 sequence of that length is a character that is not shown as it is. */
static int lb_is_hidden(const char* at, size_t length) {
  static const unsigned char bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07}; /* of the first byte, by length */
  uint32_t code = (unsigned char)*at & bits[length];
  for (size_t i = 1; i < length; i++) code = code << 6 | ((unsigned char)at[i] & 0x3Fu);
  for (size_t i = 0; i < sizeof lb_hidden / sizeof *lb_hidden; i++) {
    if (code >= lb_hidden[i][0] && code <= lb_hidden[i][1]) return 1;
  }
  return 0;
}

void lb_text_add_foreign(lb_text* text, const char* piece) {
  const char* end = piece + strlen(piece);
  while (end > piece && (end[-1] == '\n' || end[-1] == '\r' || end[-1] == ' ')) end--;
  const char* at = piece;
  while (at < end && at - piece < LB_FOREIGN_LIMIT) {
    size_t length = lb_utf8_length(at);
    if (length == 0 || lb_is_hidden(at, length)) {
      lb_text_add(text, LB_REPLACEMENT);
    } else {
      lb_text_add_bytes(text, at, length);
    }
    at += length ? length : 1;
  }
  if (at < end) lb_text_add(text, LB_ELLIPSIS);
}

char* lb_text_take(lb_text* text) {
  if (!text->failed && !text->data) lb_text_add(text, "");
  char* data = text->failed ? NULL : text->data;
  if (text->failed) lb_free(text->data);
  memset(text, 0, sizeof *text);
  return data;
}
