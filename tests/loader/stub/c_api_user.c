/* A C program on a C interface over Ort::. Words: `asks` first, `prints` by a handler, `twice` sets a second one. */
#include <stdio.h>
#include <string.h>

int speech_opens(void);
int speech_is_available(void);
int speech_prints(const char* name);

int main(int count, char** words) {
  for (int at = 1; at < count; ++at) {
    if (!strcmp(words[at], "asks") && !speech_is_available()) return puts("not available"), 0;
    if (!strcmp(words[at], "prints") && speech_prints("first")) return 2;
    if (!strcmp(words[at], "twice") && !speech_prints("second")) return 3;
    if (!strcmp(words[at], "call")) speech_opens();
  }
  printf("%d\n", speech_opens());
  return 0;
}
