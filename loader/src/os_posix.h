/* os_posix.h: what the files of the loader for Linux and macOS share. */
#ifndef LATEBIND_OS_POSIX_H
#define LATEBIND_OS_POSIX_H

#include <stdio.h>

#include "os.h"

/* Words of our own for an error, and what it says of the place. */
lb_place lb_say_errno(int error, char* why, size_t why_size);
enum { LB_PROC_MAGIC = 0x9FA0 }; /* <linux/magic.h>, which musl's headers alone don't have */

/*
 * A file of the system as a stream; NULL where there is none, and with errno 0 for what is none. In another root folder
 * it may be anything: a pipe would wait for a writer, and a file without an end would fill the memory.
 */
FILE* lb_open_plain(const char* path);
/* The number of the mount that a place is on; 0 where it is unknown. */
uint64_t lb_mount_of(const char* place);

#endif
