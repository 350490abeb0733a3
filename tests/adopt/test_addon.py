"""`latebind adopt` builds a Node.js add-on as npm does, and tries what it says to change in binding.gyp."""

import os
import re
import sysconfig

import pytest

from tests.support.building import ROOT
from tests.support.client import write_files
from tests.support.needs import require_programs
from tests.support.running import assert_refused, assert_success, run_checked
from tests.support.thingclient import ADDON_PACKAGE

pytestmark = pytest.mark.builds

PAGE = ROOT / "docs/howto/stub.md"
LIBRARY = """int Pa_GetVersion(void) { return 1246720; }
int Pa_Initialize(void) { return 0; }
const char* Pa_GetErrorText(int e) { (void)e; return "Success"; }
"""
ADDON = """#include <node_api.h>
int Pa_GetVersion(void);
static napi_value init(napi_env env, napi_value exports) {
  napi_value version;
  napi_create_int32(env, Pa_GetVersion(), &version);
  napi_set_named_property(env, exports, "version", version);
  return exports;
}
NAPI_MODULE(NODE_GYP_MODULE_NAME, init)
"""
FILE = "<(module_root_dir)/lib/libportaudio.so.2"
TARGET = '{{ "targets": [ {{ "target_name": "addon", "sources": ["addon.c"],\n  {more} }} ] }}\n'
NAMED = '"libraries": ["-lportaudio", "-lpthread", "-ldl"]'
NEW = '"-lportaudio", "-lpthread", "-ldl"'


@pytest.fixture
def project(tmp_path):
    require_programs("npm", "cc", "make")
    root = tmp_path / "project"
    (root / "lib").mkdir(parents=True)
    (tmp_path / "p.c").write_text(LIBRARY)
    file = root / "lib/libportaudio.so.2"
    run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{file.name}", tmp_path / "p.c", "-o", file)
    (root / "lib/libportaudio.so").symlink_to(file.name)
    (root / "addon.c").write_text(ADDON)
    (root / "package.json").write_text('{"name": "addon", "version": "1.0.0", "gypfile": true}')
    return root


@pytest.mark.parametrize(
    ("more", "place"),
    [
        (f'"link_settings": {{ "libraries": ["{FILE}"] }}', f'binding.gyp:2: write {NEW} in place of "{FILE}"'),
        (
            f"# sound\n  'libraries': ['-lm', '{FILE[:-2]}'], # by path\n",
            f'binding.gyp:3: write {NEW} in place of "{FILE[:-2]}"',
        ),
        (
            f'"conditions": [["OS==\'linux\'", {{ "libraries": ["{FILE}"] }}, {{ "libraries": ["x/portaudio.lib"] }}]]',
            f'binding.gyp:2: write {NEW} in place of "{FILE}"',
        ),
        (NAMED, ""),
    ],
    ids=["path", "other quotes", "condition", "name"],
)
def test_the_change_that_was_tried_is_printed_and_works(latebind, project, tmp_path, more, place):
    (project / "binding.gyp").write_text(TARGET.format(more=more))
    env = {"LIBRARY_PATH": str(project / "lib")}
    before = (project / "binding.gyp").read_text()
    lines = assert_success(latebind("adopt", project, env=env)).splitlines()
    assert lines[0].startswith("addon.node: links libportaudio.so.2")
    assert "tried: addon.node binds PortAudio late" in lines
    assert [line for line in lines if line.startswith("binding.gyp")] == ([place] if place else [])
    assert (project / "binding.gyp").read_text() == before
    # What it says, by hand: the commands as they are printed.
    if place:
        new, _, old = place.partition(": write ")[2].partition(" in place of ")
        (project / "binding.gyp").write_text(before.replace(old, new).replace(old.replace('"', "'"), new))
    commands = [line.partition(": ")[2] for line in lines if line.startswith(("next: ", "then: "))]
    prefix = "export npm_config_nodedir=/usr;"
    run_checked("bash", "-ec", "\n".join([prefix, *commands]), cwd=project)
    made = assert_success(latebind("adopt", project / "build/Release/addon.node"))
    assert made.startswith("addon.node: binds PortAudio late")
    assert "napi_" not in made


def test_an_add_on_is_found_wherever_the_build_puts_it_and_built_files_are_named(latebind, project):
    """node-pre-gyp has it in lib/binding; what the package had before is packed as well."""
    library = f'"libraries": ["{FILE}"]'
    moved = '"product_dir": "<(module_root_dir)/made"'
    (project / "binding.gyp").write_text(TARGET.format(more=f"{library}, {moved}"))
    lines = assert_success(latebind("-v", "adopt", project)).splitlines()
    assert "tried: addon.node binds PortAudio late" in lines
    assert not any(line.startswith("left: ") for line in lines)
    prebuilt = project / "prebuilds/linux-x64/addon.node"
    prebuilt.parent.mkdir(parents=True)
    (project.parent / "user.c").write_text("int Pa_GetVersion(void); int use(void) { return Pa_GetVersion(); }\n")
    run_checked("cc", "-shared", "-fPIC", project.parent / "user.c", project / "lib/libportaudio.so.2", "-o", prebuilt)
    lines = assert_success(latebind("-v", "adopt", project)).splitlines()
    said = "left: prebuilds/linux-x64/addon.node links it as well: users get these files, so build them again, too"
    assert said in lines
    assert "tried: addon.node binds PortAudio late" in lines


