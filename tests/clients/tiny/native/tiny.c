__attribute__((visibility("default"))) int tiny_add(int a, int b);
int tiny_add(int a, int b) { return a + b; }
