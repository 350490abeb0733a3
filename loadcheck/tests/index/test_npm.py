"""`--resolve` for npm packages: what dependencies install is read from npm's registry, for each platform."""

import base64

import pytest
from index.npmserver import NpmServer

from corpus.packages import GLIBC
from loadcheck.audit import audit_here, audit_paths
from loadcheck.engine.policy import Policy
from loadcheck.index.npmrc import read_npm_settings
from loadcheck.index.semver import find_admitted
from loadcheck.reports.console import audit_text

NEEDED = "needs libodd.so.3; no requirement brings it"
FIRST = "prebuilds/linux-x64/libtiny.so"
TARBALL = "/npm/tarballs/acme-1.0.0.tgz"
ON_X64 = {"os": ["linux"], "cpu": ["x64"], "libc": ["glibc"]}


@pytest.fixture
def registry(tmp_path_factory, monkeypatch):
    """A registry as the only one of this machine's npm, an empty cache, and no file of npm."""
    folder = tmp_path_factory.mktemp("npm")
    with NpmServer() as running:
        monkeypatch.setenv("npm_config_registry", running.url)
        monkeypatch.setenv("npm_config_userconfig", str(folder / "none"))
        monkeypatch.setenv("npm_config_globalconfig", str(folder / "none"))
        monkeypatch.delenv("npm_config_offline", raising=False)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("LOADCHECK_CACHE_DIR", str(folder / "cache"))
        monkeypatch.chdir(folder)
        yield running
        running.shutdown()


@pytest.fixture
def odd(bench):
    """The library libodd.so.3."""
    return {"lib/libodd.so.3": build_odd(bench).read_bytes()}


def build_odd(bench, target=GLIBC):
    return bench.compiler.library(
        "int odd(void) { return 1; }\n", "-Wl,-soname,libodd.so.3", target=target, name="libodd.so"
    )


@pytest.fixture
def user(bench):
    """An npm package with libraries for some processors that need libodd.so.3."""

    def make(targets=(GLIBC,), source="extern int odd(void);\nint f(void) { return odd(); }\n", **fields):
        files = {}
        for target in targets:
            cpu = {"x86_64": "x64", "aarch64": "arm64"}[target.partition("-")[0]]
            library = bench.compiler.library(source, build_odd(bench, target), target=target)
            files[f"prebuilds/linux-{cpu}/libtiny.so"] = library.read_bytes()
        return bench.npm(files, **fields)

    return make


def audit(paths, *, resolve=True):
    report = audit_here(paths, Policy(resolve=resolve))
    return [
        (each.subject.partition("!package/")[2], each.message) for each in report.findings if each.code == "LB107"
    ], [each.reason for each in report.undecided]


def test_without_resolve_what_is_not_known_is_one_line(registry, user):
    report = audit_here(user(dependencies={"@acme/libodd": "1.2.3"}))

    assert "libodd.so.3 may come from libodd, which was not read (--resolve)\n" in audit_text(report)
    assert registry.asked == []


@pytest.mark.parametrize("key", ["dependencies", "optionalDependencies", "peerDependencies"])
def test_a_library_that_a_dependency_of_a_dependency_installs_is_not_missing(registry, user, odd, key):
    registry.add("acme", dependencies={"@acme/odd": "~1.0.0"})
    registry.add("@acme/odd", odd)

    assert audit(user(**{key: {"acme": "^1.0.0"}})) == ([], [])


def test_a_library_that_no_dependency_installs_is_missing(registry, user):
    registry.add("acme", {"lib/libodd.so.2": b""})
    paths = user(dependencies={"acme": "^1.0.0"})

    assert audit(paths) == ([(FIRST, NEEDED)], [])
    [finding] = [each for each in audit_here(paths, Policy(resolve=True)).findings if each.code == "LB107"]
    assert "acme 1.0.0 has lib/libodd.so.2" in finding.evidence


@pytest.mark.parametrize(
    ("fields", "without", "is_installed"),
    [
        ({}, (), True),
        (ON_X64, (), True),
        ({"os": "linux"}, (), True),
        ({"os": ["!win32"]}, (), True),
        ({"cpu": ["any"]}, (), True),
        ({"os": ["darwin"]}, (), False),
        ({"os": ["!linux"]}, (), False),
        ({"cpu": ["arm64"]}, (), False),
        ({"libc": ["musl"]}, (), False),
        ({"libc": ["musl"]}, ("libc",), False),
        ({"libc": ["glibc"]}, ("libc",), True),
    ],
)
@pytest.mark.parametrize("key", ["dependencies", "optionalDependencies"])
def test_what_npm_installs_on_another_platform_brings_nothing(registry, user, odd, key, fields, without, is_installed):
    registry.add("acme-native", odd, without=without, **fields)

    assert audit(user(**{key: {"acme-native": "1.0.0"}})) == ([] if is_installed else [(FIRST, NEEDED)], [])


