"""A runtime that latebind.toml describes: what is accepted, what is refused, what the audit makes of it."""

import re
import shutil
import zipfile

import pytest

from latebind.checks.policy import project_policy
from latebind.config.file import load
from latebind.config.file import load_described as load_library
from latebind.ecosystems.wheel.metadata import metadata_fields
from latebind.errors import ConfigError
from latebind.tables.presets import library_files
from loadcheck.api import audit_here
from tests.support.client import CONFIG, edit
from tests.support.running import run_checked
from tests.support.thingclient import DESCRIBED, build_thing, write_thing_client


def load_described(folder, text=DESCRIBED):
    return load(write_thing_client(folder, text) / "latebind.toml")


def test_a_description_becomes_all_that_a_preset_says(tmp_path):
    runtime = load_described(tmp_path).runtime_of("tiny")

    preset = runtime.traits

    assert (runtime.name, preset.title, preset.environment) == ("thing", "The Thing", "THING_LIB_PATH")
    assert preset.names.linux == ("libthing.so",)
    assert preset.globs.linux == ("libthing.so.*",)
    assert preset.file_globs == ("libthing.so*", "libthing-[0-9a-f]*.so*")
    assert preset.python.distribution == "thing-runtime"


def test_copies_on_macos_and_windows_are_known_by_their_usual_names(tmp_path):
    files = 'files.macos = ["libthing.2.dylib"]\nfiles.windows = ["thing.dll"]\nfiles.linux'
    preset = load_described(tmp_path, DESCRIBED.replace("files.linux", files)).runtime_of("tiny").traits
    assert preset.file_globs[2:] == ("libthing.dylib", "libthing.[0-9]*.dylib", "thing.dll", "thing-[0-9a-f]*.dll")
    assert preset.linked_globs[-2:] == ("*/libthing.dylib", "*/libthing.[0-9]*.dylib")


def test_the_extra_is_the_distribution_from_the_one_minimum_on(tmp_path):
    text = CONFIG.replace('"python/tiny" }', '"python/tiny", extras = "channels" }')
    text = text.replace('component = "tiny"', 'component = "tiny"\nruntime = "thing"') + DESCRIBED
    config = load(write_thing_client(tmp_path, latebind=text) / "latebind.toml")
    assert metadata_fields(config, "tiny")["optional-dependencies"] == {"cpu": ["thing-runtime>=2.1"]}


