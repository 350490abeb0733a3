/* crt_externs.h: the program's own header, by address. */
#include <mach-o/dyld.h>

const struct mach_header* _NSGetMachExecuteHeader(void);
