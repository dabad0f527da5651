"""What the contract says about memory: absent addresses, empty tensors, outputs that overlap themselves."""

from __future__ import annotations

import itertools
from dataclasses import replace

import driver
import numpy as np
import pytest
from contract import NULLPTR, D, phase_one
from contract_tables import TABLES
from devices import TestDevice
from layouts import Guarded

from pybn_api._lib import ffi

TABLE = {table.operator: table for table in TABLES}
# Tensors whose data no result depends on, in the valid call of the table: they need no memory.
UNREAD = {
    "BatchNormGatherStatsWithCounts": {"input"},
    "BatchNormReduceBackward": {"weight"},
    "BatchNormBackward": {"runningMean", "runningVar"},
    "FastBatchNormBackward": {"runningMean", "runningVar"},
    "BatchNormActBackward": {"runningMean", "runningVar"},
}
TENSORS = [(t.operator, name) for t in TABLES for name, value in t.valid.items() if isinstance(value, D)]


@pytest.mark.parametrize(("operator", "name"), TENSORS, ids="-".join)
def test_a_tensor_without_an_address_is_refused_when_it_is_needed(operator, name):
    memory = ffi.new("char[]", 2048)
    call = {
        key: replace(value, data=memory) if isinstance(value, D) else value
        for key, value in TABLE[operator].valid.items()
    }
    with TestDevice.of_type("cpu"):
        assert phase_one(operator, call, run=True) == (0, "")
        call[name] = replace(call[name], data=ffi.NULL)
        status, message = phase_one(operator, call, run=True)
    if name in UNREAD.get(operator, ()):
        assert (status, message) == (0, "")
    else:
        assert status == NULLPTR
        assert message.startswith(f"bnapi{operator}: ") and "no data address" in message


def test_no_memory_is_needed_where_nothing_is_done():
    with TestDevice.of_type("cpu"):
        for operator, mask in (
            ("BatchNormBackward", 3),
            ("FastBatchNormBackward", 3),
            ("BatchNormActBackward", 4),
        ):
            call = {**TABLE[operator].valid, "outputMask": [False] * mask}
            assert phase_one(operator, call, run=True) == (0, "")
        off = dict.fromkeys(("inputG", "weightG", "biasG"), False)
        call = {**TABLE["BatchNormReduceBackward"].valid, **off}
        assert phase_one("BatchNormReduceBackward", call, run=True) == (0, "")


def _full(shape, dtype="f8") -> Guarded:
    return Guarded(shape, np.dtype(dtype)).fill(np.full(shape, 7, dtype))


def _check(output: Guarded, value: float) -> None:
    np.testing.assert_array_equal(output.view, np.full(output.view.shape, value))


@pytest.mark.parametrize("training", [True, False])
def test_forward_of_an_empty_batch(device, training):
    """Saved statistics are written in either mode, whatever their shape; running ones stay."""
    for shape, mean, invstd in (
        ((0, 3, 2), 0, np.nan),
        ((2, 3, 0), 0, np.nan),
        ((2, 0, 3), 7, 7),
        ((0, 0), 7, 7),
    ):
        for operator in ("BatchNorm", "BatchNormAct"):
            tensors = {
                "input": np.zeros(shape),
                "output": np.zeros(shape),
                "weight": None,
                "bias": None,
                "residual": None,
                "running_mean": _full((3,)),
                "running_var": _full((3,)),
                "save_mean": _full((3,)),
                "save_invstd": _full((2, 4), "f4"),
            }
            attributes = {"training": training, "momentum": 0.1, "eps": 1e-5, "activation": 1}
            driver.run(device, operator, tensors, attributes)
            _check(tensors["save_mean"], mean)
            _check(tensors["save_invstd"], invstd)
            _check(tensors["running_mean"], 7)
            _check(tensors["running_var"], 7)


@pytest.mark.parametrize("operator", ["BatchNormBackward", "FastBatchNormBackward", "BatchNormActBackward"])
def test_backward_of_an_empty_batch(device, operator):
    """The sums that are asked for are 0 where they can be written; with an unusable mask nothing is."""
    length = 4 if operator == "BatchNormActBackward" else 3
    masks = [list(mask) for mask in itertools.product((False, True), repeat=length)]
    for mask in [None, [], [True], *masks]:
        for dtype in ("f4", "f8", "i4"):
            tensors = {
                "grad_out": np.zeros((0, 3, 2)),
                "input": np.zeros((2, 3)),
                "output": np.zeros((1,)),
                "grad_input": None,
                "grad_residual": None,
                "grad_weight": _full((3,), dtype),
                "grad_bias": _full((2, 2), dtype),
            }
            attributes = {"training": True, "eps": 1e-5, "output_mask": mask, "version": 0, "activation": 1}
            driver.run(device, operator, tensors, attributes)
            for place, name in ((1, "grad_weight"), (2, "grad_bias")):
                written = mask is not None and len(mask) == length and mask[place] and dtype != "i4"
                _check(tensors[name], 0 if written else 7)