PYTHON = DESCRIBED.splitlines(keepends=True)[-1]
REST = "".join(DESCRIBED.splitlines(keepends=True)[-2:])
VARIANT = """
[[runtime.describe.variants]]
minimum = "3.0"
files.linux = ["libthing.so.3"]
companions.linux = ["core.so.{major}"]
signs = ["a/b.so.3"]
python = { folder = ["three/lib", "three/bin"], extras = { three = "thing-three" } }
"""
OTHER = """
[[runtime.describe.variants]]
minimum = "2.1"
files.linux = ["libthing.so.2"]
python = { folder = "two/lib", extras = { two = "thing-two" } }
"""
WRONG = [
    ('name = "thing"', 'name = "Thing"', "'Thing' cannot be part of a name in C", "lowercase letters"),
    ('name = "thing"', 'name = "litert"', "litert is a runtime that latebind knows", 'preset = "litert"'),
    ('minimum = "2.1"', 'minimum = "2.1"\ndrop_in = true', "there is no stub of thing", "[runtime.describe.stub]"),
    (PYTHON, "", "no wheel supplies the runtime, and there is no advice", "or advice"),
    (PYTHON, 'advice = "apt-get install thing"\n', "so nothing can be verified", "extras = {"),
    (PYTHON, f'{PYTHON}advice = "a\\nb"\n', "the advice has line breaks", "one plain line"),
    (PYTHON, f"{PYTHON}stub = {{ functions = [] }}\n", "the stub has no functions", "--functions"),
    (
        PYTHON,
        f'{PYTHON}stub = {{ functions = ["a"], targets = ["a b"] }}\n',
        "'a b' cannot be a name in CMake",
        "letters",
    ),
    (PYTHON, f'{PYTHON}stub = {{ functions = ["a"], failures."a-" = 1 }}\n', "matches no C function", "thing_*"),
    (
        PYTHON,
        f'{PYTHON}stub = {{ functions = ["a"], failures.a = "stop" }}\n',
        "failures.a cannot be 'stop'",
        "pattern",
    ),
    ('name = "thing"\n', "", "runtime[0].describe.name is missing", ""),
    ('title = "The Thing"', 'title = "a \\"*/"', "is not a plain title", "Write it without"),
    (
        'title = "The',
        'environment = "A-B"\ntitle = "The',
        "'A-B' cannot be the name of an environment variable",
        "THING_LIB_PATH",
    ),
    ('entry = "thing_version"', 'entry = "thing::version"', "is not the name of a C function", "nm -D"),
    ('entry = "', 'entri = "', "unknown key runtime[0].describe.entri", "Did you mean entry?"),
    (PYTHON, f"{PYTHON}calendar = true\n", "unknown key runtime[0].describe.calendar", 'compatible = "always"'),
    (PYTHON, f'{PYTHON}compatible = "never"\n', "compatible cannot be 'never'", "Known: always, major, minor."),
    ('version = "text"', 'version = "integer"', "needs two or three falling numbers as its scale", "[10000, 100, 1]"),
    (
        'version = "text"',
        'version = "integer-out"\nscale = [1, 100]',
        "needs two or three falling numbers",
        "if 20304 is 2.3.4",
    ),
    (
        'version = "text"',
        'version = "structure"\nscale = [100, 1]',
        "scale is for a version that is one number",
        "remove",
    ),
    ('version = "text"', 'version = "text"\nscale = [1, 100]', "needs two or three falling numbers", "if 20304"),
    ('version = "text"', 'version = "structure"\nbits = 12', "bits cannot be 12", ""),
    ('version = "text"', 'version = "structure"\nbits = 64', "cannot have 64 bits", "Remove bits."),
    ('version = "text"', 'version = "text"\nbits = 16', "cannot have 16 bits", "Remove bits."),
    (PYTHON, f'{PYTHON}stub = {{ functions = ["a"], since."3.0" = "b" }}\n', "must be a list, not a string", "Further"),
    (PYTHON, f'{PYTHON}stub = {{ functions = ["a"], since."3" = ["b"] }}\n', "'3' does not have two or three", "1.19"),
    (
        PYTHON,
        f'{PYTHON}stub = {{ functions = ["a"], since."3.0" = ["b*"] }}\n',
        "'b*' is not the name of a C",
        "Patterns",
    ),
    ('version = "text"', 'version = "test"', "cannot be 'test'", "Did you mean text?"),
    (
        'built = "2.9"',
        'built = "2.0"',
        "built = 2.0 is older than the minimum, 2.1",
        "the newest version that you tried",
    ),
    ('built = "2.9"', 'built = "2"', "'2' does not have two or three numbers", "1.19"),
    ('minimum = "2.1"', 'minimum = "2.1rc1"', "'2.1rc1' does not have two or three numbers", "1.19"),
    ('"libthing.so", ', "", "no file name without * for linux, which", 'files.linux = ["libthing.so"]'),
    (
        '"libthing.so", ',
        '"lib/thing.so", ',
        "'lib/thing.so' is not the file name of a library on linux",
        "plain name",
    ),
    ('"libthing.so", ', '"thing.dll", ', "'thing.dll' is not the file name of a library on linux", '"libthing.so"'),
    ('"thing/lib"', '"../lib"', "'../lib' is not a folder below site-packages", '"thing/lib"'),
    ('{ cpu = "thing-runtime" }', "{}", "no distribution supplies the runtime", "extras ="),
    (
        '"thing-runtime"',
        '"thing-runtime>=2"',
        "does not map an extra to a distribution",
        "without a version",
    ),
    ("python = {", 'nuget = ["Acme..Thing"]\npython = {', "nuget cannot be 'Acme..Thing'", "such as Acme"),
    ("python = {", f'nuget = ["{101 * "A"}"]\npython = {{', "nuget must have at most 100 char", "such as Acme"),
    (
        'minimum = "2.1"',
        'minimum = "2.1"\npreset = "openvino"',
        "both the preset openvino and a description",
        "Remove",
    ),
    (PYTHON, f"{PYTHON}{VARIANT}", "files has no effect next to variants", "below [[variants]]"),
    (REST, VARIANT.replace('minimum = "3.0"', ""), "variants[0]: minimum is missing", 'minimum = "1.19"'),
    (REST, VARIANT.replace("files.linux", "companions.macos"), "variants[0].files is missing", "File names"),
    (REST, VARIANT.replace("files.linux", "files.macos"), "no file name without * for linux", "below a [[variants]]"),
    (REST, VARIANT.replace('"3.0"', '"3"'), "'3' does not have two or three numbers", "1.19"),
    (REST, VARIANT.replace('"core.so.{major}"', '"core.so"') + OTHER, "'core.so' is not a companion of all", "{major}"),
    (REST, VARIANT.replace('"core.so.{major}"', '"a/b.so"'), "'a/b.so' is not the file name of a library", "plain"),
    (REST, VARIANT.replace('"core.so.{major}"', '"core*.so"'), "'core*.so' is not a file name", "{major}"),
    (REST, VARIANT.replace('"a/b.so.3"', '"a b"'), "'a b' is not a file below site-packages", "thing/lib"),
    (REST, VARIANT.replace("python = ", "x = "), "unknown key", ""),
    (REST, f'roots = ["lib"]\n{VARIANT}', "'lib' is not a folder below an environment variable", "THING_HOME/lib"),
    (DESCRIBED, '\n[[runtime]]\nminimum = "2.1"\n', "neither preset nor description", "[runtime.describe]"),
    (DESCRIBED, DESCRIBED + DESCRIBED, "thing is a [[runtime]] twice", "Keep one"),
]


