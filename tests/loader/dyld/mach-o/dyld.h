/* mach-o/dyld.h: what images_macos.c asks of dyld, answered by dyld.c on other systems. */
#ifndef TESTS_DYLD_H
#define TESTS_DYLD_H

#include <stdint.h>

struct mach_header {
  uint32_t magic;
  uint32_t cputype;
  uint32_t cpusubtype;
  uint32_t filetype;
};

uint32_t _dyld_image_count(void);
const char* _dyld_get_image_name(uint32_t index);
const struct mach_header* _dyld_get_image_header(uint32_t index);
int _NSGetExecutablePath(char* path, uint32_t* size);

#endif
