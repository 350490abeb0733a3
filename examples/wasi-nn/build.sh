#!/bin/sh
# Builds iwasm, and the ONNX Runtime and OpenVINO backends of its wasi-nn, without linking a runtime; and relu.wasm.
#
#   ./build.sh WAMR [FOLDER [CMAKE OPTIONS]]
#
# WAMR is a checkout of github.com/bytecodealliance/wasm-micro-runtime, in which nothing changes. ONNXRUNTIME_HEADERS may
# name the folder of onnxruntime_c_api.h. relu.wasm needs no SIMD, for which WAMR would download simde.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
wamr=$(cd "$1" && pwd)
folder=${2:-build}
if [ $# -gt 1 ]; then shift 2; else shift; fi

latebind stub onnxruntime --output "$folder/stubs"
latebind stub openvino --output "$folder/stubs"
stub=$(cd "$folder/stubs/linux-x64" && pwd)
latebind headers openvino --output "$stub/include"
if [ -z "${ONNXRUNTIME_HEADERS:-}" ]; then latebind headers onnxruntime --output "$stub/include"; fi

# CMAKE_PREFIX_PATH is where WAMR looks for ONNX Runtime, OpenVINO_DIR where it wants OpenVINO.
OpenVINO_DIR="$stub/lib/cmake/openvino" cmake -S "$wamr/product-mini/platforms/linux" -B "$folder" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$stub" -DCMAKE_INCLUDE_PATH="${ONNXRUNTIME_HEADERS:-}" \
  -DWAMR_BUILD_WASI_NN=1 -DWAMR_BUILD_WASI_EPHEMERAL_NN=1 -DWAMR_BUILD_WASI_NN_ONNX=1 \
  -DWAMR_BUILD_WASI_NN_OPENVINO=1 -DWAMR_BUILD_SIMD=0 "$@"
cmake --build "$folder" --parallel

# gnu89 takes the second semicolon of `WASI_NN_ERROR_TYPE`.
python -m ziglang cc --target=wasm32-wasi -std=gnu89 -Os -w -I "$wamr/core/iwasm/libraries/wasi-nn/include" \
  "$here/relu.c" -o "$folder/relu.wasm"
cp "$here/relu.onnx" "$here/relu.xml" "$folder"
printf '\0' > "$folder/relu.bin"
