// Calls functions through Ort::, which reads the tables of ONNX Runtime.
#include <onnxruntime_cxx_api.h>

#include <iostream>

int main() {
  Ort::SessionOptions options;
  std::cout << Ort::GetVersionString() << (options ? " fine" : "") << std::endl;
}
