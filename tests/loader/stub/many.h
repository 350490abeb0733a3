/* A C library with functions of every kind; nothing of latebind is in it. */
#ifndef MANY_H
#define MANY_H
#include <stddef.h>
#if defined(_WIN32) && defined(MANY_EXPORTS)
#define MANY_API __declspec(dllexport)
#elif defined(_WIN32)
#define MANY_API __declspec(dllimport)
#else
#define MANY_API extern __attribute__((visibility("default")))
#endif

typedef struct many_large {
  long long values[5];
} many_large;

MANY_API const char* many_version(void);
MANY_API long long many_integers(int a, long long b, short c, unsigned char d, long long e, int f, long long g, int h,
                                 int i, int j);
MANY_API double many_reals(double a, float b, double c, float d, double e, float f, double g, float h, double i,
                           float j);
MANY_API many_large many_returns(int a, double b, many_large c);
MANY_API int many_prints(char* text, size_t size, const char* format, ...);
MANY_API int many_status(void);
MANY_API const char* many_why(void);
MANY_API int many_new(void); /* version 1.1 alone has it */
MANY_API int many_newer(void);
MANY_API int many_new_stops(void);
MANY_API int many_number; /* no function: a stub cannot have it */
#endif
