/* clang-format off */
#include <latebind/pcre2_8_version.h>
int lb_pcre2_8_read_version(void* entry, char* text, size_t size) {
  char t[64]; int n = ((int (*)(unsigned, void*))entry)(11 /* PCRE2_CONFIG_VERSION */, t);
  if (n < 0 || (size_t)n > size) return -1;
  for (n = 0; t[n] && t[n] != ' '; n++) text[n] = t[n];
  text[n] = 0; return 0;
}
