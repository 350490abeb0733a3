#!/bin/sh
# Builds the CPU part of pytorch/audio, which uses PyTorch's stable ABI, with latebind's stub, and runs the project's own
# tests of native code with it and each PyTorch that is named; the first is the one that setup.py asks for its compilers.
#     examples/stubs/projects/torchaudio.sh CLONE LATEBIND UV FOLDER torch==2.13.0+cpu torch==2.10.0
set -eu
clone=$1 latebind=$2 uv=$3 folder=$4
shift 4
mkdir -p "$folder" && cd "$folder" && rm -rf audio stub
git clone -q "$clone" audio
"$latebind" stub torch --minimum 2.10 --target linux-x64 --output stub
tools="numpy scipy pytest parameterized expecttest pybind11 setuptools wheel"
for torch in "$@"; do
  "$uv" venv -q --clear env && "$uv" pip install -q --python env/bin/python "$torch" $tools
  test -f audio/src/torchaudio/lib/libtorchaudio.abi3.so ||
    (cd audio && USE_CUDA=0 LDFLAGS="-L$folder/stub/linux-x64/lib" "$folder/env/bin/python" setup.py -q build_ext --inplace)
  readelf -d audio/src/torchaudio/lib/libtorchaudio.abi3.so | grep NEEDED
  (cd audio/test/torchaudio_unittest && PYTHONPATH=../../src:.. "$folder/env/bin/python" -m pytest -q \
    functional/functional_cpu_test.py functional/autograd_cpu_test.py functional/batch_consistency_test.py \
    functional/torchscript_consistency_cpu_test.py \
    -k 'lfilter or filtfilt or biquad or overdrive or rnnt or RNNT or forced_align or merge_tokens')
done