def test_what_npm_installs_on_musl_alone_brings_nothing_to_a_library_for_glibc(registry, user, odd):
    registry.add("acme-native", odd, libc=["musl"])
    source = "#include <unistd.h>\nextern int odd(void);\nint f(void) { return odd() + getpid(); }\n"
    paths = user(source=source, libc=None, optionalDependencies={"acme-native": "1.0.0"})

    assert audit(paths) == ([(FIRST, NEEDED)], [])


def test_each_processor_gets_its_own_packages(registry, user, odd):
    arm = GLIBC.replace("x86_64", "aarch64")
    registry.add("acme-x64", odd, **ON_X64)
    paths = user((GLIBC, arm), cpu=["x64", "arm64"], optionalDependencies={"acme-x64": "1", "acme-arm64": "1"})
    registry.add("acme-arm64", {}, **{**ON_X64, "cpu": ["arm64"]})

    assert audit(paths) == ([("prebuilds/linux-arm64/libtiny.so", NEEDED)], [])


def test_a_tarball_for_another_platform_is_not_downloaded(registry, user, odd):
    path = registry.add("acme-mac", odd, os=["darwin"])

    audit(user(optionalDependencies={"acme-mac": "1"}))

    assert path not in [asked for asked, _ in registry.asked]


@pytest.mark.parametrize(
    ("range_", "versions", "latest", "chosen"),
    [
        ("^1.0.0", ["1.0.0", "1.5.0", "2.0.0"], "2.0.0", "1.5.0"),
        ("*", ["1.0.0", "1.5.0", "2.0.0"], "1.5.0", "1.5.0"),
        ("latest", ["1.0.0", "2.0.0"], "1.0.0", "1.0.0"),
        ("", ["1.0.0", "2.0.0"], "1.0.0", "1.0.0"),
        (">=1 <2 || >=3", ["1.0.0", "2.0.0"], "2.0.0", "1.0.0"),
        ("npm:acme@1", ["1.0.0", "2.0.0"], "2.0.0", "1.0.0"),
    ],
)
def test_the_version_that_npm_chooses_counts(registry, user, odd, range_, versions, latest, chosen):
    for version in versions:
        registry.add("acme", odd if version == chosen else {}, version, latest)

    assert audit(user(dependencies={"other" if range_.startswith("npm:") else "acme": range_})) == ([], [])
    tarballs = [path for path, _ in registry.asked if "tarballs" in path]
    assert [path.rpartition("-")[2] for path in tarballs] == [f"{chosen}.tgz"]


def test_a_deprecated_version_is_the_last_choice(registry, user, odd):
    registry.add("acme", odd, "1.0.0", latest="2.0.0")
    registry.add("acme", {}, "1.1.0", latest="2.0.0", deprecated="broken")

    assert audit(user(dependencies={"acme": "^1"})) == ([], [])


@pytest.mark.parametrize(
    ("range_", "says"),
    [
        ("file:../acme", "acme: is required by an address"),
        ("github:acme/acme", "acme: is required by an address"),
        ("acme/acme", "acme: is required by an address"),
        ("https://example.org/acme.tgz", "acme: is required by an address"),
        ("^7", "acme: the registry has no version for ^7"),
        ("not a range", "acme: the registry has no version for not a range"),
    ],
)
def test_what_cannot_be_chosen_is_undecided(registry, user, odd, range_, says):
    registry.add("acme", odd)

    found, [reason] = audit(user(dependencies={"acme": range_}))

    assert found == []
    assert reason == f"libodd.so.3 may come from acme, which was not read; {says}"


@pytest.mark.parametrize("scripts", [{"install": "node get.js"}, {"postinstall": "node get.js"}])
def test_a_dependency_with_a_script_may_get_the_library(registry, user, scripts):
    registry.add("acme", scripts=scripts)

    found, [reason] = audit(user(dependencies={"acme": "1"}))

    assert found == []
    assert "runs a script when it is installed, which may get libraries" in reason


def test_offline_without_a_cache_is_undecided_and_with_one_decided(registry, user, odd, monkeypatch):
    registry.add("acme", odd)
    paths = user(dependencies={"acme": "1"})
    monkeypatch.setenv("NPM_CONFIG_OFFLINE", "true")

    found, [reason] = audit(paths)

    assert found == []
    assert "is not in the cache, and npm is set to be offline" in reason
    assert registry.asked == []
    monkeypatch.delenv("NPM_CONFIG_OFFLINE")
    assert audit(paths) == ([], [])
    monkeypatch.setenv("NPM_CONFIG_OFFLINE", "true")
    registry.asked.clear()
    assert audit(paths) == ([], [])
    assert registry.asked == []