@pytest.mark.parametrize(("old", "new", "message", "advice"), WRONG, ids=[case[2] for case in WRONG])
def test_a_wrong_description_is_refused_with_file_key_reason_and_cure(tmp_path, old, new, message, advice):
    assert old in DESCRIBED
    with pytest.raises(ConfigError) as caught:
        load_described(tmp_path, DESCRIBED.replace(old, new))
    problem = next(problem for problem in caught.value.problems if message in problem.message)
    assert re.match(r"latebind\.toml(: runtime\[\d\]|\Z)", problem.where)
    assert advice in problem.advice


def test_variants_become_one_runtime_with_the_packages_of_all(tmp_path):
    text = CONFIG.replace('"python/tiny" }', '"python/tiny", extras = "channels" }')
    text = text.replace('component = "tiny"', 'component = "tiny"\nruntime = "thing"')
    text += DESCRIBED.replace(REST, VARIANT + OTHER).replace('"2.9"', '"3.4"')
    config = load(write_thing_client(tmp_path, latebind=text) / "latebind.toml")
    preset = config.runtime_of("tiny").traits
    assert preset.names.linux == ("libthing.so.3", "libthing.so.2")
    assert preset.python.folders == ("three/lib", "three/bin", "two/lib")
    assert preset.list_companions("linux", "3.4.1") == ("core.so.3",)
    assert [variant.advice for variant in preset.variants] == [
        'pip install "thing-three>=3.0"',
        'pip install "thing-two>=2.1"',
    ]
    extras = metadata_fields(config, "tiny")["optional-dependencies"]
    assert extras == {"three": ["thing-three>=3.0"], "two": ["thing-two>=2.1"]}