def test_an_add_on_that_does_not_build_ends_with_its_compilers_words(latebind, project):
    (project / "binding.gyp").write_text(TARGET.format(more='"libraries": ["-lm"]'))
    (project / "addon.c").write_text("int addon(void) { return absent; }\n")
    assert_refused(latebind("adopt", project), "npm cannot build the add-on", "addon.c:1:", "FILE.node")


def test_an_add_on_without_a_known_library_says_so(latebind, project):
    (project / "binding.gyp").write_text(TARGET.format(more='"libraries": ["-lm"]'))
    (project / "addon.c").write_text(ADDON.replace("Pa_GetVersion()", "1"))
    lines = assert_success(latebind("adopt", project)).splitlines()
    assert lines[0] == "addon.node links and contains no library that latebind knows"


def test_npm_that_is_missing_is_named(latebind, project, tmp_path):
    (project / "binding.gyp").write_text(TARGET.format(more='"libraries": ["-lm"]'))
    ended = latebind("adopt", project, env={"PATH": str(tmp_path)})
    assert_refused(ended, "npm is not on PATH", "Install Node.js with npm")
    assert not (project / "build").exists()


def test_an_add_on_that_users_compile_binds_late_where_its_sources_have_the_stub(latebind, project):
    """As npm installs a package from a registry: without what `latebind stub --export` sets."""
    install = f"export npm_config_nodedir=/usr LIBRARY_PATH={project}/lib; npm install --build-from-source"
    (project / "binding.gyp").write_text(TARGET.format(more='"libraries": ["-lportaudio"]'))
    run_checked("bash", "-ec", install, cwd=project)
    assert "links libportaudio.so.2" in assert_success(latebind("adopt", project / "build/Release/addon.node"))
    assert_success(latebind("stub", "portaudio", "--source", "--output", project / "stub"))
    (throws,) = re.findall(r"`(\{ napi_throw_error.*?\})`", PAGE.read_text("utf-8"))
    asks = f"  if (!lb_portaudio_available(NULL)) {throws.replace('lb_zlib', 'lb_portaudio')}\n"
    code = ADDON.replace("exports) {\n", f"exports) {{\n{asks}")
    (project / "addon.c").write_text(f'#include "stub/latebind_portaudio.h"\nLB_DECLARE_STUB(portaudio);\n{code}')
    text = TARGET.format(more='"libraries": ["-ldl", "-lpthread"]')
    (project / "binding.gyp").write_text(text.replace('"addon.c"', '"addon.c", "stub/latebind_portaudio.c"'))
    run_checked("bash", "-ec", install, cwd=project)
    made = assert_success(latebind("adopt", project / "build/Release/addon.node"))
    assert made.startswith("addon.node: binds PortAudio late")
    ask = "try { console.log(require('./build/Release/addon.node').version) } catch (e) { console.log(String(e)) }"
    for place, says in (("lib", "1246720"), ("none", "Error: PortAudio was not found at ")):
        env = {**os.environ, "PORTAUDIO_LIB_PATH": str(project / place)}
        assert run_checked("node", "-e", ask, cwd=project, env=env).startswith(says)


@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_lines_that_a_module_asks_with_compile(latebind, tmp_path, language):
    """The page's lines for CPython and Node.js, in both languages."""
    python, node = re.findall(
        r"`if \(!lb_zlib_available\(NULL\)\) (\{ Py.*?\})`|`(\{ napi_.*?\})`", PAGE.read_text("utf-8")
    )
    assert_success(latebind("stub", "portaudio", "--source", "--output", tmp_path))
    headers = '#include <Python.h>\n#include <node_api.h>\n#include <stdio.h>\n#include "latebind_portaudio.h"\n'
    asks = "if (!lb_portaudio_available(NULL)) "
    (tmp_path / "module.c").write_text(
        f"{headers}LB_DECLARE_STUB(portaudio);\nPyObject* one(void) {{ {asks}{python[0]} return NULL; }}\n"
        f"napi_value two(napi_env env) {{ {asks}{node[1]} return NULL; }}\n".replace("lb_zlib", "lb_portaudio")
    )
    folders = (f"-I{sysconfig.get_path('include')}", "-I/usr/include/node")
    run_checked("cc", "-x", language, "-fsyntax-only", *folders, tmp_path / "module.c")