def test_a_registry_that_is_not_known_or_does_not_answer_is_undecided(registry, user, monkeypatch):
    paths = user(dependencies={"acme": "1"})
    assert "the server answered 404" in audit(paths)[1][0]
    monkeypatch.delenv("npm_config_registry")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")

    report = audit_paths(paths, Policy(resolve=True))  # nor is an index of Python's packages needed

    assert "no npm registry is configured, and no npm is installed here" in report.undecided[0].reason


def test_a_package_that_is_audited_with_it_counts_as_released(registry, user, odd, bench):
    paths = user(dependencies={"@acme/odd": "7.0.0"})
    beside = bench.npm(odd, name="@acme/odd", version="7.0.0")

    assert audit([*paths, *beside]) == ([], [])
    assert len(audit(paths)[1]) == 1


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda server: server.answers.update({TARBALL: lambda request: request.answer(b"x")}), "another hash"),
        (lambda server: server.answers.pop(TARBALL), "the server answered 404"),
        (lambda server: server.projects["acme"].update(versions=[]), "not JSON of an npm registry"),
        (lambda server: set_tarball(server, "file:///etc/passwd"), "not https"),
        (lambda server: set_tarball(server, "http://[x"), "not https"),
        (lambda server: set_tarball(server, None), "not https"),
    ],
)
def test_a_registry_is_not_trusted(registry, user, odd, damage, says):
    registry.add("acme", odd)
    damage(registry)

    found, [reason] = audit(user(dependencies={"acme": "1"}))

    assert found == []
    assert says in reason


def set_tarball(registry, url):
    registry.projects["acme"]["versions"]["1.0.0"]["dist"]["tarball"] = url


def test_a_circle_of_dependencies_ends(registry, user):
    registry.add("acme", dependencies={"other": "1"})
    registry.add("other", dependencies={"acme": "1"})

    assert audit(user(dependencies={"acme": "1"})) == ([(FIRST, NEEDED)], [])


def test_too_many_dependencies_are_not_read(registry, user, monkeypatch):
    monkeypatch.setattr("loadcheck.index.npm._MOST_PACKAGES", 1)
    registry.add("acme", dependencies={"other": "1"})

    assert "other: is one of too many dependencies" in audit(user(dependencies={"acme": "1"}))[1][0]


# ---- configuration --------------------------------------------------------------------------------------------------


def test_credentials_go_to_their_registry_alone(registry, user, odd, tmp_path, monkeypatch):
    registry.add("acme", odd)
    host = f"//127.0.0.1:{registry.server_port}/npm/"
    (tmp_path / "npmrc").write_text(f"{host}:_authToken=${{ACME_TOKEN}}\n")
    monkeypatch.setenv("ACME_TOKEN", "secret")
    monkeypatch.setenv("npm_config_userconfig", str(tmp_path / "npmrc"))
    registry.answers["/elsewhere"] = registry.answers[TARBALL]
    registry.answers[TARBALL] = lambda request: request.answer(b"", 302, Location="/elsewhere")

    assert audit(user(dependencies={"acme": "1"})) == ([], [])

    sent = {path: headers.get("Authorization") for path, headers in registry.asked}
    assert sent == {"/npm/acme": "Bearer secret", TARBALL: "Bearer secret", "/elsewhere": None}


BASIC = base64.b64encode(b"me:pass").decode()


@pytest.mark.parametrize(
    ("text", "url", "header"),
    [
        ("//a.org/x/:_authToken=t", "https://a.org/x/y/z.tgz", "Bearer t"),
        ("//a.org/x/:_authToken=t", "https://a.org/other", ""),
        ("//a.org/x/:_authToken=t", "https://b.org/x/y", ""),
        (f"//a.org/:_auth={BASIC}", "https://a.org/x", f"Basic {BASIC}"),
        ("//a.org/:username=me\n//a.org/:_password=cGFzcw==", "https://a.org/x", f"Basic {BASIC}"),
        ("//a.org/:_authToken=t\n//a.org/x/:_authToken=u", "https://a.org/x/y", "Bearer u"),
    ],
)
def test_credentials_are_those_of_the_nearest_folder(registry, tmp_path, text, url, header):
    (tmp_path / "npmrc").write_text(text)
    settings = read_npm_settings({"NPM_CONFIG_USERCONFIG": str(tmp_path / "npmrc")})

    assert settings.find_credentials(url) == header


