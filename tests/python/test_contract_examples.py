"""Worked examples of every operator, by hand: the values of the contract, to the nine digits they have there.

They run in float64, so that half a unit of the ninth digit is all that may differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import driver
import numpy as np
import pytest
from layouts import Guarded

NAN, INF = float("nan"), float("inf")
PRINTED = 0.5e-8  # nine significant digits
FLOAT_ATTRIBUTES = PRINTED + 2.0**-24  # momentum, eps and scales that come as float


@dataclass(frozen=True)
class Example:
    name: str
    operator: str
    inputs: dict[str, Any]  # nested lists (float64), arrays, None
    results: dict[str, Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    updated: dict[str, Any] = field(
        default_factory=dict
    )  # in place: the values before; `results` has them after
    format: str | None = None
    tolerance: float = PRINTED

    def __str__(self) -> str:
        return f"{self.operator}-{self.name}"


def _forward(input, weight, bias, **statistics):
    return {"input": input, "weight": weight, "bias": bias, **statistics}


TRAIN = {"training": True, "momentum": 0.2, "eps": 1e-3}
X1 = [[[1, 2, 6], [0.5, -1.5, 4]], [[3, -2, 2], [2.5, 0, -1]]]
DY1 = [[[0.5, -1, 2], [1, 1, -3]], [[-0.25, 4, 0], [0.5, -2, 1.5]]]
DX1 = [
    [[-0.39839829, -1.18138209, 1.35731674], [-0.265884457, 0.0232943139, 0.263590305]],
    [[-0.546707379, 1.32048265, -0.55131164], [-0.425621026, 0.583063444, -0.17844258]],
]
# Saved statistics enter unrounded.
INVSTD1 = [1 / np.sqrt(17 / 3 + 1e-3), 1 / np.sqrt(25.75 / 6 - 0.75**2 + 1e-3)]
X3 = [[[[1, 10], [3, 40]], [[-5, 20], [5, 30]]]]
INVSTD3 = [1 / np.sqrt(14 + 1e-5), 1 / np.sqrt(125 + 1e-5)]
X2 = [[7, -3], [1, 5], [4, 0]]
FAST = {"grad_out": [[1], [-1], [0.5], [2]], "input": [[1], [2], [4], [9]]}
NOTHING = dict.fromkeys(("weight", "running_mean", "running_var", "save_mean", "save_invstd"))


def _mask(*mask: bool, training: bool = True, eps: float = 1e-5, **more: Any) -> dict[str, Any]:
    return {"training": training, "eps": eps, "output_mask": list(mask), **more}


EXAMPLES = [
    Example(
        "training",
        "BatchNorm",
        _forward(X1, [1.5, -0.5], [0.25, 1]),
        {
            "output": [
                [[-0.380070446, 0.25, 2.77028178], [1.0647211, 1.58248991, 0.158625691]],
                [[0.880070446, -2.27028178, 0.25], [0.546952295, 1.1941633, 1.4530477]],
            ],
            "save_mean": [2, 0.75],
            "save_invstd": [0.420046964, 0.517768806],
            "running_mean": [8.4, -3.05],
            "running_var": [2.96, 1.295],
        },
        TRAIN,
        {"running_mean": [10, -4], "running_var": [2, 0.5]},
    ),
    Example(
        "inference",
        "BatchNorm",
        _forward(X2, None, None),
        {
            "output": [[1.76776585, -7.99984], [-0.35355317, 7.99984], [0.707106339, -1.99996]],
            "running_mean": [2, 1],
            "running_var": [8, 0.25],
        },
        {"training": False, "momentum": 0.1, "eps": 1e-5},
        {"running_mean": [2, 1], "running_var": [8, 0.25]},
    ),
    Example(
        "nhwc",
        "BatchNorm",
        _forward(X3, [2, 1], None),
        {
            "output": [
                [
                    [[0, -1.34164073], [1.06904459, 1.34164073]],
                    [[-3.20713376, -0.447213578], [2.13808917, 0.447213578]],
                ]
            ],
            "save_mean": [1, 25],
            "save_invstd": [0.267261146, 0.0894427155],
        },
        {"training": True, "momentum": 0.1, "eps": 1e-5},
        format="NHWC",
    ),
    Example(
        "one_element_per_channel",
        "BatchNorm",
        _forward([[3, -8]], None, None),
        {
            "output": [[0, 0]],
            "save_mean": [3, -8],
            "save_invstd": [5, 5],
            "running_mean": [2, -3.5],
            "running_var": [NAN, NAN],
        },
        {"training": True, "momentum": 0.5, "eps": 0.04},
        {"running_mean": [1, 1], "running_var": [4, 9]},
    ),
    Example(
        "relu_and_residual",
        "BatchNormAct",
        _forward(X1, [1.5, -0.5], [0.25, 1], residual=[[[0, 1, -4], [0, 0, -1]], [[0, 3, 0], [-1, 0, 0]]]),
        {
            "output": [
                [[0, 1.25, 0], [1.0647211, 1.58248991, 0]],
                [[0.880070446, 0.72971822, 0.25], [0, 1.1941633, 1.4530477]],
            ],
            "save_mean": [2, 0.75],
            "save_invstd": [0.420046964, 0.517768806],
        },
        {**TRAIN, "activation": 1},
    ),
    Example(
        "training",
        "BatchNormBackward",
        {
            **NOTHING,
            "grad_out": DY1,
            "input": X1,
            "weight": [1.5, -0.5],
            "save_mean": [2, 0.75],
            "save_invstd": INVSTD1,
        },
        {"grad_input": DX1, "grad_weight": [-3.67541093, -6.47211007], "grad_bias": [5.25, -1]},
        _mask(True, True, True),
    ),
    Example(
        "inference",
        "BatchNormBackward",
        {
            **NOTHING,
            "grad_out": [[1, 2], [-1, 0.5], [3, -4]],
            "input": X2,
            "weight": [3, -1],
            "running_mean": [2, 1],
            "running_var": [8, 0.25],
        },
        {
            "grad_input": [[1.06065951, -3.99992], [-1.06065951, -0.999980001], [3.18197853, 7.99984]],
            "grad_weight": [4.24263804, -3.99992],
            "grad_bias": [3, -1.5],
        },
        _mask(True, True, True, training=False),
    ),
    Example(
        "nhwc",
        "BatchNormBackward",
        {
            **NOTHING,
            "grad_out": [[[[1, 0], [0, 1]], [[2, -1], [1, 3]]]],
            "input": X3,
            "weight": [2, 1],
            "save_mean": [1, 25],
            "save_invstd": INVSTD3,
        },
        {
            "grad_input": [
                [
                    [[0, 0.0268328071], [-0.381801747, -0.0715541649]],
                    [[0.0763606548, -0.125219804], [0.305441092, 0.169941162]],
                ]
            ],
            "grad_bias": [4, 3],
        },
        _mask(True, False, True),
        format="NHWC",
    ),
    *(
        Example(
            f"training_version_{version}",
            "FastBatchNormBackward",
            {**NOTHING, **FAST, "weight": [2], "save_mean": [4], "save_invstd": [1 / np.sqrt(9.5 + 1e-5)]},
            {
                "grad_input": [[0.70438163], [-0.747072265], [-0.0811106679], [0.123801302]],
                "grad_weight": [2.91998404],
                "grad_bias": [2.5],
            },
            _mask(True, True, True, version=version),
        )
        for version in (0, 1)
    ),
    Example(
        "inference",
        "FastBatchNormBackward",
        {**NOTHING, **FAST},
        {
            "grad_input": [[0.909090909], [-0.909090909], [0.454545455], [1.81818182]],
            "grad_weight": [17.2727273],
            "grad_bias": [2.5],
        },
        _mask(True, True, True, training=False, eps=0.21, version=1),
    ),
    Example(
        # The first backward example, where an output of 0 takes its gradient away; the sums are by hand.
        "relu",
        "BatchNormActBackward",
        {
            **NOTHING,
            "grad_out": [[5], [-1], [0.5], [2], [8]],
            "input": [[9], [2], [4], [9], [1]],
            "output": [[-0.0], [3], [0.5], [1e-300], [0]],
            "weight": [2],
            "running_mean": [4],
            "running_var": [3.99],
        },
        {
            "grad_input": [[0], [-1], [0.5], [2], [0]],
            "grad_weight": [6],
            "grad_bias": [1.5],
            "grad_residual": [[0], [-1], [0.5], [2], [0]],
        },
        _mask(True, True, True, True, training=False, eps=0.01, activation=1),
    ),
    Example(
        "two_channels",
        "BatchNormStats",
        {"input": [[1, -2], [2, 8], [6, 3]]},
        {"mean": [3, 3], "invstd": [0.462909554, 0.244948901]},
        {"eps": 1e-5},
    ),
    Example(
        "constant_channel",
        "BatchNormStats",
        {"input": [[[[1, 4], [-3, 0]], [[2.5, 2.5], [2.5, 2.5]]]]},
        {"mean": [0.5, 2.5], "invstd": [0.3999968, 100]},
        {"eps": 1e-4},
    ),
    Example(
        "large_offset",
        "BatchNormStats",
        {"input": [[30000], [30001], [30002], [30005]]},
        {"mean": [30002], "invstd": [0.53452172]},
        {"eps": 1e-5},
    ),
    *(
        Example(
            f"eps_{eps}",
            "BatchNormElemt",
            {
                "input": [[1, -2, 0.5], [4, 3, -1]],
                "weight": [2, -1, 0.3],
                "bias": [0, 1, -1],
                "mean": [1, 2, -1],
                "invstd": [0.5, 4, 10],
            },
            {"output": [[0, 17, 3.5], [3, -3, -1]]},
            {"eps": eps},
        )
        for eps in (1e-5, 7.0)
    ),
    Example(
        "rank_6",
        "BatchNormElemt",
        {
            "input": [[[[[[1, 2]]]], [[[[3, 4]]]]]],
            "weight": None,
            "bias": None,
            "mean": [1.5, 3],
            "invstd": [2, 0.25],
        },
        {"output": [[[[[[-1, 1]]]], [[[[0, 0.25]]]]]]},
        {"eps": 1e-5},
        format="ND",
    ),
    Example(
        "two_ranks",
        "BatchNormGatherStatsWithCounts",
        {
            "input": np.zeros((1, 2)),
            "mean": [[1, -2], [3, 0.5]],
            "invstd": [[0.5, 2], [1, 0.25]],
            "counts": [4, 12],
        },
        {
            "mean_all": [2.5, -0.125],
            "invstd_all": [0.632455532, 0.274883253],
            "running_mean": [0.25, 0.8875],
            "running_var": [1.16656, 4.11156],
        },
        {"momentum": 0.1, "eps": 1e-3},
        {"running_mean": [0, 1], "running_var": [1, 3]},
    ),
    Example(
        "five_rows",
        "BatchNormGatherStatsWithCounts",
        {
            "input": np.zeros((1, 2)),
            "mean": [[1.5, 2], [4, 5 / 3]],
            "invstd": [
                [1 / np.sqrt(0.25 + 1e-5), 1 / np.sqrt(9 + 1e-5)],
                [1 / np.sqrt(50 / 3 + 1e-5), 1 / np.sqrt(14 / 9 + 1e-5)],
            ],
            "counts": [2, 3],
            "running_mean": None,
            "running_var": None,
        },
        {"mean_all": [3, 1.8], "invstd_all": [0.293609983, 0.468292392]},
        {"momentum": 0.1, "eps": 1e-5},
    ),
    Example(
        "count_1",
        "BatchNormGatherStatsWithCounts",
        {"input": np.zeros((1, 1)), "mean": [[2]], "invstd": [[0.5]], "counts": [1]},
        {"mean_all": [2], "invstd_all": [0.5], "running_mean": [1.25], "running_var": [INF]},
        {"momentum": 0.25, "eps": 1e-5},
        {"running_mean": [1], "running_var": [1]},
    ),
    Example(
        "rank_2",
        "BatchNormReduceBackward",
        {
            "grad_out": [[1, -1], [0.5, 2], [-2, 3]],
            "input": [[2, 0], [4, 1], [9, -5]],
            "mean": [5, -1],
            "invstd": [0.25, 2],
            "weight": None,
        },
        {
            "sum_dy": [-0.5, 4],
            "sum_dy_xmu": [-11.5, -9],
            "grad_weight": [-2.875, -18],
            "grad_bias": [-0.5, 4],
        },
        {"input_g": True, "weight_g": True, "bias_g": True},
    ),
    Example(
        "exact",
        "BatchNormReduceBackward",
        {
            "grad_out": [[[1, 3]], [[-2, 0.125]]],
            "input": [[[4097, 4095.5]], [[4096.25, 4095.25]]],
            "mean": [4096],
            "invstd": [1.5],
            "weight": None,
        },
        {"sum_dy": [2.125], "sum_dy_xmu": [-1.09375], "grad_weight": [-1.640625], "grad_bias": [2.125]},
        {"input_g": True, "weight_g": True, "bias_g": True},
        tolerance=0,
    ),
    Example(
        "two_ranks",
        "BatchNormElemtBackward",
        {
            "grad_out": [[1, 2], [-3, 0.5]],
            "input": [[0, 4], [2, -1]],
            "mean": [1, 1.5],
            "invstd": [0.8, 2],
            "weight": [1, -2],
            "sum_dy": [4, -6],
            "sum_dy_xmu": [2, 1],
            "counter": np.array([3, 5], "i4"),
        },
        {"grad_input": [[0.528, -6], [-2.928, -10]]},
    ),
    Example(
        "single_rank",
        "BatchNormElemtBackward",
        {
            "grad_out": DY1,
            "input": X1,
            "mean": [2, 0.75],
            "invstd": INVSTD1,
            "weight": [1.5, -0.5],
            "sum_dy": [5.25, -1],
            "sum_dy_xmu": [-8.75, -12.5],
            "counter": np.array([6], "i4"),
        },
        {"grad_input": DX1},
    ),
    Example(
        "counter_of_rank_2",
        "BatchNormElemtBackward",
        {
            "grad_out": [[[2]], [[-1]]],
            "input": [[[3]], [[7]]],
            "mean": [5],
            "invstd": [0.5],
            "weight": None,
            "sum_dy": [1],
            "sum_dy_xmu": [-6],
            "counter": np.array([[1], [1], [2]], "f4"),
        },
        {"grad_input": [[[0.5]], [[-0.25]]]},
    ),
    Example(
        "two_ranks",
        "SyncBatchNormGatherStats",
        {
            "total_sum": [[6, -2], [3, 8]],
            "total_square_sum": [[20, 4], [9, 30]],
            "sample_count": np.array([3, 2], "i4"),
        },
        {
            "batch_mean": [1.8, 1.2],
            "batch_invstd": [0.624998779, 0.43193381],
            "mean": [1.08, 0.12],
            "variance": [2.12, 5.17],
        },
        {"momentum": 0.1, "eps": 1e-5},
        {"mean": [1, 0], "variance": [2, 5]},
        tolerance=FLOAT_ATTRIBUTES,
    ),
    Example(
        "zero_variance",
        "SyncBatchNormGatherStats",
        {"total_sum": [[12]], "total_square_sum": [[36]], "sample_count": [4]},
        {"batch_mean": [3], "batch_invstd": [10], "mean": [0], "variance": [0.375]},
        {"momentum": 0.25, "eps": 0.01},
        {"mean": [-1], "variance": [0.5]},
        tolerance=FLOAT_ATTRIBUTES,
    ),
    *(
        Example(
            format,
            "BatchNormReduce",
            {"x": [[[[1, -2], [0.5, 4]], [[3, 3], [-1, 0.25]]]]},
            {"sum": [3.5, 5.25], "square_sum": squares},
            format=format,
            tolerance=0,
        )
        for format, squares in (("NCHW", [21.25, 19.0625]), ("NHWC", [11.25, 29.0625]))
    ),
]


def _quantized(name, dtype, input, output, mean, var, scales, weight=None, bias=None, epsilon=0.0):
    scale_in, zero_in, scale_out, zero_out = scales
    attributes = {
        "input_scale": scale_in,
        "input_zero_point": zero_in,
        "output_scale": scale_out,
        "output_zero_point": zero_out,
        "epsilon": epsilon,
    }
    inputs = {"input": np.array(input, dtype), "mean": mean, "var": var, "weight": weight, "bias": bias}
    return Example(
        name, "QuantizedBatchNorm", inputs, {"output": np.array(output, dtype)}, attributes, tolerance=0
    )


EXAMPLES += [
    _quantized(
        "ties",
        "i1",
        [[[[-7, -5, -3, -1, 0, 1, 3, 5]]]],
        [[[[-4, -3, -2, -1, 0, 1, 2, 3]]]],
        [0],
        [1],
        (0.5, 0, 1.0, 0),
    ),
    _quantized(
        "saturation",
        "u1",
        [[[[10, 200]], [[0, 255]]]],
        [[[[0, 103]], [[0, 255]]]],
        [1, -2],
        [4, 0.25],
        (0.1, 128, 0.05, 10),
        [1.5, 4],
        [0, 0.3],
        1e-5,
    ),
    _quantized("int32", "i4", [[[[1000, -3]]]], [[[[1329, -9]]]], [2], [9], (2.0, 1, 0.5, -4), None, [1]),
]


def _array(values: Any) -> Any:
    if values is None or isinstance(values, np.ndarray):
        return values
    return np.array(values, np.float64)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_worked_example(device, example):
    tensors = {name: _array(values) for name, values in example.inputs.items()}
    for name, values in example.results.items():
        expected = _array(values)
        tensors[name] = Guarded(expected.shape, expected.dtype)
        if name in example.updated:
            tensors[name].fill(_array(example.updated[name]))
    driver.run(device, example.operator, tensors, example.attributes, format=example.format)
    for name, values in example.results.items():
        np.testing.assert_allclose(
            tensors[name].view, _array(values), rtol=example.tolerance, atol=0, err_msg=name
        )


def test_every_operator_has_an_example():
    assert {example.operator for example in EXAMPLES} == driver.SPECS.keys()