def test_sums_over_empty_tensors(device):
    """BatchNormReduce and BatchNormReduceBackward: 0 in whatever is asked for and has elements."""
    tensors = {"x": np.zeros((0,)), "sum": _full((4, 5), "f4"), "square_sum": _full((3,))}
    driver.run(device, "BatchNormReduce", tensors)
    _check(tensors["sum"], 0)
    _check(tensors["square_sum"], 0)
    tensors = {"x": np.ones((2, 3)), "sum": np.zeros((0,), "i4"), "square_sum": _full((3,))}
    driver.run(device, "BatchNormReduce", tensors)
    _check(tensors["square_sum"], 0)

    for mean in (np.zeros(3), np.zeros(0)):
        for mask in itertools.product((False, True), repeat=3):
            names = ("sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias")
            outs = {
                name: _full((3,), dtype) for name, dtype in zip(names, ("f4", "f8", "f2", "f4"), strict=True)
            }
            data = np.ones((2, 3, 0 if mean.size else 4))
            tensors = {"grad_out": data, "input": data, "mean": mean, "invstd": np.ones(3), **outs}
            attributes = dict(zip(("input_g", "weight_g", "bias_g"), mask, strict=True))
            driver.run(device, "BatchNormReduceBackward", tensors, attributes)
            for name, asked in zip(names, (mask[0], *mask), strict=True):
                _check(outs[name], 0 if asked else 7)


@pytest.mark.parametrize("ranks", [0, 1, 3])
def test_ranks_that_counted_nothing(device, ranks):
    tensors = {
        "input": np.zeros((0, 2)),
        "mean": np.full((ranks, 2), np.nan),
        "invstd": np.full((ranks, 2), np.nan),
        "counts": np.zeros(ranks),
        "running_mean": _full((2,)),
        "running_var": _full((2,)),
        "mean_all": _full((2,)),
        "invstd_all": _full((2,)),
    }
    driver.run(device, "BatchNormGatherStatsWithCounts", tensors, {"momentum": 0.1, "eps": 1e-5})
    for name, value in (("running_mean", 7), ("running_var", 7), ("mean_all", 0), ("invstd_all", np.nan)):
        _check(tensors[name], value)


def test_a_counter_of_nothing_divides_by_zero(device):
    tensors = {
        "grad_out": np.ones((1, 1)),
        "input": np.ones((1, 1)),
        "mean": np.zeros(1),
        "invstd": np.ones(1),
        "sum_dy": np.ones(1),
        "sum_dy_xmu": np.zeros(1),
        "counter": np.zeros((0,), "i4"),
        "grad_input": _full((1, 1)),
    }
    driver.run(device, "BatchNormElemtBackward", tensors)
    _check(tensors["grad_input"], np.nan)  # 1 - 1 / 0 - 1 * 0 / 0


def test_outputs_that_address_an_element_twice_are_found_exactly():
    """Random views with few and with entangled strides, against the list of all addresses."""
    random = np.random.default_rng(20)
    valid = TABLE["BatchNormElemt"].valid
    found = {True: 0, False: 0}
    for _ in range(3000):
        rank = int(random.integers(2, 6))
        shape = tuple(int(n) for n in random.integers(1, 5, rank))
        strides = tuple(int(s) for s in random.integers(-40, 41, rank))
        addresses = sum(
            np.arange(n).reshape([-1 if axis == i else 1 for axis in range(rank)]) * s
            for i, (n, s) in enumerate(zip(shape, strides, strict=True))
        )
        twice = len(np.unique(addresses)) < addresses.size
        found[twice] += 1
        parameters = {name: D((shape[1],)) for name in ("weight", "bias", "mean", "invstd")}
        call = {**valid, **parameters, "input": D(shape), "output": D(shape, strides=strides)}
        status, message = phase_one("BatchNormElemt", call)
        assert (status != 0) == twice, (shape, strides, message)
        assert not twice or "must not address an element twice" in message
    assert min(found.values()) > 300, found


# Strides that overflow as soon as somebody computes with them.
ABSURD = (-(1 << 63), (1 << 63) - 1, 1 << 62, -1)


def _run_on_single_elements(operator: str, absurd: bool, empty: tuple[str, ...]) -> list[bytes]:
    """What lies in the memory of each tensor after a call with extents of 1 alone, but for empty tensors."""
    call, memories = {}, []
    for name, value in TABLE[operator].valid.items():
        if isinstance(value, D):
            memory = ffi.new("char[]", bytes([64 + len(memories), 63]) * 32)  # 0.7 or so
            memories.append(memory)
            shape = (0 if name in empty else 1, *[1] * (len(value.shape) - 1))
            strides = tuple(itertools.islice(itertools.cycle(ABSURD), len(shape))) if absurd else None
            value = replace(value, shape=shape, strides=strides, data=memory)
        call[name] = value
    with TestDevice.of_type("cpu"):
        assert phase_one(operator, call, run=True) == (0, "")
    return [bytes(ffi.buffer(memory)) for memory in memories]


@pytest.mark.parametrize(
    ("operator", "empty"),
    [
        *((operator, ()) for operator in TABLE),
        ("BatchNorm", ("input", "output")),
        ("BatchNormReduce", ("x",)),
    ],
)
def test_strides_of_extents_of_1_may_be_anything(operator, empty):
    """Nothing is ever stepped over along such an axis; the sanitizers would see an address that overflows."""
    plain = _run_on_single_elements(operator, False, empty)
    assert plain == _run_on_single_elements(operator, True, empty)
    before = [bytes([64 + i, 63]) * 32 for i in range(len(plain))]
    assert any(memory[:64] != b for memory, b in zip(plain, before, strict=True)), "nothing was written"