@pytest.mark.parametrize(
    ("version", "numbers"),
    [
        ('"text"', 0),
        ('"structure"', 3),
        ('"integer"\nscale = [100, 1]', 2),
        ('"integer"\nscale = [10000, 100, 1]', 3),
    ],
)
def test_a_library_that_reports_its_version_as_numbers_may_report_fewer_than_its_package_has(
    tmp_path, version, numbers
):
    runtime = load_described(tmp_path, DESCRIBED.replace('version = "text"', f"version = {version}")).runtime_of("tiny")
    assert runtime.numbers == numbers


@pytest.mark.parametrize(("more", "library"), [("", "thing"), (', library = "thing2"', "thing2")])
def test_a_stub_is_linked_as_its_library_is_unless_it_has_a_name_for_it(tmp_path, more, library):
    text = f'{DESCRIBED}stub = {{ functions = ["thing_run"]{more} }}\n'
    stub = load_described(tmp_path, text).runtime_of("tiny").traits.stub
    assert (stub.library, stub.packages) == (library, tuple(dict.fromkeys(("thing", library))))


@pytest.mark.parametrize("name", library_files())
def test_a_library_that_latebind_describes_is_a_preset(tmp_path, name):
    minimum = load_library(library_files()[name], {"linux"}).minimum
    runtime = f'\n[[runtime]]\npreset = "{name}"\nminimum = "{minimum}"\ndrop_in = true\n'
    project = write_thing_client(tmp_path, runtime) / "latebind.toml"
    edit(project, 'runtime = "thing"', f'runtime = "{name}"')
    # A driver, which no wheel has; mpich, whose wheel has it outside of site-packages; a part of torch, unversioned.
    if name in {"cuda", "mpi", "torch_cuda"}:
        with pytest.raises(ConfigError, match="nothing can be verified"):
            load(project)
    else:
        assert load(project).runtime_of("tiny").name == name


# -- what the audit makes of it ---------------------------------------------------------------------------------------


def audit_files(folder, files):
    """The codes of what is found in a wheel of the project that holds those files."""
    wheel = folder / "tiny-1.2.3-py3-none-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    policy = project_policy(load_described(folder / "project"))
    return {finding.code: finding for finding in audit_here([wheel], policy).findings}


def test_a_package_that_holds_the_runtime_is_refused(tmp_path):
    runtime = build_thing(tmp_path, "text", (2, 1, 0))
    by_code = audit_files(tmp_path, {"tiny/libthing.so": runtime.read_bytes()})
    assert "The Thing" in by_code["LB103"].message


def test_a_renamed_copy_is_known_by_its_entry(tmp_path):
    runtime = build_thing(tmp_path, "text", (2, 1, 0))
    by_code = audit_files(tmp_path, {"tiny/libquiet.so": runtime.read_bytes()})
    assert {"LB103", "LB104"} & set(by_code)


def test_a_library_that_links_the_runtime_is_refused(tmp_path):
    runtime = build_thing(tmp_path, "text", (2, 1, 0))
    source = tmp_path / "user.c"
    source.write_text("const char* thing_version(void);\nconst char* tiny_f(void) { return thing_version(); }\n")
    library = tmp_path / "libtiny.so"
    run_checked(
        shutil.which("cc"), "-shared", "-fPIC", "-o", runtime, tmp_path / "thing.c", "-Wl,-soname,libthing.so.2"
    )
    run_checked(shutil.which("cc"), "-shared", "-fPIC", "-o", library, source, runtime)
    by_code = audit_files(tmp_path, {"tiny/libtiny.so": library.read_bytes()})
    assert "libthing.so.2" in by_code["LB101"].message


def test_a_library_that_links_nothing_is_not_accused(tmp_path):
    source = tmp_path / "tiny.c"
    source.write_text('const char* tiny_f(void) { return "libthing.so thing_version"; }\n')
    library = tmp_path / "libtiny.so"
    build_thing(tmp_path, "text", (2, 1, 0))  # skips without a compiler
    run_checked(shutil.which("cc"), "-shared", "-fPIC", "-o", library, source)
    assert not {
        code for code in audit_files(tmp_path, {"tiny/libtiny.so": library.read_bytes()}) if code.startswith("LB1")
    }
