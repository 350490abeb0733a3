/* mach-o/loader.h: the one number that a reader of headers would need. */
#define MH_EXECUTE 2
