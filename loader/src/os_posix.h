/* os_posix.h: what the files of the loader for Linux and macOS share. */
#ifndef LATEBIND_OS_POSIX_H
#define LATEBIND_OS_POSIX_H

#include "os.h"

/* Words of our own for an error, and what it says of the place. */
lb_place lb_say_errno(int error, char* why, size_t why_size);
/* The number of the mount that a place is on; 0 where it is unknown. */
uint64_t lb_mount_of(const char* place);

#endif
