"""What `load()` of latenn's npm package opens and runs, and what its errors and reports say."""

from __future__ import annotations

import json
import shutil

import pytest

LOAD = """
const [path, backend] = process.argv.slice(1);
try {
  return require('@latenn/core').load(path, backend ? { backend } : {});
} catch (error) {
  return { message: error.message, code: error.code, text: error.report };
}
"""
BACKEND_MISSING = 2


def plant(modules, marker):
    """A backend and a runtime whose code writes the marker when it runs."""
    for name in ("@latenn/onnxruntime", "onnxruntime-node"):
        (modules / name).mkdir(parents=True)
        (modules / name / "package.json").write_text('{"main": "index.js"}')
        code = f"require('node:fs').writeFileSync('{marker}', ''); exports.libraryPath = () => __filename;"
        (modules / name / "index.js").write_text(code)


def test_packages_in_the_working_folder_do_not_run(answer, start, binding, tmp_path):
    marker, work = tmp_path / "marker", tmp_path / "work"
    plant(work / "node_modules", marker)
    program = tmp_path / "app" / "program.cjs"
    program.write_text(f"console.log(JSON.stringify((() => {{{LOAD}}})()));")
    ended = start(work, f"require('{program}')", binding.model)
    assert not marker.exists()
    error = json.loads(ended.stdout)
    assert error["code"] == BACKEND_MISSING
    assert error["message"].endswith("Get it with: npm install @latenn/onnxruntime")


def test_what_is_not_trusted_is_in_the_message_and_in_the_report(answer, binding, tmp_path):
    layer = tmp_path / "layer"
    plant(layer, tmp_path / "marker")
    library = layer / "@latenn" / "onnxruntime-linux-x64" / "liblatenn_backend_onnxruntime.so"
    library.parent.mkdir()
    shutil.copy(binding.backend, library)
    library.chmod(0o777)
    error = answer(binding.folder, LOAD, binding.model, NODE_PATH=str(layer))
    assert error["code"] == BACKEND_MISSING
    assert f"\nNot used:\n  {library}: every user may write to {library}\nhelp: install the package" in error["message"]
    assert "npm install @latenn/onnxruntime" not in error["message"]
    (refused,) = json.loads(error["text"])["refused"]
    assert refused == {"path": str(library), "reason": f"every user may write to {library}"}
    assert answer(binding.folder, LOAD, binding.model, library, NODE_PATH=str(layer))["backend"] == "echo"


@pytest.mark.parametrize("where", ["open folder", "elsewhere"])
def test_a_backend_that_is_named_is_used_wherever_it_is(answer, binding, tmp_path, where):
    folder = tmp_path / where
    folder.mkdir()
    folder.chmod(0o777 if where == "open folder" else 0o755)
    copy = shutil.copy(binding.backend, folder)
    assert answer(binding.folder, LOAD, binding.model, copy)["backend"] == "echo"
