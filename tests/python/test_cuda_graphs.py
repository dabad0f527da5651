"""CUDA graphs: phase two of every operator can be captured, and the graph computes what the operator does, on
what its arrays hold when it is launched."""

from __future__ import annotations

from typing import Any

import driver
import numpy as np
import oracle_family
import pytest
from cuda_runtime import Runtime
from devices import TestDevice
from family import F16, F32, WAYS, Inputs, Way, parameter_dtype
from layouts import LAYOUTS

import pybn_api
from pybn_api._lib import ffi, lib

# Both work on planes of whole vectors and on odd ones; the second has several blocks for each channel.
SHAPES = {4: ((3, 7, 5, 8), (2, 3, 67, 71)), 5: ((2, 6, 2, 3, 5),)}
LAUNCHES = 3


@pytest.fixture
def cuda(device):
    return Runtime(device)


def refill(array: pybn_api.DeviceArray, values: np.ndarray) -> None:
    """Other values in the same device memory; both have the same layout."""
    source = pybn_api.DeviceArray.from_numpy(values, array.device)
    assert (source.strides, source.offset, source.memory.size) == (
        array.strides,
        array.offset,
        array.memory.size,
    )
    size = source.memory.size
    kind = lib.BNAPI_MEMCPY_DEVICE_TO_DEVICE
    assert lib.bnapiMemcpy(array.memory.pointer, size, source.memory.pointer, size, kind) == 0


def captured(
    device: TestDevice, cuda: Runtime, stream: int, way: Way, shape: tuple[int, ...], dtype: Any, layout: str
) -> None:
    """Captures one call, and launches it on several sets of values in the same buffers."""
    lay = LAYOUTS[layout]
    examples = [way.make(Inputs(shape, dtype, parameter_dtype(dtype), seed)) for seed in range(LAUNCHES)]
    tensors = [example.laid_out(lay) for example in examples]
    first = examples[0]
    inputs = {name: device.put(tensors[0][name]) for name in (*first.data, *first.others)}
    outputs = {name: tensors[0][name] for name in (*first.outputs, *first.updated)}
    call = driver.Call(device, way.operator, {**inputs, **outputs}, first.attributes, format=first.format)
    assert call.status == 0, call.message
    workspace = driver.Workspace(device, call.workspace_bytes)
    with pybn_api.Stream(device.device, native=stream) as wrapper:
        with cuda.capture(stream) as graph:
            run = getattr(lib, f"bnapi{way.operator}")
            status = run(workspace.pointer, call.workspace_bytes, call.executor, wrapper.handle)
            assert status == 0, ffi.string(lib.bnapiGetRecentErrMsg()).decode()
        assert graph.nodes > 0
        for example, values in zip(examples, tensors, strict=True):
            for name, array in inputs.items():
                if array is not None:
                    refill(array, values[name])
            for name, _output, array in call.guarded:
                refill(array, values[name].raw)
            graph.launch(stream)
            expected = oracle_family.expected(
                way.operator, example.inputs(), example.attributes, example.format
            )
            for name, output, array in call.guarded:
                output.raw[...] = array.to_numpy()
                output.check(name)
                expected[name].check(output.view, f"{name} {example.attributes}")
        graph.close()


@pytest.mark.parametrize("layout", ["contiguous", "channels_last"])
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_every_operator(device, cuda, way, layout):
    with cuda.stream() as stream:
        for dtype in (F32, F16):
            if dtype not in way.dtypes:
                continue
            for shape in SHAPES[way.rank or 4]:
                captured(device, cuda, stream, way, shape, dtype, layout)


def test_calls_of_the_package(device, cuda):
    """Many calls in one capture, each on the result of the one before it, with outputs that are given."""
    x = np.random.default_rng(0).standard_normal((3, 7, 5, 8), np.float32)
    layers = 40
    arrays = [device.put(x) for _ in range(layers + 1)]
    rows = [device.put(np.empty(7, F32)) for _ in range(2)]
    outs = [[array, *rows] for array in arrays[1:]]
    with cuda.stream() as native, pybn_api.Stream(device.device, native=native) as stream:
        arguments: dict[str, Any] = {"training": True, "eps": 0.5}
        plan = pybn_api.plan.batch_norm(arrays[0], out=outs[0], **arguments)
        # The first call in a stream makes a workspace, which is not allowed during capture.
        plan(arrays[0], out=outs[0], stream=stream, **arguments)
        before = pybn_api.Event().record(stream)
        stream.synchronize()
        with cuda.capture(native) as graph:
            assert before.query()
            for array, out in zip(arrays, outs, strict=False):
                plan(array, out=out, stream=stream, **arguments)
            mark = pybn_api.Event().record(stream)
            # It is part of the graph, and no work that is under way.
            assert mark.query()
            mark.synchronize()
        for seed in range(2):
            values = np.random.default_rng(seed).standard_normal(x.shape, np.float32)
            refill(arrays[0], values)
            graph.launch(native)
            for out in outs:
                values = pybn_api.batch_norm(device.put(values), **arguments).output.to_numpy()
                np.testing.assert_array_equal(out[0].to_numpy(), values)
        graph.close()


def test_every_operator_is_tried():
    assert {way.operator for way in WAYS} == set(driver.SPECS)
