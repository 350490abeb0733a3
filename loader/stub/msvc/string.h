/* string.h: see windows.h. Visual C++'s runtime libraries have all of these. */
#ifndef LATEBIND_MSVC_STRING_H
#define LATEBIND_MSVC_STRING_H

#include <stddef.h>

void* memchr(const void* memory, int byte, size_t size);
int memcmp(const void* left, const void* right, size_t size);
void* memcpy(void* into, const void* from, size_t size);
void* memmove(void* into, const void* from, size_t size);
void* memset(void* into, int byte, size_t size);
char* strchr(const char* text, int character);
int strcmp(const char* left, const char* right);
size_t strcspn(const char* text, const char* set);
size_t strlen(const char* text);
int strncmp(const char* left, const char* right, size_t size);
char* strpbrk(const char* text, const char* set);
char* strrchr(const char* text, int character);
char* strstr(const char* text, const char* part);
int _strnicmp(const char* left, const char* right, size_t size);

#endif
