// Replaces dxcore.dll, which wine 8 lacks and ONNX Runtime 1.20 to 1.23 import: there is no adapter.
__declspec(dllexport) long DXCoreCreateAdapterFactory(const void* interface_id, void** factory);

long DXCoreCreateAdapterFactory(const void* interface_id, void** factory) {
  (void)interface_id;
  *factory = 0;
  return (long)0x80004001; // E_NOTIMPL
}
