/*
 * stub.h: lets a program configure the stub that it links instead of a runtime, and query it. All of it is optional: by
 * default the stub looks where the loader looks (latebind.h), and for the runtime's package near its own.
 *
 * LB_DECLARE_STUB(openvino) declares, for the stub of that runtime:
 *
 * void lb_openvino_path(const char* path)
 *   A file or folder of the runtime, used instead of the search. UTF-8. Call it before any function of the runtime.
 * int lb_openvino_available(const char* function)
 *   Binds the runtime; 1 when it has that function, or for NULL when there is a runtime. Later calls look again.
 * const char* lb_openvino_sentence(void)
 *   Why the last binding failed, and what to do; "" when none did.
 */
#ifndef LATEBIND_STUB_H
#define LATEBIND_STUB_H

#ifdef __cplusplus
#define LB_DECLARE_STUB(runtime)                                 \
  extern "C" void lb_##runtime##_path(const char* path);         \
  extern "C" int lb_##runtime##_available(const char* function); \
  extern "C" const char* lb_##runtime##_sentence(void)
#else
#define LB_DECLARE_STUB(runtime)                      \
  void lb_##runtime##_path(const char* path);         \
  int lb_##runtime##_available(const char* function); \
  const char* lb_##runtime##_sentence(void)
#endif

LB_DECLARE_STUB(onnxruntime);

#endif
