/* attributes.c: what the attributes of a node may say. They are part of the model file, which may come from anyone:
 * they name a backend, a device and files of the model's folder, and nothing that could open anything else. */
#include <string.h>

#include "customop.h"

enum { CUSTOMOP_NAME_MAX = 64 };

static const char customop_trust[] =
    "If you trust the model, set the session entry custom_op." CUSTOMOP_NAME ".allow_any_path to 1.";

/* Non-zero for a text of 1 to 63 of these characters. */
static int customop_is_of(const customop_text* text, const char* characters) {
  return text->size && text->size < CUSTOMOP_NAME_MAX && strspn(text->bytes, characters) == text->size;
}

latenn_status* customop_check_backend(const customop_text* text) {
  if (!text->size || customop_is_of(text, "abcdefghijklmnopqrstuvwxyz0123456789_")) return NULL;
  return latenn_failure(LATENN_INVALID_ARGUMENT,
                        "Its attribute backend is \"%.100s\"; a model may only name one backend, such as onnxruntime, "
                        "in lower-case letters, digits and _. To choose a library by its path, or one of several "
                        "backends, set the session entry custom_op." CUSTOMOP_NAME ".backend.",
                        text->bytes);
}

latenn_status* customop_check_device(const customop_text* text) {
  static const char known[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:,()-";
  if (!text->size || customop_is_of(text, known)) return NULL;
  return latenn_failure(LATENN_INVALID_ARGUMENT,
                        "Its attribute device is \"%.100s\", which is not the name of a device, such as cpu.",
                        text->bytes);
}

latenn_status* customop_check_lines(const customop_text* text) {
  if (!text->size || strlen(text->bytes) == text->size) return NULL;
  return latenn_failure(LATENN_INVALID_ARGUMENT, "One of its attributes has a NUL after \"%.100s\".", text->bytes);
}

/* Windows opens a device by these names in every folder, with any suffix, and with spaces before it. */
static int customop_is_device(const char* part, size_t length) {
  static const char* const names[] = {"con", "prn", "aux", "nul", "conin$", "conout$", "com", "lpt"};
  size_t stem = 0;
  while (stem < length && part[stem] != '.') stem++;
  while (stem && part[stem - 1] == ' ') stem--;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t same = 0;
    while (same < stem && names[i][same] && (part[same] | 0x20) == (names[i][same] | 0x20)) same++;
    if (names[i][same]) continue;
    int is_numbered = i >= 6; /* COM1, LPT1; the digit may be one of Latin-1's superscripts, two bytes in UTF-8 */
    if (!is_numbered && same == stem) return 1;
    if (is_numbered &&
        ((stem == same + 1 && part[same] >= '0' && part[same] <= '9') || (stem == same + 2 && part[same] == '\xC2'))) {
      return 1;
    }
  }
  return 0;
}

/* A name of a file or folder that every system takes as it is: Windows drops dots and spaces at the end. */
static int customop_is_part(const char* part, size_t length) {
  if (length == 1 && *part == '.') return 1;
  for (size_t i = 0; i < length; i++) {
    if ((unsigned char)part[i] < 0x20 || part[i] == '\\' || part[i] == ':') return 0;
  }
  return length && part[length - 1] != '.' && part[length - 1] != ' ' && !customop_is_device(part, length);
}

int customop_is_below(const char* path, size_t size) {
  if (!size || strlen(path) != size) return 0;
  for (const char* part = path;; part++) {
    size_t length = strcspn(part, "/");
    if (!customop_is_part(part, length)) return 0; /* an empty part is the beginning of an absolute path, or "//" */
    part += length;
    if (!*part) return 1;
  }
}

latenn_status* customop_check_path(const customop_text* text) {
  if (customop_is_below(text->bytes, text->size)) return NULL;
  return latenn_failure(LATENN_INVALID_ARGUMENT,
                        "Its attribute path is \"%.300s\"; a model may only name a file in its own folder or below, "
                        "with / between folders, and without .. or a drive. %s",
                        text->bytes, customop_trust);
}

latenn_status* customop_leads_out(const char* what, const char* path, const char* folder) {
  return latenn_failure(LATENN_INVALID_ARGUMENT, "%s \"%.300s\", which is outside the folder %.300s. %s", what, path,
                        folder, customop_trust);
}
