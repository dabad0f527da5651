"""A client that knows the Ascend libraries by name only, as Python frameworks for NPUs do: ctypes, no header.

It runs in a process of its own, since it starts and ends the library.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRESET = os.environ.get("BNAPI_PRESET", "dev")
LIBRARIES = ROOT / "build" / PRESET / "ascend" / "lib64"

pytestmark = pytest.mark.skipif(PRESET == "installed", reason="loads the libraries of a build tree")

CLIENT = r"""
import ctypes, sys
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_float, c_int, c_int32, c_int64
from ctypes import c_uint64, c_void_p

folder = sys.argv[1]
# Four files must load, and the descriptors' functions come from the first that has them.
files = ("libnnopbase.so", "libaclnn_ops_infer.so", "libaclnn_math.so", "libopapi.so")
runtime = ctypes.CDLL(f"{folder}/libascendcl.so", mode=ctypes.RTLD_GLOBAL)
libraries = [ctypes.CDLL(f"{folder}/{name}", mode=ctypes.RTLD_GLOBAL) for name in files]

def find(name, *arguments, result=c_int32):
    for library in (runtime, *libraries):
        try:
            function = getattr(library, name)
        except AttributeError:
            continue
        function.argtypes, function.restype = list(arguments), result
        return function
    raise AttributeError(name)

def must(code):
    assert code == 0, (code, find("aclGetRecentErrMsg", result=c_char_p)())

# What a client of this kind looks up before it calls anything.
for name in ("Add", "Mul", "Relu", "ReduceSum"):
    assert find(f"aclnn{name}GetWorkspaceSize")() == 161002
    assert b"batch normalization" in find("aclGetRecentErrMsg", result=c_char_p)()
    find(f"aclnn{name}")

must(find("aclnnInit", c_char_p)(b"/no/such.json"))
must(find("aclInit", c_char_p)(None))
must(find("aclrtSetDevice", c_int32)(0))
stream = c_void_p()
must(find("aclrtCreateStream", POINTER(c_void_p))(byref(stream)))

malloc = find("aclrtMalloc", POINTER(c_void_p), c_uint64, c_int)
memcpy = find("aclrtMemcpy", c_void_p, c_uint64, c_void_p, c_uint64, c_int)
create = find("aclCreateTensor", POINTER(c_int64), c_uint64, c_int, POINTER(c_int64), c_int64, c_int,
              POINTER(c_int64), c_uint64, c_void_p, result=c_void_p)
destroy = find("aclDestroyTensor", c_void_p)

def tensor(shape, values, dtype=0, element=c_float):
    array = (element * len(values))(*values)
    memory = c_void_p()
    must(malloc(byref(memory), ctypes.sizeof(array), 0))
    must(memcpy(memory, ctypes.sizeof(array), array, ctypes.sizeof(array), 1))
    dims = (c_int64 * len(shape))(*shape)
    handle = create(dims, len(shape), dtype, None, 0, 2, dims, len(shape), memory)
    assert handle
    return handle, memory

def values(memory, count):
    array = (c_float * count)()
    must(memcpy(array, ctypes.sizeof(array), memory, ctypes.sizeof(array), 2))
    return list(array)

plan = find("aclnnBatchNormReduceBackwardGetWorkspaceSize", *[c_void_p] * 5, *[c_bool] * 3, *[c_void_p] * 4,
            POINTER(c_uint64), POINTER(c_void_p))
execute = find("aclnnBatchNormReduceBackward", c_void_p, c_uint64, c_void_p, c_void_p)

# The worked example of the interface: [3, 2], all three masks.
grad_out, grad_out_memory = tensor([3, 2], [1, -1, 0.5, 2, -2, 3])
x, x_memory = tensor([3, 2], [2, 0, 4, 1, 9, -5])
mean, mean_memory = tensor([2], [5, -1])
invstd, invstd_memory = tensor([2], [0.25, 2])
outputs = [tensor([2], [0, 0]) for _ in range(4)]
size, executor = c_uint64(), c_void_p()
must(plan(grad_out, x, mean, invstd, None, True, True, True, *[handle for handle, _ in outputs],
          byref(size), byref(executor)))
