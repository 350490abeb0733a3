"""Reading a configuration: what is accepted, what is refused, and with which words."""

import os
import re

import pytest
from packaging.tags import mac_platforms

from latebind.backend.targets import host_rid, target, wheel_tag
from latebind.config.file import find, load
from latebind.errors import ConfigError, InputError, LatebindError
from latebind.verify.run.access import NOBODY, is_root
from tests.support.client import BOUND, CONFIG, PYPROJECT, SEVERAL, edit, write_client

NPM, NUGET = 'npm = { name = "tiny" }', 'nuget = { id = "Tiny" }'
MODULE = CONFIG.replace('"python/tiny"', '"python/tiny", kind = "cp310-abi3"')
RUNTIME = '\n[[runtime]]\npreset = "onnxruntime"\nminimum = "1.19"\n'


def read(folder, text=CONFIG, **changed):
    return load(write_client(folder, latebind=text, **changed) / "latebind.toml")


def problems(folder, text, **changed):
    with pytest.raises(ConfigError) as caught:
        read(folder, text, **changed)
    return [(problem.where, problem.message, problem.advice) for problem in caught.value.problems]


def test_a_project_with_several_packages_keeps_its_one_number():
    config = load(SEVERAL)
    assert config.runtime_of("onnxruntime").minimum == "1.19"
    assert config.runtime_of("core") is None
    names = ["several", "several-onnxruntime", "several-openvino", "several-litert", "several-customop"]
    assert [config.wheel_name(name) for name in config.packages] == names


def test_defaults(tiny):
    config = load(tiny / "latebind.toml")
    assert config.floor(target("linux-x64")) == "2.28"
    assert config.toolchain("linux-x64") == "zig"
    assert config.native_source == tiny.resolve() / "native"


EXTERNAL = ("[native]\n", '[native]\nbuild = "external"\n')


def test_a_project_with_another_build_needs_no_cmake(tiny):
    write_client(tiny, latebind=CONFIG.replace(*EXTERNAL))
    (tiny / "native" / "CMakeLists.txt").unlink()
    assert load(tiny / "latebind.toml").is_built_elsewhere


def test_what_only_latebinds_own_build_could_follow_is_refused(tiny):
    text = CONFIG.replace("[native]\n", '[native]\nbuild = "external"\ndefine = { A = true }\nhide = true\n')
    found = problems(tiny, text)
    assert [message for _, message, _ in found] == [
        'native.define has no effect with build = "external"',
        'native.hide has no effect with build = "external"',
    ]


def test_a_wheel_of_another_build_needs_a_name(tiny):
    text = CONFIG.replace('wheel = { source = "python/tiny"', 'wheel = { kind = "cpython"')
    assert problems(tiny, text)[0][1] == "the wheel has neither source nor name"


def test_a_target_has_its_own_table(tiny):
    assert read(tiny, CONFIG + '\n[targets.linux-x64]\ntoolchain = "host"\n').toolchain("linux-x64") == "host"