@pytest.mark.parametrize("name", ["addon.node", "addon.linux-x64-gnu.node", "node.napi.node", "addon.abi3.so"])
def test_a_built_module_is_staged_whatever_its_builder_calls_it(latebind, tmp_path, name):
    """As node-gyp, napi-rs and prebuildify name add-ons."""
    config = ADDON_PACKAGE.format(exports="napi_register_module_v1")
    write_files(tmp_path, {"latebind.toml": config, "LICENSE": "MIT", "npm/index.cjs": "module.exports = {};"})
    (tmp_path / "native").mkdir()
    (tmp_path / "addon.c").write_text(
        "int Pa_GetVersion(void); int napi_register_module_v1(void) { return Pa_GetVersion(); }"
    )
    assert_success(latebind("stub", "portaudio", "--source", "--output", tmp_path))
    sources = (tmp_path / "addon.c", tmp_path / "latebind_portaudio.c")
    run_checked("cc", "-shared", "-fPIC", *sources, "-o", tmp_path / name, "-ldl", "-pthread")
    assert_success(latebind("-C", tmp_path, "stage", "--import", tmp_path / name, "--target", "linux-x64"))
    assert [path.name for path in (tmp_path / "stage").rglob(name)] == [name]


def test_an_addon_that_uses_a_variable_is_told_that_it_does_not_load_yet(latebind, project, tmp_path):
    """A shared library may leave symbols undefined, so that it builds with the stub, without the header."""
    with (tmp_path / "p.c").open("a") as library:
        library.write("const int Pa_level = 7;\n")
    file = project / "lib/libportaudio.so.2"
    run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{file.name}", tmp_path / "p.c", "-o", file)
    (project / "addon.c").write_text(
        ADDON.replace("Pa_GetVersion(),", "Pa_GetVersion() + Pa_level,").replace(
            "int Pa_GetVersion(void);", "int Pa_GetVersion(void);\nextern const int Pa_level;\n"
        )
    )
    (project / "binding.gyp").write_text(TARGET.format(more=NAMED))
    (tmp_path / "sound.toml").write_text(
        'name = "sound"\ntitle = "Sound"\nentry = "Pa_GetVersion"\nversion = "integer"\nscale = [65536, 256, 1]\n'
        'minimum = "19.0"\nbuilt = "19.7"\nfiles.linux = ["libportaudio.so.2"]\nadvice = "make"\n'
        f'[stub]\nfunctions = ["{file}"]\nlibrary = "portaudio"\n'
    )
    env = {"LIBRARY_PATH": str(project / "lib")}
    command = ("adopt", "--preset", tmp_path / "sound.toml")
    lines = assert_success(latebind(*command, project, env=env)).splitlines()
    assert "tried: addon.node binds Sound late; it loads once the header of variables is included" in lines
    assert any(line.startswith("first include latebind/sound_variables.h ") and "Pa_level" in line for line in lines)


def adopt_caller(latebind, project, function):
    """The lines about an add-on that calls one more function, where the loader finds the library."""
    more = ADDON.replace("Pa_GetVersion(),", f"Pa_GetVersion() + {function}(),")
    (project / "addon.c").write_text(more.replace("(void);", f"(void), {function}(void);"))
    (project / "binding.gyp").write_text(TARGET.format(more=NAMED))
    env = dict.fromkeys(("LIBRARY_PATH", "LD_LIBRARY_PATH"), str(project / "lib"))
    return assert_success(latebind("adopt", project, env=env)).splitlines()


def test_a_function_of_a_library_that_the_bound_one_loads_is_told_by_its_file(latebind, project, tmp_path):
    """A stub has what the library itself has; the linker let the add-on use what came with it."""
    other, file = project / "lib/libother.so.1", project / "lib/libportaudio.so.2"
    (tmp_path / "o.c").write_text("int other(void) { return 1; }\n")
    run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{other.name}", tmp_path / "o.c", "-o", other)
    named = ("-Wl,--no-as-needed", other)
    run_checked("cc", "-shared", "-fPIC", f"-Wl,-soname,{file.name}", tmp_path / "p.c", *named, "-o", file)
    lines = adopt_caller(latebind, project, "other")
    assert "tried: addon.node binds PortAudio late" in lines
    assert "then link libother.so.1, too, which has other" in lines


def test_what_the_library_itself_lacks_is_no_fault_of_the_stub(latebind, project, tmp_path):
    """The linked add-on lacks it as well, and nothing showed that: a library may leave symbols undefined."""
    lines = adopt_caller(latebind, project, "Pa_newer")
    assert "tried: addon.node binds PortAudio late" in lines
    assert "as when linked: it uses Pa_newer, which the library here lacks" in lines


def test_a_folder_with_a_space_is_said_to_be_split_by_builds(latebind, project, tmp_path):
    (project / "binding.gyp").write_text(TARGET.format(more=NAMED))
    moved = project.rename(tmp_path / "my project")
    lines = assert_success(latebind("adopt", moved, env={"LIBRARY_PATH": str(moved / "lib")})).splitlines()
    assert f"not tried: {moved} has a space, at which many builds split: name another folder for --output" in lines