@pytest.mark.parametrize(
    ("file", "variables", "package", "url"),
    [
        ("registry=https://a.org/npm/", {}, "acme", "https://a.org/npm"),
        ("; registry=https://c.org\n# no\nregistry = 'https://a.org'", {}, "acme", "https://a.org"),
        ("registry=https://a.org", {"npm_config_registry": "https://b.org"}, "acme", "https://b.org"),
        ("registry=https://a.org", {"NPM_CONFIG_REGISTRY": "https://b.org"}, "acme", "https://b.org"),
        ("registry=https://a.org\n@acme:registry=https://c.org", {}, "@acme/x", "https://c.org"),
        ("registry=https://a.org\n@acme:registry=https://c.org", {}, "@other/x", "https://a.org"),
        ("registry=https://${HOST}/x${NONE?}", {"HOST": "d.org"}, "acme", "https://d.org/x"),
        ("", {}, "acme", ""),
    ],
)
def test_the_registry_is_the_one_of_npm(registry, tmp_path, file, variables, package, url):
    (tmp_path / "npmrc").write_text(file)

    settings = read_npm_settings({"npm_config_userconfig": str(tmp_path / "npmrc"), **variables})

    assert settings.find_registry(package) == url


@pytest.mark.parametrize("name", ["node_modules/@npmcli/config/lib/definitions", "lib/utils/config"])
def test_without_configuration_it_is_the_one_that_npm_has_built_in(registry, tmp_path, name):
    folder = tmp_path / "lib/node_modules/npm"
    (folder / name).mkdir(parents=True)
    (folder / name / "definitions.js").write_text("new Definition('registry', {\n    default: 'https://a.org/',\n")
    (folder / "bin").mkdir()
    (folder / "bin/npm-cli.js").write_text("#!/bin/sh\n")
    (folder / "bin/npm-cli.js").chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/npm").symlink_to(folder / "bin/npm-cli.js")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/npmrc").write_text("@acme:registry=https://b.org")

    settings = read_npm_settings({"PATH": str(tmp_path / "bin"), "npm_config_userconfig": "/dev/null"})

    assert settings.find_registry("x") == "https://a.org"
    assert settings.find_registry("@acme/x") == "https://b.org"


# ---- the ranges of node-semver, with the results of its version 7.8.5 -----------------------------------------------

VERSIONS = [
    *("0.0.3", "0.0.4", "0.1.0", "0.2.5", "1.0.0", "1.2.0", "1.2.3", "1.2.4-beta.2", "1.2.4-beta.11", "1.2.4"),
    *("1.10.0", "2.0.0-rc.1", "2.0.0", "2.3.1", "3.0.0-alpha"),
]


@pytest.mark.parametrize(
    ("range_", "admitted"),
    [
        ("^0.0.3", "0.0.3"),
        ("^0.1", "0.1.0"),
        ("^0", "0.0.3 0.0.4 0.1.0 0.2.5"),
        ("^1.2.3", "1.2.3 1.2.4 1.10.0"),
        ("^1.2.4-beta.3", "1.2.4-beta.11 1.2.4 1.10.0"),
        ("~1.2.3", "1.2.3 1.2.4"),
        ("~> 1", "1.0.0 1.2.0 1.2.3 1.2.4 1.10.0"),
        ("1.2", "1.2.0 1.2.3 1.2.4"),
        ("1.2.x", "1.2.0 1.2.3 1.2.4"),
        ("1.x", "1.0.0 1.2.0 1.2.3 1.2.4 1.10.0"),
        ("v1.2.3", "1.2.3"),
        ("=1.2.3", "1.2.3"),
        ("1.2.3 - 2", "1.2.3 1.2.4 1.10.0 2.0.0 2.3.1"),
        ("1.2.3 - 2.0.0", "1.2.3 1.2.4 1.10.0 2.0.0"),
        (">1.2", "1.10.0 2.0.0 2.3.1"),
        ("> 1.2.4 < 2.3", "1.10.0 2.0.0"),
        ("<=1.2", "0.0.3 0.0.4 0.1.0 0.2.5 1.0.0 1.2.0 1.2.3 1.2.4"),
        ("<0.1", "0.0.3 0.0.4"),
        ("0.0.3 || >=2.3", "0.0.3 2.3.1"),
        ("", "0.0.3 0.0.4 0.1.0 0.2.5 1.0.0 1.2.0 1.2.3 1.2.4 1.10.0 2.0.0 2.3.1"),
        ("<*", ""),
        ("2.0.0-rc.1", "2.0.0-rc.1"),
    ],
)
def test_a_range_admits_what_npm_does(range_, admitted):
    assert " ".join(find_admitted(VERSIONS[::-1], range_)) == admitted


@pytest.mark.parametrize("range_", ["latest", "1.2.3.4", "^", "1.2.3 -", "x.y.z!"])
def test_what_is_no_range_is_refused(range_):
    with pytest.raises(ValueError):  # noqa: PT011  # its text is nobody's
        find_admitted(VERSIONS, range_)
