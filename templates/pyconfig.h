/* pyconfig.h for extension modules of the limited API, the same for every target.
 *
 * Written for latebind's builds with zig. An installed pyconfig.h describes the machine that Python was built on; what
 * the limited API's headers ask of it is all here, and comes from the compiler, which knows the target. */
#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H

#ifndef Py_LIMITED_API
#error "This pyconfig.h is for the limited API: build the module with latebind_add_python_module()."
#endif

#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_UINTPTR_T __SIZEOF_POINTER__
#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_FLOAT __SIZEOF_FLOAT__
#define SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define SIZEOF_TIME_T 8
#define SIZEOF_PID_T 4

#define STDC_HEADERS 1
#define WITH_THREAD 1
#define HAVE_ERRNO_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_LONG_LONG 1
#define HAVE_STDDEF_H 1
#define HAVE_STDINT_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_WCHAR_H 1

#ifdef _WIN32
/* As PC/pyconfig.h of CPython has them: functions and data come from python3.dll. */
#define MS_WIN32
#define MS_WINDOWS
#define MS_WIN64
#define NT_THREADS
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED 1
#else
#define HAVE_FORK 1
#define HAVE_PTHREAD_H 1
#define HAVE_SSIZE_T 1
#define HAVE_SYS_SELECT_H 1
#define HAVE_UNISTD_H 1
#endif

#endif
