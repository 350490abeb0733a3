/* thrower.cpp: an exception of C++, thrown and caught in Visual C++'s ABI. */
extern "C" void throw_number(const char*, void*) {
  throw 7;
}

extern "C" int catch_number(const void* (*call)(const char*, const char*, const char*, const char*), const char* code) {
  try {
    call(code, code, code, code);
  } catch (int number) {
    return number;
  }
  return 0;
}

/* Every type's description points to this table, which is in Visual C++'s own library. Nothing reads it here. */
extern "C" const void* const type_info_table[] __asm__("??_7type_info@@6B@") = {nullptr};
