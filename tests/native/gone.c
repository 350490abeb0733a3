/* gone.c: a library that a stand-in needs and that the test does not deliver. */
int gone(void);
int gone(void) {
  return 0;
}
