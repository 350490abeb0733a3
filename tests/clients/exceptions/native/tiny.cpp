#include <latebind/onnxruntime.h>
#include <stdexcept>
#include <string>
extern "C" __attribute__((visibility("default"))) int tiny_add(int a, int b) {
  static lb_binding binding;
  if (a == b) throw std::runtime_error(std::to_string(a));
  return lb_bind(&binding, &lb_onnxruntime, nullptr, nullptr);
}
