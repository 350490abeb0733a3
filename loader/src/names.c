/* names.c: versions and file names, compared the way people mean them; must not touch files. */
#include <string.h>

#include "internal.h"

static int lb_is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

/* Reads a number and moves past it. A number that no version has (over 32 bits) is an error. */
static int lb_read_number(const char** at, uint32_t* number) {
  uint64_t value = 0;
  if (!lb_is_digit(**at)) return 1;
  for (; lb_is_digit(**at); (*at)++) {
    value = value * 10 + (uint64_t)(**at - '0');
    if (value > UINT32_MAX) return 1;
  }
  *number = (uint32_t)value;
  return 0;
}

int lb_version_parse(const char* text, lb_version* version) {
  lb_version read = {0, 0, 0};
  if (!text || lb_read_number(&text, &read.major) || *text++ != '.' || lb_read_number(&text, &read.minor)) return 1;
  if (*text == '.' && lb_is_digit(text[1])) {
    text++;
    if (lb_read_number(&text, &read.patch)) return 1;
  }
  *version = read;
  return 0;
}

int lb_version_compare(lb_version left, lb_version right) {
  if (left.major != right.major) return left.major < right.major ? -1 : 1;
  if (left.minor != right.minor) return left.minor < right.minor ? -1 : 1;
  if (left.patch != right.patch) return left.patch < right.patch ? -1 : 1;
  return 0;
}

int lb_glob_match(const char* pattern, const char* name) {
  const char* star = NULL;
  const char* retry = NULL;
  while (*name) {
    if (*pattern == '*') {
      star = pattern++;
      retry = name;
    } else if (*pattern == *name) {
      pattern++;
      name++;
    } else if (star) {
      pattern = star + 1;
      name = ++retry;
    } else {
      return 0;
    }
  }
  while (*pattern == '*') pattern++;
  return *pattern == 0;
}

uint64_t lb_hash(uint64_t hash, const char* text) {
  for (; text && *text; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
  return (hash ^ (text ? 1u : 2u)) * 1099511628211u;
}

/* Compares two runs of digits by value, however long, and moves past them. */
static int lb_compare_digits(const char** left, const char** right) {
  while (**left == '0') (*left)++;
  while (**right == '0') (*right)++;
  const char* left_start = *left;
  const char* right_start = *right;
  while (lb_is_digit(**left)) (*left)++;
  while (lb_is_digit(**right)) (*right)++;
  size_t left_length = (size_t)(*left - left_start);
  size_t right_length = (size_t)(*right - right_start);
  if (left_length != right_length) return left_length < right_length ? -1 : 1;
  return memcmp(left_start, right_start, left_length);
}

int lb_name_compare(const char* left, const char* right) {
  while (*left && *right) {
    if (lb_is_digit(*left) && lb_is_digit(*right)) {
      int order = lb_compare_digits(&left, &right);
      if (order) return order;
    } else if (*left != *right) {
      return (unsigned char)*left < (unsigned char)*right ? -1 : 1;
    } else {
      left++;
      right++;
    }
  }
  return (*left != 0) - (*right != 0);
}
