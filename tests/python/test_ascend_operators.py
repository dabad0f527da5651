"""Every operator through its aclnn name, driven by the table: the same call in both dialects."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PRESET = os.environ.get("BNAPI_PRESET", "dev")
BUILD = ROOT / "build" / PRESET
ROWS = {
    row["name"]: row["parameters"]
    for row in tomllib.loads((ROOT / "csrc/ops/operators.toml").read_text())["operator"]
    if "aclnn" in row
}
TENSORS = {"input", "mutable", "inplace", "output"}
FLOAT, DOUBLE, UINT8, INT32 = 0, 11, 4, 3
NCHW, ND = 0, 2
NULLPTR, INVALID = 161001, 161002

pytestmark = pytest.mark.skipif(PRESET == "installed", reason="loads the libraries of a build tree")

# What has another shape than one value per channel.
DATA = {"input", "output", "gradOut", "gradInput", "x"}
PER_RANK = {"totalSum", "totalSquareSum"}
COUNTS = {"counts", "sampleCount", "counter"}


class Caller:
    """Both interfaces of one library, and tensors over one piece of memory."""

    def __init__(self) -> None:
        libraries = BUILD / "ascend" / "lib64"
        self.neutral = ctypes.CDLL(str(BUILD / "lib" / "libbn_api.so"))
        self.runtime = ctypes.CDLL(str(libraries / "libascendcl.so"))
        self.meta = ctypes.CDLL(str(libraries / "libnnopbase.so"))
        self.operators = ctypes.CDLL(str(libraries / "libopapi.so"))
        for name in ("aclCreateTensor", "aclCreateScalar", "aclCreateBoolArray"):
            getattr(self.meta, name).restype = ctypes.c_void_p
        self.runtime.aclGetRecentErrMsg.restype = ctypes.c_char_p
        assert self.runtime.aclrtSetDevice(0) == 0
        self.memory = ctypes.create_string_buffer(4096)

    def tensor(self, shape: list[int], dtype: int, label: int) -> ctypes.c_void_p:
        dims = (ctypes.c_int64 * len(shape))(*shape)
        size = ctypes.c_uint64(len(shape))
        handle = self.meta.aclCreateTensor(
            dims, size, dtype, None, ctypes.c_int64(0), label, dims, size, self.memory
        )
        return ctypes.c_void_p(handle)

    def argument(self, operator: str, parameter: dict[str, str], dtype: int) -> Any:
        name, kind = parameter["name"], parameter["kind"]
        if kind in TENSORS:
            gathers = operator == "BatchNormGatherStatsWithCounts"
            if name in DATA:
                quantized = operator == "QuantizedBatchNorm"
                return self.tensor([2, 3, 2, 2], UINT8 if quantized else dtype, NCHW)
            if name in PER_RANK or (gathers and name in {"mean", "invstd"}):
                return self.tensor([2, 3], dtype, ND)
            if name in COUNTS:
                return self.tensor([2], INT32 if name != "counts" else dtype, ND)
            return self.tensor([3], dtype, ND)
        if kind == "scalar":
            value = ctypes.c_float(1) if name.endswith("Scale") else ctypes.c_int32(0)
            scalar_type = FLOAT if name.endswith("Scale") else INT32
            return ctypes.c_void_p(self.meta.aclCreateScalar(ctypes.byref(value), scalar_type))
        if kind == "bool_array":
            mask = (ctypes.c_bool * 3)(True, True, True)
            return ctypes.c_void_p(self.meta.aclCreateBoolArray(mask, ctypes.c_uint64(3)))
        return {
            "bool": ctypes.c_bool(True),
            "int": ctypes.c_int(0),
            "float": ctypes.c_float(0.5),
            "double": ctypes.c_double(0.5),
        }[kind]

    def plan(self, operator: str, arguments: list[Any], acl: bool = True) -> int:
        """Phase one; an executor that it gives is destroyed."""
        library = self.operators if acl else self.neutral
        function = getattr(library, f"{'aclnn' if acl else 'bnapi'}{operator}GetWorkspaceSize")
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        status: int = function(*arguments, ctypes.byref(size), ctypes.byref(executor))
        if status == 0:
            assert executor.value
            assert self.meta.aclDestroyAclOpExecutor(executor) == 0
        return status

    def text(self) -> str:
        text: bytes | None = self.runtime.aclGetRecentErrMsg()
        return (text or b"").decode()


@pytest.fixture(scope="module")
def caller() -> Iterator[Caller]:
    made = Caller()
    yield made
    made.runtime.aclrtResetDevice(0)


@pytest.mark.parametrize("operator", ROWS)
def test_float32_is_planned_in_both_dialects(caller: Caller, operator: str) -> None:
    arguments = [caller.argument(operator, parameter, FLOAT) for parameter in ROWS[operator]]
    assert caller.plan(operator, arguments) == 0, caller.text()
    assert caller.plan(operator, arguments, acl=False) == 0


@pytest.mark.parametrize("operator", sorted(set(ROWS) - {"QuantizedBatchNorm"}))
def test_float64_is_of_the_neutral_names_only(caller: Caller, operator: str) -> None:
    arguments = [caller.argument(operator, parameter, DOUBLE) for parameter in ROWS[operator]]
    assert caller.plan(operator, arguments, acl=False) == 0
    caller.text()
    assert caller.plan(operator, arguments) == INVALID
    text = caller.text()
    assert f"aclnn{operator}" in text
    assert "DOUBLE" in text
    assert "bnapi" not in text.lower()


@pytest.mark.parametrize("operator", ROWS)
def test_one_float64_among_others_is_refused(caller: Caller, operator: str) -> None:
    for position, parameter in enumerate(ROWS[operator]):
        if parameter["kind"] not in TENSORS or parameter["name"] in COUNTS | DATA:
            continue
        arguments = [caller.argument(operator, other, FLOAT) for other in ROWS[operator]]
        arguments[position] = caller.argument(operator, parameter, DOUBLE)
        caller.text()
        assert caller.plan(operator, arguments) == INVALID, parameter["name"]
        assert caller.text() != ""


@pytest.mark.parametrize("operator", ROWS)
def test_null_where_a_tensor_is_required(caller: Caller, operator: str) -> None:
    for position, parameter in enumerate(ROWS[operator]):
        if parameter["kind"] not in TENSORS | {"scalar", "bool_array"}:
            continue
        arguments = [caller.argument(operator, other, FLOAT) for other in ROWS[operator]]
        arguments[position] = ctypes.c_void_p()
        caller.text()
        status = caller.plan(operator, arguments)
        if "optional" in parameter:
            assert status == 0, caller.text()
        else:
            assert status == NULLPTR, parameter["name"]
            text = caller.text()
            assert f"aclnn{operator}" in text
            assert parameter["name"] in text


@pytest.mark.parametrize("operator", ROWS)
def test_phase_two_of_another_operator(caller: Caller, operator: str) -> None:
    arguments = [caller.argument(operator, parameter, FLOAT) for parameter in ROWS[operator]]
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    plan = getattr(caller.operators, f"aclnn{operator}GetWorkspaceSize")
    assert plan(*arguments, ctypes.byref(size), ctypes.byref(executor)) == 0
    other = next(name for name in ROWS if name != operator)
    execute = getattr(caller.operators, f"aclnn{other}")
    assert execute(None, ctypes.c_uint64(0), executor, None) == INVALID
    assert f"aclnn{operator}" in caller.text()


def test_only_gpus_count_where_there_is_one(caller: Caller) -> None:
    count, kind = ctypes.c_uint32(), ctypes.c_int()
    assert caller.neutral.bnapiGetDeviceCount(ctypes.byref(count)) == 0
    kinds = []
    for device in range(count.value):
        assert caller.neutral.bnapiGetDeviceType(device, ctypes.byref(kind)) == 0
        kinds.append(kind.value)
    cuda = 1
    expected = kinds.count(cuda) or len(kinds)
    assert caller.runtime.aclrtGetDeviceCount(ctypes.byref(count)) == 0
    assert count.value == expected
    assert caller.runtime.aclrtSetDevice(expected - 1) == 0
    assert caller.runtime.aclrtResetDevice(expected - 1) == 0
    assert caller.runtime.aclrtSetDevice(expected) == 107001
