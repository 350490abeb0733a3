#!/bin/sh
# Ports the CPU part of pytorch/extension-cpp to PyTorch's stable ABI, makes one wheel of it, and runs the project's own
# tests with it and each PyTorch that is named.
#     examples/stubs/projects/extension_cpp.sh CLONE LATEBIND UV FOLDER torch==2.13.0+cpu torch==2.10.0
set -eu
clone=$1 latebind=$2 uv=$3 folder=$4
shift 4
mkdir -p "$folder" && cd "$folder" && rm -rf extension_cpp
"$latebind" new extension_cpp --kind torch
cd extension_cpp
rm native/extension_cpp.cc verify/smoke.py
git -C "$clone" archive HEAD extension_cpp test | tar x
python3 - <<'END'
import re
from pathlib import Path

CHANGES = {
    r"#include <(Python|ATen/Operators)\.h>\n": "",
    r"#include <torch/all\.h>": '#include "boxed.h"',
    r"#include <torch/library\.h>": "#include <torch/csrc/stable/ops.h>\n#include <torch/csrc/stable/tensor.h>\n"
    "#include <torch/headeronly/core/ScalarType.h>",
    r'extern "C" \{.*?\n\}\n': "",
    r"(\w+)\.sizes\(\) == (\w+)\.sizes\(\)": r"\1.sizes().equals(\2.sizes())",
    r"\.dtype\(\) == at::kFloat": ".scalar_type() == torch::headeronly::ScalarType::Float",
    r"\.device\(\)\.type\(\) == at::DeviceType::CPU": ".is_cpu()",
    r"(\w+)\.contiguous\(\);": r"torch::stable::contiguous(\1);",
    r"torch::empty\((\w+)\.sizes\(\), \w+\.options\(\)\)": r"torch::stable::new_empty(\1, \1.sizes())",
    r"(const float\* \w+ = \w+)\.data_ptr": r"\1.const_data_ptr",
    r"(?<!const )(float\* \w+ = \w+)\.data_ptr": r"\1.mutable_data_ptr",
    r"\b(TORCH_CHECK|TORCH_INTERNAL_ASSERT)\(": "STD_TORCH_CHECK(",
    r"\bTORCH_LIBRARY": "STABLE_TORCH_LIBRARY",
    r'(m\.impl\("\w+", )(&\w+)\)': r"\1TORCH_BOX(\2))",
    r"at::Tensor": "torch::stable::Tensor",
}
"""Of the page about PyTorch, docs/howto/torch.md."""
code = Path("extension_cpp/csrc/muladd.cpp").read_text()
for old, new in CHANGES.items():
    code = re.sub(old, new, code, flags=re.DOTALL)
Path("native/muladd.cpp").write_text(code)
cmake = Path("native/CMakeLists.txt")
cmake.write_text(cmake.read_text().replace("extension_cpp.cc", "muladd.cpp"))
module = Path("python/src/extension_cpp/__init__.py")
loads = module.read_text().partition("scale = ")[0]
module.write_text(f"{loads}from extension_cpp import ops\n")
(module.parent / "ops.py").write_text(Path("extension_cpp/ops.py").read_text())
END
rm -r extension_cpp
sed -i '/^python = /d' latebind.toml
"$latebind" pack --target linux-x64
"$latebind" audit
for torch in "$@"; do
  "$uv" venv -q --clear env && "$uv" pip install -q --python env/bin/python "$torch" numpy expecttest setuptools dist/*.whl
  env/bin/python test/test_extension.py
done
