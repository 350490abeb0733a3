#ifdef __cplusplus
extern "C"
#endif
int tiny_add(int a, int b);
