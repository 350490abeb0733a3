"""Collects the advice in latebind's and loadcheck's messages from the calls that make it.

Advice is what a call passes as `advice` or `fix` (to an error, a check, a finding, a blocker), or prints. The project's
names and functions in such an argument are followed to their strings. Whether a text names a command, an option, a key
or a file is known from the parsers and the schema.
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass, field
from functools import cache
from string import Formatter

from latebind.cli import _parser
from latebind.commands.completion import _actions
from latebind.config.schema import config_schema
from tests.conftest import ROOT

PRODUCTS = (ROOT / "packaging/latebind", ROOT / "loadcheck/src/loadcheck")
FIELDS = ("advice", "fix", "ends", "applied")
"""The names under which advice is passed; the last two are of lines that `latebind adopt` ends with."""
SAYING = ("say", "print")
"""Functions that print what they get."""

FILES = {"latebind.toml", "pyproject.toml", "package.json", "CMakeLists.txt", "verify.json", "api/api.json"}
OTHERS = {
    "apt": {"install"},
    "apt-get": {"install"},
    "auditwheel": {"repair"},
    "cmake": {"--build", "--install"},
    "codesign": {"--force"},
    "dnf": {"install"},
    "dotnet": {"add", "pack"},
    "git": {"add", "checkout", "log", "stash"},
    "install_name_tool": {"-change", "-delete_rpath"},
    "loadcheck": {"--explain", "--write-baseline", "env"},
    "npm": {"install", "pack", "uninstall"},
    "patchelf": {"--set-rpath"},
    "pip": {"install", "uninstall"},
    "uv": {"python"},
    "wheel": {"pack", "tags", "unpack"},
    "xcode-select": {"--install"},
}
"""Programs that messages name, and the first argument of what they name."""


def _read_options():
    return {option for action in _actions(_parser()) for option in action.option_strings}


def _read_commands():
    choices = next(action.choices for action in _parser()._actions if isinstance(action.choices, dict))
    return {**OTHERS, "latebind": set(choices)}


def _read_keys():
    schema = config_schema()
    return {"tool", *(key for table in (schema, *schema["$defs"].values()) for key in table.get("properties", {}))}


COMMANDS, OPTIONS, KEYS = _read_commands(), _read_options(), _read_keys()


def what_it_names(text):
    """Which of "command", "option", "key" and "file" a text names."""
    words = text.split()
    bare = [word.strip("`'\"(),;:.!?") for word in words]
    return {kind for at in range(len(words)) for kind in _list_kinds(words, bare, at)}


def _list_kinds(words, bare, at):
    word, following = bare[at], bare[at + 1 : at + 2]
    table = words[at].strip("(,.:;").lstrip("[").split("]")[0] if words[at].lstrip("(").startswith("[") else ""
    if following and following[0] in COMMANDS.get(word, ()) and words[at][-1] not in ",;:.":
        yield "command"
    if word.partition("=")[0] in OPTIONS:
        yield "option"
    if table.split(".")[0] in KEYS or (words[at + 1 : at + 2] == ["="] and word.split(".")[-1] in KEYS):
        yield "key"
    if "." in word and {*word.split(".")} <= {*KEYS, "{}", "<name>", "NAME"} and KEYS.intersection(word.split(".")):
        yield "key"
    if word in FILES:
        yield "file"


@dataclass(frozen=True)
class Module:
    name: str
    tree: ast.Module
    functions: dict[str, list[ast.FunctionDef]] = field(default_factory=dict)


@cache
def collect_advice(*folders):
    """The texts of all advice, {} for what a message inserts, with the modules that make each."""
    modules = [_read_module(path, folder) for folder in folders for path in sorted(folder.rglob("*.py"))]
    positions = _find_positions(modules)
    functions = {}
    for module in modules:
        for name, found in module.functions.items():
            functions.setdefault(name, []).extend(found)
    texts = {}
    for module in modules:
        for scope, argument in _list_advice(module, positions):
            for text in _Resolver(module, functions).resolve(argument, scope):
                texts.setdefault(text, set()).add(module.name)
    return texts


def _read_module(path, folder):
    module = Module(path.relative_to(folder.parent).as_posix(), ast.parse(path.read_text("utf-8")))
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef):
            module.functions.setdefault(node.name, []).append(node)
    return module


def _find_positions(modules):
    """Where functions and dataclasses of the project take advice without its name."""
    positions = {}
    for node in itertools.chain.from_iterable(ast.walk(module.tree) for module in modules):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.args if argument.arg not in {"self", "cls"}]
        elif isinstance(node, ast.ClassDef):
            names = [line.target.id for line in node.body if isinstance(line, ast.AnnAssign)]
        else:
            continue
        positions.setdefault(node.name, set()).update(names.index(name) for name in FIELDS if name in names)
    return positions


def _list_advice(module, positions):
    """The expressions that are advice, each with the function around it."""
    for scope in _list_scopes(module.tree):
        for node in ast.walk(scope):
            if isinstance(node, ast.Call):
                yield from ((scope, keyword.value) for keyword in node.keywords if keyword.arg in FIELDS)
                at = (0,) if _name_of(node.func) in SAYING else positions.get(_name_of(node.func), ())
                yield from ((scope, node.args[place]) for place in at if place < len(node.args))
                yield from ((scope, argument) for argument in node.args if at and isinstance(argument, ast.Starred))
            if isinstance(node, ast.For) and isinstance(node.target, ast.Tuple):
                yield from ((scope, node.iter) for name in node.target.elts if _name_of(name) in FIELDS)
            yield from ((scope, value) for name in FIELDS for value in _list_values(node, name))


def _list_scopes(tree):
    """The functions and methods of a module, and each other statement."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from _list_scopes(node)
        else:
            yield node


