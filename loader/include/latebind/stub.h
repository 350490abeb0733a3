/*
 * stub.h: what a program may say to the stub that it links instead of ONNX Runtime. Nothing of it is needed: without a
 * word, the stub looks where the loader looks (latebind.h), and for the runtime's package around its own.
 */
#ifndef LATEBIND_STUB_H
#define LATEBIND_STUB_H

#ifdef __cplusplus
extern "C" {
#endif

/* A file or folder of ONNX Runtime, used instead of the search. UTF-8. Call it before any function of the runtime. */
void lb_onnxruntime_path(const char* path);

#ifdef __cplusplus
}
#endif
#endif