@pytest.mark.parametrize(
    ("change", "message", "advice"),
    [
        (("version =", "verson ="), "unknown key project.verson", "Did you mean version?"),
        (("[native]", "[nativ]"), "unknown key nativ", "Did you mean native?"),
        (("1.2.3", "one"), "'one' is not a version", "Write it as 1.2.3."),
        (("1.2.3", "v1.2.3"), "'v1.2.3' is another spelling of 1.2.3", 'Write version = "1.2.3".'),
        (("1.2.3", "1.2 "), "'1.2 ' is another spelling of 1.2", 'Write version = "1.2".'),
        (("1.2.3", "01.2rc1"), "'01.2rc1' is another spelling", 'Write version = "1.2rc1".'),
        (('"MIT"', '"MTI"'), "'MTI' is not an SPDX license expression", "Write an SPDX"),
        (("linux-x64", "linux-x86"), "'linux-x86' is not a target", "Did you mean linux-x64?"),
        (("glibc", "glbc"), "unknown key targets.glbc", "Did you mean glibc?"),
        (('"2.28"', '"2,28"'), "targets.glibc cannot be '2,28'", "Oldest supported glibc"),
        (('"2.28"', "2.20"), "targets.glibc must be a string, not a number", "Write the value in quot"),
        (("2.28", "2.5"), "linux-x64 cannot be built for glibc 2.5:", 'Write glibc = "2.17" or n'),
        (('["tiny_*"]', "[]"), "package.tiny.exports must not be empty", "Write at least one"),
        (('"tiny"\nexports', "7\nexports"), "package.tiny.component must be a string", "Write"),
        (('id = "Tiny"', 'id = "Ti ny"'), "package.tiny.nuget.id cannot be 'Ti ny'", "Id of"),
        (('"Tiny"', f'"{101 * "T"}"'), "package.tiny.nuget.id must have at most 100 char", "Id of"),
        (('"Tiny"', f'"{99 * "T"} "'), "package.tiny.nuget.id cannot be 'TTT", "Id of"),
        (('Tiny"', 'Tiny", runtime = "Ac me"'), "package.tiny.nuget.runtime cannot be 'A", "Id of"),
        (("Adds numbers", 4001 * "x"), "project.description must have at most 4000", "One-line"),
        (('id = "Tiny"', 'id = "Tiny", split = "yes"'), "package.tiny.nuget.split", "Whether"),
        (('id = "Tiny"', 'id = "Tiny", split = 1'), "package.tiny.nuget.split", ""),
        (('id = "Tiny"', 'name = "Tiny"'), "unknown key package.tiny.nuget.name", "Known"),
        (("exports = ", "extras = 1\nexports = "), "unknown key package.tiny.extras", "Did you"),
        (('n/tiny"', 'n/tiny", extras = "channels"'), "package tiny asks for extras but", ""),
        (('n/tiny"', 'n/tiny", runtime = "required"'), "package tiny asks for a required r", ""),
        (('n/tiny"', 'n/tiny", runtime = "always"'), "package.tiny.wheel.runtime", ""),
        (('n/tiny"', 'n/tiny", module_name = "my-tiny"'), "'my-tiny' is not the name", "Write"),
        (('n/tiny"', 'n/tiny", module_name = "a.class"'), "'a.class' is not the name", "Write"),
        (('["Somebody"]', '["A <a>"]'), "'A <a>' is not the name of an author", "Write the na"),
        (('"native"', '"nativ"'), "the native source nativ/CMakeLists.txt does not exist", "Set n"),
        (('"native"', '"../.."'), "the native source ../.. is outside", ""),
    ],
)  # fmt: skip
def test_a_mistake_names_its_key_and_the_way_out(tmp_path, change, message, advice):
    reported = problems(tmp_path, CONFIG.replace(*change))
    assert any(message in text and hint.startswith(advice) for _, text, hint in reported), reported
    assert all(re.search(r"toml: \w+[.\w]+|\w\.\w|unknown key", f"{where} {text}") for where, text, _ in reported)


@pytest.mark.parametrize(
    ("more", "message", "advice"),
    [
        (RUNTIME.replace("onnxruntime", "onnxrunime"), "'onnxrunime' is not a known", "Did you mean onnx"),
        (RUNTIME.replace("1.19", "1.18"), "ONNX Runtime 1.18 cannot be the minimum: no wheel before 1.19", "Write min"),
        (RUNTIME.replace("1.19", "new"), "'new' does not have two or three numbers", "Write it as 1.19"),
        (RUNTIME.replace("1.19", "99"), "'99' does not have two or three numbers", "Write it as 1.19 or 1.19.2."),
        (RUNTIME.replace('"1.19"', "1.19"), "runtime[0].minimum must be a string, not a number", "Write the value in"),
        (RUNTIME + 'headers = "include"\n', "headers has an effect only with drop_in", "Write drop_in = true"),
        (RUNTIME + 'drop_in = true\nheaders = "nowhere"\n', "the folder nowhere does not exist", "Name the folder"),
        (RUNTIME + 'policy = "never-linkd"\n', "runtime[0].policy cannot be", "Did you mean never-linked?"),
        (RUNTIME + '[verify]\nruntimes.onnxruntime = ["latst"]\n', "'latst' is not a version", "Did you mean latest?"),
        (RUNTIME + '[verify]\nruntimes.openvino = ["latest"]\n', "'openvino' is not a [[runtime]]", "Known: onnx"),
        ("[verify]\nat_least = { latest = 1 }\n", "'latest' is not a version", "Write the runtime version"),
        (
            '[verify]\ndata = { script = "a.py", requires = { latest = ["onnx"] } }\n',
            "'latest' is not a version",
            "Write the runtime version from which they apply",
        ),
        (
            RUNTIME + RUNTIME.replace("onnxruntime", "openvino").replace("1.19", "2025.1")
            + '[verify]\ndata = { script = "a.py", requires = { "1.31" = ["onnx"] } }\n',
            "the versions in verify.data.requires are versions of onnxruntime, not of openvino",
            "Add [verify.own.openvino]",
        ),
        ('[[audit.waive]]\ncode = "LB101"\nreason = ""\n', "audit.waive[0].reason must not be empty", ""),
        ('[package.two]\ncomponent = "tiny"\nexports = ["*"]\nrequires = ["x"]\n', "'x' is not another", ""),
        (RUNTIME, "no package binds onnxruntime", 'Write runtime = "onnxruntime" below [package.tiny], or remove'),
        ('[package.two]\ncomponent = "tiny"\nexports = ["*"]\nruntime = "x"\n', "'x' is not a [[runtime]]", ""),
    ],
)  # fmt: skip
def test_a_mistake_in_what_is_added(tmp_path, more, message, advice):
    reported = problems(tmp_path, CONFIG + more)
    assert any(text.startswith(message) and hint.startswith(advice) for _, text, hint in reported), reported