_ENDS = (ast.Return, ast.Yield, ast.YieldFrom)


class _Resolver:
    """Follows an expression to the strings that it may be."""

    def __init__(self, module, functions):
        self._module = module
        self._functions = functions
        self._seen = set()

    def resolve(self, node, scope):
        if id(node) in self._seen:
            return
        self._seen.add(id(node))
        if isinstance(node, ast.Constant):
            yield from [node.value] if isinstance(node.value, str) else []
            return
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "format":
            yield from map(_without_names, self.resolve(node.func.value, scope))
            return
        for child, around in self._list_next(node, scope):
            yield from self.resolve(child, around)

    def _list_next(self, node, scope):
        match node:
            case ast.JoinedStr():
                return [(part.value, scope) for part in node.values if isinstance(part, ast.FormattedValue)]
            case ast.Name():
                places = (scope, self._module.tree)
                return [(value, place) for place in places for value in _list_assigned(place, node.id)]
            case ast.Call():
                name = _name_of(node.func)
                functions = self._module.functions.get(name) or self._functions.get(name, ())
                ends = ((end, function) for function in functions for end in ast.walk(function))
                made = [(_last(end.value), function) for end, function in ends if isinstance(end, _ENDS) and end.value]
                return [*made, (getattr(node.func, "value", node.func), scope)]  # of a method, what it is called on
            case ast.IfExp():
                return [(node.body, scope), (node.orelse, scope)]
            case ast.Compare():
                return []
            case _:
                return [(child, scope) for child in ast.iter_child_nodes(node)]


def _without_names(template):
    return "".join(text + "{}" * (name is not None) for text, name, _, _ in Formatter().parse(template))


def _last(value):
    """Of a problem's key, text and advice, the advice."""
    return value.elts[-1] if isinstance(value, ast.Tuple) and value.elts else value


def _name_of(node):
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _list_assigned(scope, name):
    nodes = scope.body if isinstance(scope, ast.Module) else ast.walk(scope)
    return [value for node in nodes for value in _list_values(node, name)]


def _list_values(node, name):
    """What a statement or expression gives to a name."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return [value for target in targets if _name_of(target) == name]
        case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value) if value:
            return [value] if _name_of(target) == name else []
    return []


def list_named():
    """The texts that need a row: what they name, by text."""
    return {text: kinds for text in collect_advice(*PRODUCTS) if (kinds := what_it_names(text))}