workspace = c_void_p()
if size.value:
    must(malloc(byref(workspace), size.value, 0))
must(execute(workspace, size, executor, stream))
# Tensors are destroyed while the work may still be queued.
for handle in (grad_out, x, mean, invstd, *[handle for handle, _ in outputs]):
    must(destroy(handle))
must(find("aclrtSynchronizeStream", c_void_p)(stream))
results = [values(memory, 2) for _, memory in outputs]
assert results == [[-0.5, 4], [-11.5, -9], [-2.875, -18], [-0.5, 4]], results

# At exit such a client destroys every executor it ever got, and its tensors again.
assert find("aclDestroyAclOpExecutor", c_void_p)(executor) in (0, 561103)
assert destroy(grad_out) == 161002

# float64 is not of this interface.
wide, _ = tensor([3, 2], [0] * 6, dtype=11, element=c_double)
small, _ = tensor([2], [0, 0])
find("aclGetRecentErrMsg", result=c_char_p)()
status = plan(wide, wide, small, small, None, True, False, False, small, small, None, None,
              byref(size), byref(executor))
assert status == 161002
text = find("aclGetRecentErrMsg", result=c_char_p)()
assert b"aclnnBatchNormReduceBackward" in text and b"gradOut" in text, text
assert find("aclGetRecentErrMsg", result=c_char_p)() is None

must(find("aclrtDestroyStream", c_void_p)(stream))
must(find("aclrtResetDevice", c_int32)(0))
must(find("aclFinalize")())
print("done")
"""


def test_a_client_that_knows_names_only() -> None:
    result = subprocess.run(
        [sys.executable, "-c", CLIENT, str(LIBRARIES)],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert result.returncode == 0, result.stdout
    assert result.stdout == "done\n"


def test_both_dialects_in_one_process() -> None:
    """float64 through the neutral names, right between two refusals through the vendor's."""
    script = r"""
import ctypes, sys
folder, library = sys.argv[1:]
neutral = ctypes.CDLL(library)
acl = ctypes.CDLL(f"{folder}/libascendcl.so")
base = ctypes.CDLL(f"{folder}/libnnopbase.so")
op = ctypes.CDLL(f"{folder}/libopapi.so")
for function in (neutral.bnapiCreateTensor, base.aclCreateTensor):
    function.restype = ctypes.c_void_p
memory = (ctypes.c_double * 8)()
def tensor(*shape):
    dims = (ctypes.c_int64 * len(shape))(*shape)
    create = neutral.bnapiCreateTensor
    create.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_void_p, ctypes.c_int64,
                       ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p]
    return create(dims, len(shape), 11, None, 0, 2, dims, len(shape), memory)
x, c = tensor(4, 2), tensor(2)
outs = [tensor(2) for _ in range(4)]
def plan(function):
    function.argtypes = [ctypes.c_void_p] * 5 + [ctypes.c_bool] * 3 + [ctypes.c_void_p] * 6
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    return function(x, x, c, c, None, True, True, True, *outs, ctypes.byref(size), ctypes.byref(executor))
assert acl.aclrtSetDevice(0) == 0
assert plan(op.aclnnBatchNormReduceBackwardGetWorkspaceSize) == 161002
assert plan(neutral.bnapiBatchNormReduceBackwardGetWorkspaceSize) == 0
assert plan(op.aclnnBatchNormReduceBackwardGetWorkspaceSize) == 161002
# The current devices of the two are apart: this thread chose one under the acl names only.
device = ctypes.c_int32(-1)
assert acl.aclrtResetDevice(0) == 0
assert acl.aclrtGetDevice(ctypes.byref(device)) == 107002
assert neutral.bnapiGetDevice(ctypes.byref(device)) == 0
print("done")
"""
    library = ROOT / "build" / PRESET / "lib" / "libbn_api.so"
    result = subprocess.run(
        [sys.executable, "-c", script, str(LIBRARIES), str(library)],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert result.returncode == 0, result.stdout
    assert result.stdout == "done\n"