ANOTHER = "another package of this project"
OTHER_KIND = """
[package.two]
component = "two"
exports = ["*"]
wheel = { source = "python/two", kind = "cp311-abi3" }
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            CONFIG.replace('source = "native"', 'build = "external"\nsource = "src"'),
            "the native source src is not a folder",
        ),
        (f'{CONFIG}runtime = "onnxrunime"\n{RUNTIME}', "'onnxrunime' is not a [[runtime]] of this project"),
        *(
            (CONFIG.replace("exports = [", f'requires = ["{name}"]\nexports = ['), f"'{name}' is not {ANOTHER}")
            for name in ("tiny", "tinny")
        ),
        (f'{CONFIG}\n[verify]\nat_least = {{ "1.19" = -5 }}\n', "verify.at_least.1.19 must be >= 0"),
        (MODULE, "package tiny contains a Python module, which no NuGet package can use"),
        (MODULE.replace(NUGET, NPM), "package tiny contains a Python module, which no npm package can use"),
        (
            MODULE.replace(NUGET, "").replace("cp310-abi3", "cpython") + OTHER_KIND,
            "package.two.wheel.kind is cp311-abi3, but another package has cpython",
        ),
        (
            BOUND.replace('n/tiny"', 'n/tiny", runtime = "required", extras = "channels"'),
            "package tiny requires a distribution of the runtime, and has extras that install another one over it",
        ),
    ],
)
def test_a_mistake_is_one_problem(tmp_path, text, message):
    (problem,) = problems(tmp_path, text)
    assert problem[1] == message


@pytest.mark.parametrize(
    ("more", "installs"), [("", False), (', runtime = "required"', True), (', extras = "channels"', True)]
)
def test_a_wheel_installs_the_runtime_that_it_requires_or_has_as_an_extra(tmp_path, more, installs):
    config = read(tmp_path, BOUND.replace('n/tiny"', f'n/tiny"{more}'))
    assert config.packages["tiny"].wheel.installs_runtime is installs


def test_one_case_must_pass_up_to_the_first_version_for_which_a_count_is_set(tmp_path):
    config = read(tmp_path, BOUND + '\n[verify]\nat_least = { "1.20" = 5, "1.22" = 9 }\n')
    settings = config.verification_of(config.runtime_of("tiny"))
    assert [settings.count_required(version) for version in ("", "1.19.2", "1.20.1", "1.23.0")] == [1, 1, 5, 9]


@pytest.mark.parametrize("native_only", [False, True])
def test_a_runtime_is_tried_on_emulated_machines_unless_its_settings_exclude_them(tmp_path, native_only):
    config = read(tmp_path, BOUND + "\n[verify]\nown.onnxruntime.native_only = true\n" * native_only)
    assert config.verification_of(config.runtime_of("tiny")).native_only is native_only


def test_without_a_name_the_target_is_that_of_this_machine(tmp_path):
    here = host_rid()
    other = next(rid for rid in ("linux-x64", "linux-arm64") if rid != here)
    text = CONFIG.replace('["linux-x64"]', f'["{other}", "{here}"]')
    assert read(tmp_path / "both", text).choose_targets(()) == [here]
    with pytest.raises(LatebindError, match=f"this machine is {here}, which is not a target of the project") as caught:
        read(tmp_path / "other", text.replace(f', "{here}"', "")).choose_targets(())
    assert caught.value.advice == f"Name one: --target {other}"


@pytest.mark.parametrize("floor", ['glibc = "2.028"', 'macos = "12.3"', 'macos = "13.00"', 'macos = "11"'])
def test_a_floor_whose_wheel_no_installer_would_take_is_refused(tmp_path, floor):
    (problem,) = problems(tmp_path, CONFIG.replace('glibc = "2.28"', floor))
    key, _, version = floor.partition(" = ")
    assert problem[1] == f"targets.{key} cannot be {version.replace(chr(34), chr(39))}"


@pytest.mark.parametrize(
    "binding", ['runtime = "onnxruntime"\n', '[package.onnxruntime]\ncomponent = "o"\nexports = ["*"]\n']
)
def test_a_runtime_is_bound_by_a_key_or_by_the_name_of_a_package(tmp_path, binding):
    assert [runtime.name for runtime in read(tmp_path, CONFIG + binding + RUNTIME).document.runtime] == ["onnxruntime"]


def test_the_copy_in_a_release_is_read_without_the_headers_that_it_names(tmp_path):
    text = CONFIG + 'runtime = "onnxruntime"\n' + RUNTIME + 'drop_in = true\nheaders = "third_party"\n'
    file = tmp_path / "latebind.toml"
    file.write_text(text, encoding="utf-8")

    assert load(file, alone=True).document.runtime[0].headers == "third_party"


@pytest.mark.parametrize("major", [*range(11, 16), 26])
def test_every_whole_macos_is_a_floor_and_a_tag_that_installers_know(tmp_path, major):
    config, mac = read(tmp_path, CONFIG.replace('glibc = "2.28"', f'macos = "{major}.0"')), target("osx-arm64")
    assert wheel_tag(mac, config.floor(mac)) in mac_platforms((major, 5), "arm64")


@pytest.mark.parametrize(
    "kind", ["abi3", "cp310", "cp310-abi", "cp31-abi3", "cp3-abi3", "cp309-abi3", "cp399-abi3", "py2-none", ""]
)
def test_a_kind_of_wheel_that_there_is_not_is_answered_with_those_that_there_are(tmp_path, kind):
    (problem,) = problems(tmp_path, CONFIG.replace('"python/tiny"', f'"python/tiny", kind = "{kind}"'))
    assert problem[1] == f"package.tiny.wheel.kind: {kind!r} is not a kind of wheel"
    assert '"py3-none", "cpython", or the oldest CPython to support: cp32-abi3 to cp31' in problem[2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"tiny" }', '"Tiny" }'), "package.tiny.npm.name cannot be 'Tiny'"),
        (('"tiny" }', '"@acme/tiny/more" }'), "package.tiny.npm.name cannot be '@acme/tiny/more'"),
        (('"tiny" }', f'"{"t" * 200}" }}'), "npm does not accept"),
        (('"tiny" }', '"node_modules" }'), "npm does not accept 'node_modules'"),
        (('"tiny" }', '"fs" }'), "npm does not accept 'fs'"),
        *(
            (
                ('"tiny" }', f'"tiny", dependencies = {{ koffi = "{wrong}" }} }}'),
                f'koffi = "{wrong}" is not the name of an npm',
            )
            for wrong in ("", "not a range!", "file:../koffi", "workspace:*", "1.2.3.4", "^", "3 ||")
        ),
        (('"tiny" }', '"tiny", dependencies = { tiny = "^1" } }'), "tiny is the package itself"),
    ],
)
def test_what_npm_would_refuse_is_refused(tmp_path, change, message):
    (problem,) = problems(tmp_path, CONFIG.replace(NUGET, NPM.replace(*change)))
    assert message in problem[1]


@pytest.mark.parametrize(
    "spelling",
    ["^3", "*", "3.x", ">=1.2 <2", "1.2 - 2.3", "~1.2.3-beta.1 || ^2", "latest", "npm:other@^1", ">= 1", "=v1.0.0"],
)
def test_every_spelling_of_a_range_of_npm_is_taken(tmp_path, spelling):
    npm = NPM.replace('"tiny" }', f'"tiny", dependencies = {{ koffi = "{spelling}" }} }}')
    assert read(tmp_path, CONFIG.replace(NUGET, npm))


def test_a_wheel_source_has_the_wheels_name(tmp_path):
    write_client(tmp_path)
    edit(tmp_path / "python" / "tiny" / "pyproject.toml", 'name = "tiny"', 'name = "Tin_Y"')
    named = CONFIG.replace('source = "python/tiny"', 'source = "python/tiny", name = "tin.y"')
    (tmp_path / "latebind.toml").write_text(named, encoding="utf-8")
    assert load(tmp_path / "latebind.toml").wheel_name("tiny") == "tin.y"
    (tmp_path / "latebind.toml").write_text(CONFIG, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"named Tin_Y in .*pyproject\.toml, but tiny in latebind\.toml"):
        load(tmp_path / "latebind.toml")


def test_a_wheel_source_has_a_backend_that_runs_the_hooks(tmp_path):
    backend = PYPROJECT.replace("hatchling.build", "setuptools.build_meta")
    ((where, message, advice),) = problems(tmp_path, CONFIG, pyproject=backend)
    assert message.startswith("setuptools.build_meta does not run latebind's hooks")
    assert where == f"{tmp_path}/python/tiny/pyproject.toml: build-system.build-backend"
    assert advice.startswith('Write build-backend = "hatchling.build"')


@pytest.mark.parametrize(
    ("system", "backend"),
    [
        ("", "setuptools"),
        ('[build-system]\nrequires = ["hatchling"]\nbuild-backend = "own"\n', "own"),
        ('[build-system]\nrequires = ["hatchling"]\nbuild-backend = "own"\nbackend-path = ["."]\n', ""),
    ],
)
def test_a_backend_of_the_projects_own_may_wrap_hatchling(tmp_path, system, backend):
    pyproject = f'{system}[project]\nname = "tiny"\n'
    if backend:
        with pytest.raises(ConfigError, match=f"{backend} does not run latebind's hooks"):
            read(tmp_path, pyproject=pyproject)
    else:
        assert read(tmp_path, pyproject=pyproject).wheel_name("tiny") == "tiny"


@pytest.mark.parametrize("text", ["[project", "[project]\nname = 3\n", "project = 1\n", "\0"])
def test_what_is_wrong_in_pyproject_is_reported_by_its_backend(tmp_path, text):
    assert read(tmp_path, pyproject=text).wheel_name("tiny") == "tiny"


def test_all_problems_come_at_once(tmp_path):
    text = CONFIG.replace("name = ", "nam = ").replace("exports", "export").replace('source = "native"', "source = 1")
    assert len(problems(tmp_path, text)) == 3


@pytest.mark.parametrize("text", ["a = ", "[a\n", "\0", "a = 1\na = 2", "[[a]]\n[a]\n", "\ufeffa=1]"])
def test_what_is_not_toml_is_refused_in_one_line(tmp_path, text):
    file = tmp_path / "latebind.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="not TOML") as caught:
        load(file)
    assert "Correct the line" in caught.value.advice


def test_what_is_not_toml_names_the_line_where_reading_stopped(tmp_path):
    file = tmp_path / "latebind.toml"
    file.write_text('[project]\nname = "tiny\nversion = "1.0"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"not TOML: .* \(at line 2, column 13\)"):
        load(file)


def test_a_comment_with_quotation_marks_moves_no_problem_to_another_key(tmp_path):
    text = CONFIG.replace("[project]", '[project] # """').replace('"2.28"', '"2,28"')
    assert problems(tmp_path, text)[0][:2] == ("latebind.toml", "targets.glibc cannot be '2,28'")


