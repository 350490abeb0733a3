"""Formatted input and streams of the emulated macOS answer as those of this system."""

import pytest

from ci.machines.macos import machine
from tests.ci.machines.macos.test_faults import compile_text, run
from tests.support.building import needed_compiler
from tests.support.running import run_checked

pytestmark = [pytest.mark.emulated, pytest.mark.slow]
PROGRAM = r"""
#include <stdio.h>
#include <string.h>
int main(int count, char** words) {
  unsigned a = 7, b = 7, x = 7;
  int n = -1, i = 0, letter = 0;
  float f = 0;
  char word[9] = "";
  n = sscanf("1.23.2rc1", "%u.%u", &a, &b);
  printf("%d %u %u\n", n, a, b);
  n = sscanf("1.23", "1.%2u", &a);
  printf("%d %u\n", n, a);
  n = sscanf("  -12 0x1F 010 2.5e1 end", "%d %x %i %f %8s", &i, &x, &n, &f, word);
  printf("%d %x %.1f %s\n", i, x, f, word);
  n = sscanf("x", "%u", &a);
  printf("%d", n);
  n = sscanf("", "%u", &a);
  printf(" %d", n);
  n = sscanf("3 x", "%u %u", &a, &b);
  printf(" %d %u\n", n, a);
  FILE* file = count == 2 ? fopen(words[1], "rb") : NULL;
  if (!file) return 3;
  while ((letter = getc(file)) != EOF) printf("%d,", letter);
  char from[300] = "", to[300] = "";
  volatile size_t size = sizeof from;
  memset(from, 'a', size - 1);
  printf("%d", memcpy(to, from, size) == to && strlen(to) == 299 && memcpy(to, word, size - 300) == to && *to == 'a');
  rewind(file);
  printf(" %d", fgetc(file));
  printf(" %ld\n", ftell(file));
  return fclose(file);
}
"""


@pytest.mark.parametrize("rid", machine.KINDS)
def test_the_same_program_prints_the_same(rid, tmp_path):
    (tmp_path / "data").write_bytes(b"a\xff\0z")
    program = compile_text(rid, tmp_path, "streams", PROGRAM)
    run_checked(needed_compiler(), tmp_path / "streams.c", "-o", tmp_path / "native")
    expected = run_checked(tmp_path / "native", tmp_path / "data")
    assert expected.startswith("2 1 23\n1 23\n-12 1f 25.0 end\n0 -1 1 3\n97,255,0,122,1 97 1\n")
    assert run(rid, program, str(tmp_path / "data")) == (0, expected, "")
