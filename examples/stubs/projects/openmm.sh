#!/bin/sh
# Builds OpenMM's CUDA plugin from a clone of openmm/openmm with latebind's stubs, and tries it in the wheel of PyPI:
# without a driver, then with a stand-in for the driver, and NVRTC of CUDA 12, of 13, and none.
#     examples/stubs/projects/openmm.sh CLONE LATEBIND UV FOLDER
# The headers are those of CUDA 12: a program for CUDA 13 asks the driver for functions that older drivers lack.
set -eu
clone=$1 latebind=$2 uv=$3 folder=$4 here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder/stubs" "$folder/obj" "$folder/gen" && cd "$folder"
git -C "$clone" archive HEAD platforms cmake_modules openmmapi/include olla/include libraries serialization/include | tar x
"$uv" venv -q --clear env && "$uv" pip install -q --python env/bin/python openmm
"$uv" pip install -q --no-deps --target cuda nvidia-cuda-runtime-cu12 nvidia-cuda-nvrtc-cu12 nvidia-cufft-cu12 nvidia-cuda-nvcc-cu12 nvidia-cuda-profiler-api-cu12
for name in nvrtc cuda "$here/openmm_cufft.toml"; do "$latebind" stub "$name" --target linux-x64 --output stubs; done

encode() { # the texts of the kernels become C++
  cmake -D KERNEL_SOURCE_DIR="$PWD/platforms/$1/src" -D KERNELS_CPP="$PWD/gen/$2.cpp" -D KERNELS_H="$PWD/gen/$2.h" \
    -D KERNEL_SOURCE_CLASS="$2" -D KERNEL_FILE_EXTENSION="$3" -P cmake_modules/EncodeKernelFiles.cmake
}
encode common CommonKernelSources cc
encode cuda CudaKernelSources cu
include=$(printf -- '-I%s ' platforms/*/include platforms/cuda/src gen olla/include openmmapi/include \
  serialization/include libraries/*/include cuda/nvidia/*/include)
ls platforms/common/src/*.cpp platforms/cuda/src/*.cpp gen/*.cpp | xargs -P 2 -I{} sh -c \
  "g++ -O2 -fPIC -pthread -w -std=c++11 -DOPENMM_COMMON_BUILDING_SHARED_LIBRARY $include -c {} -o obj/\$(basename {} .cpp).o"
libs=$(echo env/lib/python3*/site-packages/OpenMM.libs/lib)
g++ -shared -s -o "$libs/plugins/libOpenMMCUDA.so" obj/*.o -Lstubs/linux-x64/lib "-L$libs" -lOpenMM -lcuda -lcufft -lnvrtc \
  -pthread -ldl '-Wl,-rpath,$ORIGIN/..' -Wl,--no-undefined
gcc -w -shared -fPIC "$here/openmm_driver.c" -o stand_in.so # NVRTC would open a libcuda.so.1, too
cat >user.py <<'END'
from tempfile import TemporaryDirectory

import openmm

system = openmm.System()
for _ in range(8):
    system.addParticle(1.0)
bonds, charges = openmm.HarmonicBondForce(), openmm.NonbondedForce()
bonds.addBond(0, 1, 1.0, 1000.0)
for _ in range(8):
    charges.addParticle(0.0, 0.3, 0.0)
system.addForce(bonds)
system.addForce(charges)
positions = [openmm.Vec3(number * 1.5, 0, 0) for number in range(8)]


def make(*platform):
    """A context on a platform, by default the one that OpenMM takes."""
    return openmm.Context(system, openmm.LangevinMiddleIntegrator(300, 1, 0.001), *platform)


print([openmm.Platform.getPlatform(number).getName() for number in range(openmm.Platform.getNumPlatforms())])
try:
    with TemporaryDirectory() as folder:  # where it keeps what it has compiled
        made = make(openmm.Platform.getPlatformByName("CUDA"), {"TempDirectory": folder})
    print("CUDA: context made")
except openmm.OpenMMException as error:
    print("CUDA:", error)
    made = make()
    made.setPositions(positions)
    print(made.getPlatform().getName(), made.getState(getEnergy=True).getPotentialEnergy())
END
readelf -d "$libs/plugins/libOpenMMCUDA.so" | grep NEEDED
env/bin/python user.py
for wheel in nvidia-cuda-nvrtc-cu12 nvidia-cuda-nvrtc none; do
  test $wheel = none || "$uv" pip install -q --python env/bin/python $wheel
  CUDA_LIB_PATH=$PWD/stand_in.so timeout 300 env/bin/python user.py || echo "status $?"
  test $wheel = none || "$uv" pip uninstall -q --python env/bin/python $wheel
done