def test_pyproject_holds_a_configuration_too(tmp_path):
    write_client(tmp_path)
    document = CONFIG
    for table in ("project", "native", "targets", "package.tiny"):
        document = document.replace(f"[{table}]", f"[tool.latebind.{table}]")
    (tmp_path / "pyproject.toml").write_text(document.replace("glibc", "glbc"), encoding="utf-8")
    (tmp_path / "latebind.toml").unlink()

    file = find(tmp_path / "native")

    assert file == tmp_path / "pyproject.toml"
    with pytest.raises(ConfigError, match=r"pyproject\.toml: unknown key targets\.glbc"):
        load(file)


def test_the_search_stops_at_the_repository(tmp_path):
    write_client(tmp_path)
    inner = tmp_path / "inner"
    (inner / ".git").mkdir(parents=True)
    with pytest.raises(InputError, match=r"no latebind\.toml"):
        find(inner)


def test_a_file_above_that_every_user_may_change_is_refused(tmp_path):
    write_client(tmp_path)
    (tmp_path / "latebind.toml").chmod(0o666)
    with pytest.raises(InputError, match=f"is above {tmp_path / 'native'} and can be changed by every user"):
        find(tmp_path / "native")
    assert find(tmp_path) == tmp_path / "latebind.toml"
    (tmp_path / "native").chmod(0o777)  # as all files on a Windows disk in WSL: then it protects nothing
    assert find(tmp_path / "native") == tmp_path / "latebind.toml"


