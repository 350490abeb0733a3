/* A library with the stub in it. What the C library says, or why it cannot be used. */
const char* many_why(void);
int lb_many_path(const char* path);

__attribute__((visibility("default"))) const char* problem(void);
const char* problem(void) {
  lb_many_path("/nowhere/libmany.so");
  many_why();
  lb_many_path(0);
  return many_why();
}
