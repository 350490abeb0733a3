/*
 * variants.c: a runtime of which several major versions are suitable, or which several packages supply: which one a
 * version belongs to, and which commands install them; must not look for anything.
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

size_t lb_variant_count(const lb_runtime* runtime) {
  if (runtime->size < LB_RUNTIME_SIZE_3 || !runtime->variants || runtime->variants->size < LB_VARIANT_SIZE_1) return 0;
  return runtime->variant_count < LB_VARIANTS_MAX ? runtime->variant_count : LB_VARIANTS_MAX;
}

const lb_variant* lb_variant_at(const lb_runtime* runtime, size_t index) {
  const char* first = (const char*)runtime->variants;
  return (const lb_variant*)(const void*)(first + index * runtime->variants->size);
}

static int lb_has_no_minimum(const lb_variant* variant) {
  return variant->minimum.major == 0 && variant->minimum.minor == 0 && variant->minimum.patch == 0;
}

const lb_variant* lb_variant_of(const lb_runtime* runtime, lb_version version) {
  const lb_variant* found = NULL;
  for (size_t i = 0; i < lb_variant_count(runtime); i++) {
    const lb_variant* variant = lb_variant_at(runtime, i);
    if (lb_has_no_minimum(variant)) return variant;
    if (variant->minimum.major != version.major) continue;
    if (!found || lb_version_compare(variant->minimum, found->minimum) < 0) found = variant;
  }
  return found;
}

lb_version lb_variant_minimum(const lb_variant* variant, lb_version minimum) {
  return lb_version_compare(minimum, variant->minimum) > 0 ? minimum : variant->minimum;
}

/* A variant that the caller's minimum rules out is no help. */
static int lb_is_useful(const lb_variant* variant, lb_version version, lb_version minimum) {
  if (lb_has_no_minimum(variant)) return 1;
  return (!version.major || variant->minimum.major == version.major) && variant->minimum.major >= minimum.major;
}

void lb_add_advice(lb_text* text, const char* advice, int is_installed) {
  static const char pip[] = "pip install ";
  static const char npm[] = "npm install \"";
  static const char nuget[] = "dotnet add package ";
  static const char apt[] = "apt-get install ";
  if (is_installed && strncmp(advice, pip, sizeof pip - 1) == 0 && advice[sizeof pip - 1] != '-') {
    lb_text_add(text, "pip install --force-reinstall ");
    lb_text_add(text, advice + sizeof pip - 1);
  } else if (is_installed && strncmp(advice, apt, sizeof apt - 1) == 0) {
    lb_text_add(text, "apt-get install --reinstall ");
    lb_text_add(text, advice + sizeof apt - 1);
  } else if (is_installed && strncmp(advice, npm, sizeof npm - 1) == 0 && advice[sizeof npm - 1]) {
    const char* name = advice + sizeof npm - 1; /* a scope begins with @, too */
    lb_text_add(text, "npm install, after you delete node_modules/");
    lb_text_add_bytes(text, name, 1 + strcspn(name + 1, "@\""));
  } else {
    lb_text_add(text, advice);
    if (!is_installed || strncmp(advice, nuget, sizeof nuget - 1) != 0) return;
    lb_text_add(text, ", after dotnet nuget locals global-packages --clear");
  }
}

char* lb_variant_advice(const lb_runtime* runtime, lb_version version, lb_version minimum, uint32_t signs,
                        int is_installed) {
  lb_text text = {NULL, 0, 0, 0};
  size_t count = 0;
  for (size_t i = 0; i < lb_variant_count(runtime); i++) {
    const lb_variant* variant = lb_variant_at(runtime, i);
    if (!variant->advice || !lb_is_useful(variant, version, minimum) || (signs && !(signs >> i & 1))) continue;
    char* advice = lb_advice_for(variant->advice, variant->minimum, lb_variant_minimum(variant, minimum));
    lb_text_add(&text, count++ ? ", or with: " : "");
    lb_add_advice(&text, advice ? advice : variant->advice, is_installed);
    lb_free(advice);
  }
  return count ? lb_text_take(&text) : NULL;
}

char* lb_companion_name(const char* companion, lb_version version) {
  lb_text name = {NULL, 0, 0, 0};
  while (*companion) {
    size_t plain = strcspn(companion, "{");
    lb_text_add_bytes(&name, companion, plain);
    companion += plain;
    if (strncmp(companion, "{major}", 7) == 0) {
      lb_text_add_number(&name, version.major);
      companion += 7;
    } else if (strncmp(companion, "{minor}", 7) == 0) {
      lb_text_add_number(&name, version.minor);
      companion += 7;
    } else if (*companion) {
      lb_text_add_bytes(&name, companion++, 1);
    }
  }
  return lb_text_take(&name);
}
