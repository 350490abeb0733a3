/* report_json.c: what was recorded, as one JSON object; must write valid JSON and valid UTF-8 whatever it is given. */
#include <stdio.h>

#include "internal.h"

static void lb_json_string(lb_text* text, const char* value) {
  const char* at = value ? value : "";
  lb_text_add(text, "\"");
  while (*at) {
    size_t length = lb_utf8_length(at);
    unsigned char byte = (unsigned char)*at;
    if (length == 0) {
      lb_text_add(text, "\\ufffd"); /* not UTF-8: JSON has no way to say the byte */
      length = 1;
    } else if (byte == '"' || byte == '\\') {
      lb_text_add(text, "\\");
      lb_text_add_bytes(text, at, 1);
    } else if (byte < 0x20 || byte == 0x7F) {
      char escape[8];
      snprintf(escape, sizeof escape, "\\u%04x", (unsigned)byte);
      lb_text_add(text, escape);
    } else {
      lb_text_add_bytes(text, at, length);
    }
    at += length;
  }
  lb_text_add(text, "\"");
}

static void lb_json_key(lb_text* text, const char* key) {
  char last = text->length && text->data ? text->data[text->length - 1] : 0;
  if (last != '{' && last != '[') lb_text_add(text, ", ");
  lb_json_string(text, key);
  lb_text_add(text, ": ");
}

static void lb_json_text(lb_text* text, const char* key, const char* value) {
  lb_json_key(text, key);
  lb_json_string(text, value);
}

static void lb_json_version(lb_text* text, const char* key, lb_version version) {
  lb_json_key(text, key);
  lb_text_add(text, "\"");
  lb_text_add_version(text, version);
  lb_text_add(text, "\"");
}

static void lb_json_attempt(lb_text* text, const lb_attempt* attempt) {
  lb_text_add(text, "{");
  lb_json_text(text, "source", lb_source_name(attempt->source));
  lb_json_text(text, "outcome", lb_outcome_name(attempt->outcome));
  lb_json_text(text, "path", attempt->path);
  lb_json_text(text, "version", attempt->version);
  lb_json_text(text, "detail", attempt->detail);
  lb_text_add(text, "}");
}

char* lb_record_json(const lb_record* record) {
  lb_text text = {NULL, 0, 0, 0};
  lb_text_add(&text, "{");
  lb_json_text(&text, "runtime", record->runtime->name);
  lb_json_text(&text, "title", record->runtime->title);
  lb_json_key(&text, "bound");
  lb_text_add(&text, record->bound ? "true" : "false");
  lb_json_text(&text, "path", record->path);
  lb_json_text(&text, "version", record->version);
  lb_json_version(&text, "minimum", record->minimum);
  lb_json_version(&text, "built", record->runtime->built);
  lb_json_key(&text, "images");
  lb_text_add_number(&text, record->image_count);
  lb_json_text(&text, "message", record->message);
  lb_json_text(&text, "warning", record->warning);
  lb_json_key(&text, "complete");
  lb_text_add(&text, record->out_of_memory ? "false" : "true");
  lb_json_key(&text, "attempts");
  lb_text_add(&text, "[");
  for (size_t i = 0; i < record->attempt_count; i++) {
    if (i) lb_text_add(&text, ", ");
    lb_json_attempt(&text, &record->attempts[i]);
  }
  lb_text_add(&text, "]}");
  return lb_text_take(&text);
}
