"""Inputs that broke other implementations, from public bug reports, with right answers.

The file of cases is no part of the repository: it may lie beside it, or where BNAPI_OPEN_CASES says. Where it
is absent these tests are skipped.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import driver
import ml_dtypes
import numpy as np
import pytest
from layouts import Guarded

import pybn_api
from pybn_api._lib import lib

ROOT = Path(__file__).resolve().parent.parent.parent
PATH = Path(os.environ.get("BNAPI_OPEN_CASES", ROOT.parent / "shared" / "cases" / "open_cases.py"))


def load() -> Any:
    if not PATH.exists():
        return None
    spec = importlib.util.spec_from_file_location("open_cases", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["open_cases"] = module
    spec.loader.exec_module(module)
    return module


oc = load()
if oc is None:
    pytest.skip(f"no {PATH}", allow_module_level=True)

KINDS = {
    "f32": np.dtype("f4"),
    "f16": np.dtype("f2"),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "i8": np.dtype("i1"),
    "u8": np.dtype("u1"),
    "i32": np.dtype("i4"),
}


def snake(operator: str, name: str) -> str:
    spec = driver.SPECS[operator]
    return spec.names.get(name, name)


def kind_of(case: Any, name: str) -> np.dtype:
    return KINDS[case.outputs[name] if isinstance(case.outputs, dict) else case.outputs]


def run_case(device: Any, case: Any, operator: str, inputs: dict[str, Any], expected: dict[str, Any]) -> dict:
    """One call with the case's inputs; float arrays by the case's output names."""
    spec = driver.SPECS[operator]
    known = {p.c_name for p in (*spec.inputs, *spec.outputs)}
    tensors: dict[str, Any] = {}
    for name, array in inputs.items():
        if name in known and array is not None:
            tensors[snake(operator, name)] = array
    params = {k: v for k, v in case.params.items() if k != "kind"}
    attributes = {snake(operator, name): value for name, value in params.items()}
    for parameter in spec.inputs:
        if parameter.kind in ("inplace", "update") and parameter.name in tensors:
            array = tensors[parameter.name]
            tensors[parameter.name] = Guarded(array.shape, array.dtype).fill(array)
    data = next(tensors[p.name] for p in spec.inputs if p.name in tensors)
    for parameter in spec.outputs:
        wanted = parameter.c_name in expected
        if operator == "BatchNorm" and attributes["training"]:
            wanted = True
        if wanted:
            shape = np.shape(expected[parameter.c_name]) if parameter.c_name in expected else (data.shape[1],)
            dtype = kind_of(case, parameter.c_name) if parameter.c_name in expected else np.dtype("f4")
            tensors[parameter.name] = Guarded(tuple(shape), dtype)
    if case.name == "running_stats_share_weight_and_bias":
        if not device.is_cpu:
            pytest.skip("shares host memory")
        tensors["weight"], tensors["bias"] = tensors["running_var"].view, tensors["running_mean"].view
    driver.run(device, operator, tensors, attributes)
    got = {}
    for parameter in (*spec.inputs, *spec.outputs):
        value = tensors.get(parameter.name)
        if isinstance(value, Guarded):
            got[parameter.c_name] = value.view.copy()
    return got


def check(case: Any, expected: dict[str, Any], got: dict[str, Any], inputs: dict[str, Any]) -> None:
    missing = set(expected) - set(got)
    assert not missing, f"{case.name}: no answer for {missing}"
    problems = oc.differences(case, expected, got, case.tolerance(inputs, expected))
    assert not problems, f"{case.name} ({case.report}): {problems}"


PLAIN = [
    case
    for case in oc.CASES
    if not case.big
    and case.operator in driver.SPECS
    and not any("call once with" in step or "call with" in step for step in case.protocol)
]


@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)
def test_case(device, case):
    inputs = case.make()
    with np.errstate(invalid="ignore"):  # infinities, whose difference is NaN as it should be
        expected = case.reference(inputs)
    if (
        case.protocol
        and "one device buffer" not in case.protocol[0]
        and "null pointer" not in case.protocol[0]
    ):
        pytest.fail(f"no driver for the protocol {case.protocol}")
    check(case, expected, run_case(device, case, case.operator, inputs, expected), inputs)


def by_name(name: str) -> Any:
    return next(case for case in oc.CASES if case.name == name)


SPECIAL = {
    "weight_gradient_is_linear",
    "cumulative_average",
    "plan_again_for_every_run",
    "null_saved_outputs_in_training",
    "null_is_161001_bad_tensor_is_161002",
    "invstd_shape_disagrees_with_mean",
    "two_ranks_permuted_views",
}


def test_every_case_is_driven():
    driven = {case.name for case in PLAIN} | SPECIAL | {case.name for case in oc.CASES if case.big}
    assert {case.name for case in oc.CASES} <= driven


def test_weight_gradient_is_linear(device):
    case = by_name("weight_gradient_is_linear")
    inputs = case.make()
    expected = case.reference(inputs)
    plain = {name: value for name, value in expected.items() if not name.endswith("1024")}
    got = run_case(device, case, case.operator, inputs, plain)
    scaled = run_case(device, case, case.operator, dict(inputs, gradOut=inputs["gradOut_1024"]), plain)
    check(case, expected, {**got, **{f"{name}_1024": value for name, value in scaled.items()}}, inputs)


def test_cumulative_average(device):
    case = by_name("cumulative_average")
    inputs = case.make()
    running = {name: inputs[name] for name in ("runningMean", "runningVar")}
    for step in range(3):
        x = inputs[f"input_{step}"]
        spec_outputs = {"output": x, "saveMean": x[0, :, 0, 0], "saveInvstd": x[0, :, 0, 0]}
        call = _with_params(case, dict(case.params, momentum=1 / (step + 1)))
        running = run_case(device, call, "BatchNorm", {"input": x, **running}, spec_outputs)
    check(case, case.reference(inputs), running, inputs)


def _with_params(case: Any, params: dict[str, Any]) -> Any:
    import dataclasses

    return dataclasses.replace(case, params=params)


def test_plan_again_for_every_run(device):
    case = by_name("plan_again_for_every_run")
    inputs = case.make()
    buffer = inputs["input"].copy()
    x = device.put(buffer)
    mean, invstd = (device.put(np.empty(4, "f4")) for _ in range(2))
    tensors = [pybn_api.Tensor.of(a) for a in (x, mean, invstd)]

    def planned() -> pybn_api.Executor:
        return pybn_api.Executor("BatchNormStats", tensors[0], 1e-5, tensors[1], tensors[2])

    first = planned()
    first.run()
    device.device.synchronize()
    got = {"mean": device.get(mean).copy(), "invstd": device.get(invstd).copy()}
    source = np.ascontiguousarray(inputs["input_b"])
    address = pybn_api.ffi.cast("void *", source.ctypes.data)
    target = pybn_api.ffi.cast("void *", tensors[0].address)
    assert lib.bnapiMemcpy(target, source.nbytes, address, source.nbytes, lib.BNAPI_MEMCPY_DEFAULT) == 0
    planned().run()
    device.device.synchronize()
    got |= {"mean_b": device.get(mean), "invstd_b": device.get(invstd)}
    with pytest.raises(pybn_api.InvalidHandle) as spent:
        first.run()
    got["status_spent"] = np.float64(spent.value.code)
    check(case, case.reference(inputs), got, inputs)


def test_null_saved_outputs_in_training(device):
    case = by_name("null_saved_outputs_in_training")
    i = case.make()
    attributes = dict(case.params)
    for missing in ("save_mean", "save_invstd"):
        tensors = {"input": i["input"], "output": np.empty_like(i["input"])}
        tensors |= {"save_mean": np.empty(3, "f4"), "save_invstd": np.empty(3, "f4")}
        tensors[missing] = None
        status, _ = driver.status(device, "BatchNorm", tensors, attributes)
        check(case, case.reference(i), {"status": np.float64(status)}, i)


def test_null_and_bad_tensors(device):
    case = by_name("null_is_161001_bad_tensor_is_161002")
    i = case.make()
    good = {
        "input": i["input"],
        "mean": i["mean"],
        "invstd": i["invstd"],
        "output": np.empty_like(i["input"]),
    }
    calls = {
        "status_null": dict(good, input=None),
        "status_dtype": dict(good, input=i["input"].astype(bool)),
        "status_shape": dict(good, mean=np.zeros(4, "f4")),
    }
    got = {
        name: np.float64(driver.status(device, "BatchNormElemt", tensors, {"eps": 1e-5})[0])
        for name, tensors in calls.items()
    }
    check(case, case.reference(i), got, i)


def test_invstd_shape_disagrees_with_mean(device):
    case = by_name("invstd_shape_disagrees_with_mean")
    i = case.make()
    tensors = {snake("BatchNormGatherStatsWithCounts", name): array for name, array in i.items()}
    tensors |= {"mean_all": np.empty(3, "f4"), "invstd_all": np.empty(3, "f4")}
    status, _ = driver.status(device, "BatchNormGatherStatsWithCounts", tensors, dict(case.params))
    check(case, case.reference(i), {"status": np.float64(status)}, i)


def test_two_ranks_permuted_views(device):
    case = by_name("two_ranks_permuted_views")
    i = case.make()
    eps = case.params["eps"]
    ranks = [device.put(i["input@0"]), device.put(i["input@1"])]
    stats = [pybn_api.batch_norm_stats(x, eps) for x in ranks]
    mean, invstd = (np.stack([device.get(s[k]) for s in stats]) for k in (0, 1))
    counts = np.array([i["input@0"].size // 5, i["input@1"].size // 5], "f4")
    merged = pybn_api.batch_norm_gather_stats_with_counts(
        ranks[0], device.put(mean), device.put(invstd), device.put(counts), eps=eps
    )
    weight, bias = device.put(i["weight"]), device.put(i["bias"])
    got = {"meanAll": device.get(merged.mean_all), "invstdAll": device.get(merged.invstd_all)}
    for rank, x in enumerate(ranks):
        y = pybn_api.batch_norm_elemt(x, weight, bias, merged.mean_all, merged.invstd_all)
        got[f"output@{rank}"] = device.get(y)
    check(case, case.reference(i), got, i)


@pytest.mark.nightly
@pytest.mark.parametrize("case", [case for case in oc.CASES if case.big], ids=lambda case: case.name)
def test_big_case(device, case):
    """Made block by block; outputs are compared at some places. Takes twice the input's memory."""
    if not device.is_cpu:
        pytest.skip("too large for an emulated device")
    inputs = case.make()
    lazy = inputs["input"]
    x = np.empty(lazy.size, KINDS[lazy.kind])
    for low in range(0, lazy.size, 1 << 24):
        high = min(lazy.size, low + (1 << 24))
        x[low:high] = lazy.block(low, high)
    x = x.reshape(lazy.shape)
    params = case.params
    y, mean, invstd = pybn_api.batch_norm(
        x, training=params["training"], momentum=params["momentum"], eps=params["eps"], out=(x, None, None)
    )
    expected = case.reference(inputs)
    check(case, expected, {"output": y, "saveMean": mean, "saveInvstd": invstd}, inputs)
