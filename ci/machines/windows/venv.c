// python.exe of a virtual environment, as CPython's own launcher (PC/launcher.c): starts the interpreter that `home` in
// pyvenv.cfg names. The wheels that this CPython comes from lack the launcher, which uv copies.
#include <stdio.h>
#include <wchar.h>
#include <windows.h>

#define LONGEST 4096

static int find_home(const wchar_t* file, wchar_t* home) {
  wchar_t line[LONGEST];
  FILE* stream = _wfopen(file, L"r, ccs=UTF-8");
  int result = 0;
  while (stream != NULL && !result && fgetws(line, LONGEST, stream) != NULL)
    result = swscanf(line, L"home = %4095l[^\r\n]", home) == 1;
  if (stream != NULL) fclose(stream);
  return result;
}

int wmain(void) {
  static wchar_t self[LONGEST], file[LONGEST], home[LONGEST], program[2 * LONGEST];
  GetModuleFileNameW(NULL, self, LONGEST);
  wcscpy(file, self);
  for (int level = 0; level < 2; level++) {
    wchar_t* end = wcsrchr(file, L'\\');
    if (end != NULL) *end = 0;
  }
  if (wcslen(file) + 16 > LONGEST) return 106;
  wcscat(file, L"\\pyvenv.cfg");
  if (!find_home(file, home)) {
    fwprintf(stderr, L"No pyvenv.cfg file\n");
    return 106;
  }
  swprintf(program, 2 * LONGEST, L"%ls\\python.exe", home);
  SetEnvironmentVariableW(L"__PYVENV_LAUNCHER__", self);
  STARTUPINFOW start = {.cb = sizeof start};
  PROCESS_INFORMATION process;
  if (!CreateProcessW(program, GetCommandLineW(), NULL, NULL, TRUE, 0, NULL, NULL, &start, &process)) {
    fwprintf(stderr, L"Unable to create process using '%ls'\n", program);
    return 101;
  }
  DWORD status = 101;
  WaitForSingleObject(process.hProcess, INFINITE);
  GetExitCodeProcess(process.hProcess, &status);
  return (int)status;
}