@pytest.mark.skipif(not is_root(), reason="not run: only root can give files to other users")
def test_a_file_above_that_belongs_to_another_user_is_refused(tmp_path):
    write_client(tmp_path)
    os.chown(tmp_path / "latebind.toml", NOBODY, NOBODY)
    with pytest.raises(InputError, match=rf"belongs to another user \(uid {NOBODY}\)") as caught:
        find(tmp_path / "native")
    assert caught.value.advice == f"If you trust it, name its folder: latebind -C {tmp_path} ..."
    assert find(tmp_path) == tmp_path / "latebind.toml"
    os.chown(tmp_path / "native", NOBODY, NOBODY)  # the whole checkout is that user's
    assert find(tmp_path / "native") == tmp_path / "latebind.toml"


@pytest.mark.parametrize("version", ["1.2rc1", "1.0.0-beta.2", "1.2.3.post1", "1.2.dev3", "2!1.0", "1.2+local.1"])
def test_every_form_of_a_version_but_its_odd_spellings_is_accepted(tmp_path, version):
    assert read(tmp_path, CONFIG.replace("1.2.3", version)).project.version == version


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'name = "tiny"',
            'name = "../../tiny"',
            "project.name contains one of / \\ :, but file names contain the project's name",
        ),
        ('name = "tiny"', r'name = "tiny\njobs: {}"', "project.name has line breaks or control characters"),
        ("[project]", '[project]\nrepository = "https://x\\nLibs: -levil"', "project.repository has line breaks"),
        ("[project]", '[project]\nreadme = "\\u202Eevil"', "project.readme has line breaks or control"),
        ("[project]", '["x\\n::error::y"]\n[project]', "has line breaks or control characters"),
    ],
)
def test_texts_that_would_break_file_names_or_generated_files_are_refused(tmp_path, old, new, message):
    texts = [text for _, text, _ in problems(tmp_path / "tiny", CONFIG.replace(old, new, 1))]
    assert [text for text in texts if message in text]


def test_a_reason_may_have_several_lines(tmp_path):
    reason = '[[audit.waive]]\ncode = "LB101"\nreason = """one\ntwo"""\n'
    assert read(tmp_path, f"{CONFIG}\n{reason}").document.audit.waive[0].reason == "one\ntwo"


@pytest.mark.parametrize(
    ("named", "module"), [("", "tiny_core"), ('module_name = "cv2", ', "cv2"), ('module_name = "a.b", ', "a.b")]
)
def test_the_import_name_follows_from_the_distributions_unless_it_is_given(tmp_path, named, module):
    text = CONFIG.replace('source = "python/tiny"', f'{named}source = "python/tiny", name = "Tiny-Core"')
    pyproject = PYPROJECT.replace('name = "tiny"', 'name = "Tiny-Core"')
    assert read(tmp_path, text, pyproject=pyproject).module_name("tiny") == module


def test_an_author_may_have_an_address(tmp_path):
    project = read(tmp_path, CONFIG.replace('["Somebody"]', '["A Person <a@acme.org>", "B"]')).project
    assert project.people == (("A Person", "a@acme.org"), ("B", ""))
    assert project.author_names == ("A Person", "B")
