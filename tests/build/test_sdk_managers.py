"""The recipes of docs/howto/sdk.md, run by the package managers that they are for."""

import hashlib
import os
import re
import shutil
import textwrap

import pytest

from tests.client import packed
from tests.conftest import ROOT
from tests.programs import did, ran
from tests.sdkclient import SDK, WITH_HEADER, write_sdk_client

pytestmark = pytest.mark.slow
DEMO = SDK.replace('name = "tiny"', 'name = "demo"', 1).replace("[package.tiny]", "[package.core]")
DEMO = re.sub(r"(?m)^(wheel|nuget) = .*\n", "", DEMO)  # an archive is enough
DEMO_CMAKE = WITH_HEADER.replace("install(TARGETS", "set_target_properties(tiny PROPERTIES OUTPUT_NAME demo)\ninstall(TARGETS")
PROGRAM = "#include <tiny.h>\nint main(void) { return tiny_add(2, 3) == 5 ? 0 : 1; }\n"


def need(*names):
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not run: package manager's program is not installed: {', '.join(missing)}")


def recipe(manager, language):
    """The block of the page that follows the manager's name."""
    text = (ROOT / "docs/howto/sdk.md").read_text("utf-8").partition(f"**{manager}**")[2]
    return re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)[1]


def archive(folder, config=DEMO, cmake=DEMO_CMAKE):
    made = packed(write_sdk_client(folder, cmake, config))
    (path,) = [row.path for row in made.artifacts if row.kind == "sdk"]
    return path


@pytest.fixture(scope="module")
def sdk(tmp_path_factory):
    return archive(tmp_path_factory.mktemp("demo") / "demo")


def compiled(folder, flags):
    (folder / "program.c").write_text(PROGRAM, encoding="utf-8")
    did("/bin/sh", "-ec", f"cc program.c -o program {flags}", cwd=folder)


def test_conan_writes_a_pc_file_that_links(sdk, tmp_path):
    need("conan", "pkg-config", "cc")
    body = textwrap.indent(recipe("Conan", "python"), "    ")
    head = "from conan import ConanFile\nfrom conan.tools.files import get\n\n\nclass Demo(ConanFile):\n"
    settings = '    name, version, settings = "demo", "1.2.3", ("os", "arch")\n\n'
    (tmp_path / "conanfile.py").write_text(head + settings + body, encoding="utf-8")
    checksum = hashlib.sha256(sdk.read_bytes()).hexdigest()
    data = f'sources:\n  "1.2.3":\n    url: "{sdk.as_uri()}"\n    sha256: "{checksum}"\n'
    (tmp_path / "conandata.yml").write_text(data, encoding="utf-8")
    env = {**os.environ, "CONAN_HOME": str(tmp_path / "home")}
    did("conan", "profile", "detect", env=env)
    did("conan", "create", ".", cwd=tmp_path, env=env, timeout=300)
    words = ["--requires", "demo/1.2.3", "-g", "PkgConfigDeps", "-of", "use", "--no-remote"]
    did("conan", "install", *words, cwd=tmp_path, env=env, timeout=300)
    paths = {**os.environ, "PKG_CONFIG_PATH": str(tmp_path / "use")}
    flags = did("pkg-config", "--cflags", "--libs", "demo-core", env=paths)
    assert "-ldemo" in flags
    compiled(tmp_path, flags)


def test_conan_without_libs_links_nothing(sdk, tmp_path):
    """What the page's recipe was before: the check above can fail."""
    need("cc")
    (tmp_path / "program.c").write_text(PROGRAM, encoding="utf-8")
    shutil.unpack_archive(sdk, tmp_path, filter="data")
    include = next(tmp_path.glob("*/include"))
    assert "undefined reference" in ran("cc", "program.c", f"-I{include}", cwd=tmp_path).stderr
