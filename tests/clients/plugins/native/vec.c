__attribute__((visibility("default"))) int sqlite3_vec_init(void) {
  return 0;
}
