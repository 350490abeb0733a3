"""Declarations of a C header are compared by name, whatever its layout and comments."""

import pytest

from latebind.release.headers import declarations, only_grew

HEADER = """\
/* a; comment { */
#ifndef X_H
#define X_H
#include <stddef.h>
#define X_ABI 1   // a number
#if defined(_WIN32)
#define X_API __declspec(dllexport)
#else
#define X_API __attribute__((visibility("default")))
#endif
#ifdef __cplusplus
extern "C" {
#endif
typedef enum x_code { X_OK = 0, X_BAD = 1 /* why */ } x_code;
typedef struct x_model x_model;
typedef struct x_options {
  unsigned size;
  void (*release)(void* owner);
} x_options;
typedef int (*x_callback)(int);
X_API int x_add(int a,
                int b);
X_API const char* x_name(void);
#ifdef __cplusplus
}
#endif
#endif
"""


def test_every_kind_of_declaration_is_found_once():
    assert declarations(HEADER) == {
        "#X_ABI": "#define X_ABI 1",
        "x_code": "typedef enum x_code { X_OK = 0, X_BAD = 1 } x_code",
        "x_model": "typedef struct x_model x_model",
        "x_options": "typedef struct x_options { unsigned size; void (*release)(void* owner); } x_options",
        "x_callback": "typedef int (*x_callback)(int)",
        "x_add": "X_API int x_add(int a, int b)",
        "x_name": "X_API const char* x_name(void)",
    }


def test_comments_and_layout_are_no_change():
    changed = HEADER.replace("int a,\n                int b", "int a, int b").replace("/* why */", "/* because */")
    assert declarations(changed) == declarations(HEADER)


@pytest.mark.parametrize(
    ("old", "new", "grew"),
    [
        ("typedef enum c { A = 0 } c", "typedef enum c { A = 0, B = 1 } c", True),
        ("typedef enum c { A = 0, B = 1 } c", "typedef enum c { A = 0, C = 2, B = 1 } c", False),
        ("typedef struct s { int a; } s", "typedef struct s { int a; int b; } s", True),
        ("typedef struct s { int a; } s", "typedef struct s { long a; int b; } s", False),
        ("typedef struct s { int a; int b; } s", "typedef struct s { int a; } s", False),
        ("int f(int a)", "int f(int a, int b)", False),
    ],
)
def test_more_at_the_end_of_a_struct_or_enum_is_growth_and_nothing_else_is(old, new, grew):
    assert only_grew(old, new) is grew


@pytest.mark.parametrize("text", ["", "}", "{{{", "/* never closed", "#define", "typedef", ";;;", "int f("])
def test_no_text_is_too_odd(text):
    assert isinstance(declarations(text), dict)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("int f(void);", {"f": "int f(void)"}),  # from its first letter on
        ("f(void);int g;", {"f": "f(void)", "g": "int g"}),
        ("struct s { int a; };", {"s": "struct s { int a; }"}),
        (
            "union u { struct { int a; } b; int c; }; int d;",
            {"u": "union u { struct { int a; } b; int c; }", "d": "int d"},
        ),
        ('extern "C" { int f(void); } int g(void);', {"f": "int f(void)", "g": "int g(void)"}),
        ("int unfinished", {}),
        (";;", {}),
        ("", {}),
        ("typedef void (*on_end)(int);", {"on_end": "typedef void (*on_end)(int)"}),
        ("void set(void (*on_end)(int));", {"set": "void set(void (*on_end)(int))"}),
        ("static inline int f(int a) { return g(a); };", {"f": "static inline int f(int a) { return g(a); }"}),
        ("typedef int number;", {"number": "typedef int number"}),
        ("#define A 1\n#define B\n#define C \\\n  2\n", {"#A": "#define A 1", "#C": "#define C 2"}),
        ("#define X __declspec(dllexport)\n#define Y __attribute__((x))\n", {}),
    ],
)
def test_each_declaration_has_a_name(text, found):
    assert declarations(text) == found


@pytest.mark.parametrize(
    ("old", "new", "grew"),
    [
        ("struct s { int a; }", "struct s { int a; int b; }", True),
        ("struct s { int a; }", "struct s { int a; }", True),
        ("struct s { int a; }", "struct s { int b; int a; }", False),
        ("struct s { int a; int b; }", "struct s { int a; }", False),
        ("enum e { A, B }", "enum e { A, B, C }", True),
        ("enum e { A, B }", "enum e { A, C, B }", False),
        ("typedef struct s { int a; } s", "typedef struct s { int a; int b; } s", True),
        ("int f(int)", "int f(int, int)", False),
        ("struct s { int a; }", "int s", False),
        ("int s", "struct s { int a; }", False),
    ],
)
def test_only_members_at_the_end_break_nobody(old, new, grew):
    assert only_grew(old, new) is grew
