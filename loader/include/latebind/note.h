/*
 * note.h: tells packagers which runtime a library opens at run time, in the ELF section .note.dlopen.
 *
 * Package managers and `dlopen-notes` read it (uapi-group.org, "ELF dlopen Metadata"): the linker cannot know the name.
 */
#ifndef LATEBIND_NOTE_H
#define LATEBIND_NOTE_H

#include <stdint.h>

#if defined(__GNUC__) && defined(__ELF__)
#define LB_DLOPEN_NOTE(runtime, json)                                                                  \
  static const struct {                                                                                \
    uint32_t owner_size, text_size, type;                                                              \
    char owner[4];                                                                                     \
    char text[(sizeof(json) + 3) / 4 * 4];                                                             \
  } lb_note_of_##runtime __attribute__((used, section(".note.dlopen"), aligned(sizeof(uint32_t)))) = { \
      4, sizeof(json), 0x407c0c0a, "FDO", json};
#else
#define LB_DLOPEN_NOTE(runtime, json)
#endif

#endif
