/*
 * stub.h: lets a program configure the stub that it links instead of a runtime, and query it. All of it is optional: by
 * default the stub looks where the loader looks (latebind.h), and in the runtime's packages around its own library.
 *
 * LB_DECLARE_STUB(openvino) declares, for the stub of that runtime:
 *
 * int lb_openvino_path(const char* path)
 *   A file or folder of the runtime, used instead of the search. UTF-8. Call this before any function of the
 *   runtime. NULL restores the search. Returns 0, or 1 when memory ran out and nothing changed.
 * int lb_openvino_available(const char* function)
 *   Binds the runtime. Returns 1 if the runtime has that function, or, for NULL, if there is a runtime; else 0. After a
 *   failure, each call of lb_openvino_available() searches again, but a call of a runtime function does so only if the
 *   path, the environment or the loaded libraries changed, or if the failure was one that passes: too many open files,
 *   too little memory, a file server that is away. Call this before chroot(), setns() or pivot_root().
 * const char* lb_openvino_message(void)
 *   The last error: why no runtime could be bound and what to do, or which function the bound runtime lacks (not for
 *   onnxruntime, which returns an OrtStatus); "" when there was none.
 * const char* lb_openvino_version(void), const char* lb_openvino_file(void)
 *   The version of the bound runtime, and its file; "" when none is bound.
 * const char* lb_openvino_report(void)
 *   What the last binding tried, in the JSON of lb_report_json(); "{}" before the first.
 * int lb_openvino_on_missing(lb_on_missing handler, void* context)
 *   Sets a handler: a function of the program that gets the message when a call fails because there is no runtime. The
 *   stub calls the handler once for each message, before the failed call returns its error. A function that ends the
 *   process prints the message and calls no handler. The handler may print the message, which may otherwise get lost if
 *   a C++ wrapper throws and nothing catches the exception. It must return, and must not call the runtime.
 *   lb_openvino_available() never calls it. Set the handler once, at the start. Returns 0; or 1, and changes nothing,
 *   when a handler is set already, `handler` is NULL or memory ran out. LATEBIND_ON_MISSING=print in the environment
 *   prints the message to the standard error stream, too.
 *
 * All texts are UTF-8 and live as long as the process. All functions may be called by several threads at once.
 */
#ifndef LATEBIND_STUB_H
#define LATEBIND_STUB_H

#ifdef __cplusplus
extern "C" {
#endif
typedef void (*lb_on_missing)(const char* message, void* context);
#ifdef __cplusplus
}
#endif

#ifdef __cplusplus
#define LB_DECLARE_STUB(runtime)                                 \
  extern "C" int lb_##runtime##_path(const char* path);          \
  extern "C" int lb_##runtime##_available(const char* function); \
  extern "C" const char* lb_##runtime##_message(void);           \
  extern "C" const char* lb_##runtime##_version(void);           \
  extern "C" const char* lb_##runtime##_file(void);              \
  extern "C" const char* lb_##runtime##_report(void);            \
  extern "C" int lb_##runtime##_on_missing(lb_on_missing handler, void* context)
#else
#define LB_DECLARE_STUB(runtime)                      \
  int lb_##runtime##_path(const char* path);          \
  int lb_##runtime##_available(const char* function); \
  const char* lb_##runtime##_message(void);           \
  const char* lb_##runtime##_version(void);           \
  const char* lb_##runtime##_file(void);              \
  const char* lb_##runtime##_report(void);            \
  int lb_##runtime##_on_missing(lb_on_missing handler, void* context)
#endif

LB_DECLARE_STUB(onnxruntime);

#endif
