"""Beside PyTorch on the CPU: native_batch_norm and native_batch_norm_backward, and the distributed pieces.

PyTorch computes in float32 for float32 data, with its own order of additions, so the two agree to a bound for
both: ours (oracle_family) plus theirs, some float32 roundings of the largest terms.
"""

from __future__ import annotations

import itertools

import numpy as np
import oracle
import pytest

import pybn_api

torch = pytest.importorskip("torch")

SHAPES = [(5, 3), (4, 6, 7), (3, 8, 6, 5), (2, 16, 14, 14), (2, 3, 4, 3, 2)]
DATA = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
# Relative to the largest magnitude of the output: theirs accumulates float32 terms; half outputs round once
# more.
RELATIVE = {"float64": 1e-12, "float32": 3e-5, "bfloat16": 8e-3, "float16": 1e-3}


def near(mine, theirs, dtype: str, name: str) -> None:
    mine, theirs = mine.double(), theirs.double()
    assert mine.shape == theirs.shape, name
    scale = max(1.0, float(theirs.abs().max())) if theirs.numel() else 1.0
    worst = float((mine - theirs).abs().max()) if theirs.numel() else 0.0
    assert worst <= RELATIVE[dtype] * scale, f"{name}: {worst:.3g} apart, of {scale:.3g}"


def tensors(shape, dtype, parameter, channels_last, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x, dy = (torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(2))
    x = (1 + 2 * x).to(dtype)
    dy = dy.to(dtype)
    if channels_last and len(shape) in (4, 5):
        layout = torch.channels_last if len(shape) == 4 else torch.channels_last_3d
        x, dy = x.contiguous(memory_format=layout), dy.contiguous(memory_format=layout)
    channels = shape[1]
    vectors = [
        torch.rand(channels, generator=generator, dtype=torch.float64).add(0.5).to(parameter)
        for _ in range(4)
    ]
    return x, dy, *vectors


def combinations():
    for name in DATA:
        for parameter in {"same": None, "float": torch.float32}.items():
            if name in ("float64", "float32") and parameter[1] is not None:
                continue
            if name in ("float16", "bfloat16") and parameter[1] is None:
                continue  # PyTorch's own mixed path keeps statistics in float32, as ours does
            yield name, parameter[1]


@pytest.mark.parametrize("channels_last", [False, True], ids=["contiguous", "channels_last"])
@pytest.mark.parametrize("affine", [True, False], ids=["affine", "bare"])
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize(("name", "parameter"), list(combinations()), ids=str)
def test_forward_and_backward(name, parameter, training, affine, channels_last):
    dtype = DATA[name]
    parameter = parameter or dtype
    for shape in SHAPES:
        x, dy, weight, bias, mean, var = tensors(shape, dtype, parameter, channels_last)
        w, b = (weight, bias) if affine else (None, None)
        running = mean.clone(), var.clone()
        theirs_running = mean.clone(), var.clone()
        mine = pybn_api.batch_norm(x, w, b, *running, training=training, momentum=0.3)
        theirs = torch.native_batch_norm(x, w, b, *theirs_running, training, 0.3, 1e-5)
        near(mine.output, theirs[0], name, "output")
        assert mine.output.dtype == theirs[0].dtype
        assert mine.output.stride() == x.stride()
        for got, want in zip(running, theirs_running, strict=True):
            near(got, want, "float32" if parameter == torch.float32 else name, "running")
        if training:
            near(mine.save_mean, theirs[1], "float32" if name != "float64" else name, "save_mean")
            near(mine.save_invstd, theirs[2], "float32" if name != "float64" else name, "save_invstd")
        save_mean, save_invstd = (s.to(parameter) for s in theirs[1:]) if training else (None, None)
        for mask in itertools.product([True, False], repeat=3):
            if not any(mask):
                continue
            grads = pybn_api.batch_norm_backward(
                dy, x, w, mean, var, save_mean, save_invstd, training=training, output_mask=mask
            )
            asked = [mask[0], mask[1] and affine, mask[2] and affine]
            if not any(asked):
                continue
            reference = torch.ops.aten.native_batch_norm_backward(
                dy, x, w, mean, var, save_mean, save_invstd, training, 1e-5, asked
            )
            for got, want, on, field in zip(grads, reference, asked, grads._fields, strict=True):
                if on:
                    loose = name if field == "grad_input" else ("float64" if name == "float64" else "float32")
                    near(got, want, loose, f"{field} {shape} {mask}")


@pytest.mark.parametrize("ratio", [1e3, 1e4])
def test_ours_is_no_further_from_the_exact_result(ratio):
    """Data whose mean is far above its spread: against float64, ours is within a rounding, and not behind
    theirs."""
    generator = torch.Generator().manual_seed(3)
    x = (ratio + torch.randn(8, 4, 32, 32, generator=generator)).float()
    exact = torch.native_batch_norm(x.double(), None, None, None, None, True, 0.1, 1e-5)
    theirs = torch.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)
    mine = pybn_api.batch_norm(x, training=True)
    my_error = float((mine.output.double() - exact[0]).abs().max())
    their_error = float((theirs[0].double() - exact[0]).abs().max())
    assert my_error <= their_error
    largest = float(exact[0].abs().max())
    assert my_error <= 5 * 2.0**-24 * largest
    assert oracle.U < my_error < 1


def test_empty_batch():
    x = torch.zeros(0, 3, 4, 4)
    got = pybn_api.batch_norm_backward(
        x, x, torch.ones(3), save_mean=torch.zeros(3), save_invstd=torch.ones(3), training=True
    )
    assert got.grad_input.shape == x.shape
    assert np.array_equal(got.grad_weight.numpy(), np.zeros(3))
