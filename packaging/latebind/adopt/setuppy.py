"""Changes a setup.py where its syntax tree shows a plain list: the libraries of a module, and the requirements."""

from __future__ import annotations

import ast


def replace_library(text: str, line: int, library: str, source: str) -> str:
    """The text without a library in the Extension of a line, and with a C file that setup() compiles for all modules.

    "" if the list is not written there.
    """
    tree = ast.parse(text)
    setup = _find_setup(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    made = [call for call in calls if call.lineno <= line <= (call.end_lineno or 0) and _list_of(call, "libraries")]
    listed = _list_of(min(made, key=_count_lines), "libraries") if made else None
    if listed is None or setup is None or any(word.arg == "libraries" for word in setup.keywords):
        return ""
    kept = [f'"{item.value!s}"' for item in listed.elts if isinstance(item, ast.Constant) and item.value != library]
    name = source.rpartition("/")[2].removesuffix(".c")
    added = f'libraries=[("{name}", {{"sources": ["{source}"]}})],'
    length = len(ast.get_source_segment(text, listed) or "")
    return _replace(text, [_before(text, setup, added), (_offset(text, listed), length, f"[{', '.join(kept)}]")])


def add_to_setup(text: str, requirement: str) -> str:
    """The text with one more requirement; "" if setup() has its list from elsewhere."""
    setup = _find_setup(ast.parse(text))
    if setup is None:
        return ""
    listed = _list_of(setup, "install_requires")
    if listed is None and any(word.arg == "install_requires" for word in setup.keywords):
        return ""
    if listed is None:
        return _replace(text, [_before(text, setup, f'install_requires=["{requirement}"],')])
    first = _offset(text, listed) + 1
    return _replace(text, [(first, 0, f'"{requirement}"{", " if listed.elts else ""}')])


def _find_setup(tree: ast.AST) -> ast.Call | None:
    """The only call of setup(), with its keywords written there."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [call for call in calls if getattr(call.func, "id", getattr(call.func, "attr", "")) == "setup"]
    is_plain = len(named) == 1 and named[0].keywords and all(word.arg for word in named[0].keywords)
    return named[0] if is_plain else None


def _list_of(call: ast.Call, keyword: str) -> ast.List | None:
    """The list of texts that a call has for a keyword, if it is written there."""
    value = next((word.value for word in call.keywords if word.arg == keyword), None)
    is_plain = isinstance(value, ast.List) and all(isinstance(item, ast.Constant) for item in value.elts)
    return value if is_plain and isinstance(value, ast.List) else None


def _count_lines(call: ast.Call) -> int:
    return (call.end_lineno or 0) - call.lineno


def _before(text: str, setup: ast.Call, added: str) -> tuple[int, int, str]:
    """A keyword before the first one of setup(), on a line of its own if that has one."""
    word = setup.keywords[0]
    indent = text.splitlines()[word.lineno - 1].encode()[: word.col_offset].decode()
    return _offset(text, word), 0, f"{added} " if indent.strip() else f"{added}\n{indent}"


def _offset(text: str, node: ast.expr | ast.keyword) -> int:
    """The position at which a node begins; `ast` counts columns in UTF-8 bytes."""
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: node.lineno - 1])) + len(lines[node.lineno - 1].encode()[: node.col_offset].decode())


def _replace(text: str, pieces: list[tuple[int, int, str]]) -> str:
    """The text with each piece, of a position and a length, replaced."""
    for position, removed, new in sorted(pieces, reverse=True):
        text = text[:position] + new + text[position + removed :]
    return text
