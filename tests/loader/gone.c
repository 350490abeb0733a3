/* gone.c: a library that a stand-in needs and that the test does not deliver; as NEEDER one that needs it in turn. */
int gone(void);

#ifdef NEEDER
int needer(void);
int needer(void) {
  return gone();
}
#else
int gone(void) {
  return 0;
}
#endif
