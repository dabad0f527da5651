"""How far this library and PyTorch are from the float64 result, as the mean of the data grows.

Writes the table and the plot of docs/numerics.md. Data is float32 with standard deviation 1 and a mean of
1 to 1e6; the reference takes the same float32 values and computes in float64, in two passes.

    python benchmarks/accuracy.py
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import pybn_api as bn

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
SHAPE = (16, 4, 64, 64)
AXES = (0, 2, 3)
EPS = 1e-5
MEANS = [10.0**k for k in range(7)]
Values = dict[str, np.ndarray[Any, Any]]


def per_channel(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(values, np.float64).reshape(1, -1, 1, 1)


def inputs(mean: float) -> Values:
    rng = np.random.default_rng(7)
    channels = SHAPE[1]
    return {
        "x": (rng.standard_normal(SHAPE) + mean).astype(np.float32),
        "dy": rng.standard_normal(SHAPE).astype(np.float32),
        "weight": rng.uniform(0.5, 1.5, channels).astype(np.float32),
        "bias": rng.standard_normal(channels).astype(np.float32),
    }


def reference(i: Values) -> Values:
    x, dy = i["x"].astype(np.float64), i["dy"].astype(np.float64)
    n = x.size // x.shape[1]
    centred = x - per_channel(x.mean(axis=AXES))
    invstd = 1.0 / np.sqrt((centred**2).mean(axis=AXES) + EPS)
    xhat = centred * per_channel(invstd)
    sum_dy, grad_weight = dy.sum(axis=AXES), (dy * xhat).sum(axis=AXES)
    grad_input = dy - per_channel(sum_dy) / n - xhat * per_channel(grad_weight) / n
    return {
        "output": xhat * per_channel(i["weight"]) + per_channel(i["bias"]),
        "gradWeight": grad_weight,
        "gradInput": grad_input * per_channel(i["weight"]) * per_channel(invstd),
    }


def ours(i: Values) -> Values:
    # Statistics travel in float64 between forward and backward, as the neutral API allows.
    saved = [np.empty(SHAPE[1]) for _ in range(2)]
    forward = bn.batch_norm(
        i["x"], i["weight"], i["bias"], training=True, eps=EPS, out=(np.empty_like(i["x"]), *saved)
    )
    backward = bn.batch_norm_backward(
        i["dy"], i["x"], i["weight"], save_mean=saved[0], save_invstd=saved[1], training=True, eps=EPS
    )
    return {"output": forward.output, "gradWeight": backward.grad_weight, "gradInput": backward.grad_input}


def pytorch(i: Values) -> Values:
    t = {name: torch.from_numpy(values) for name, values in i.items()}
    y, mean, invstd = torch.ops.aten.native_batch_norm(
        t["x"], t["weight"], t["bias"], None, None, True, 0.1, EPS
    )
    dx, dw, _ = torch.ops.aten.native_batch_norm_backward(
        t["dy"], t["x"], t["weight"], None, None, mean, invstd, True, EPS, [True, True, True]
    )
    return {"output": y.numpy(), "gradWeight": dw.numpy(), "gradInput": dx.numpy()}


def error(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> float:
    """Largest error, as a part of the largest value."""
    return float(np.abs(got.astype(np.float64) - want).max() / np.abs(want).max())


def main() -> None:
    libraries: dict[str, Callable[[Values], Values]] = {"bn_api": ours, "PyTorch": pytorch}
    errors: dict[tuple[str, str], list[float]] = {}
    for mean in MEANS:
        i = inputs(mean)
        want = reference(i)
        for name, run in libraries.items():
            for output, got in run(i).items():
                errors.setdefault((output, name), []).append(error(got, want[output]))

    header = "| mean / std | " + " | ".join(f"{output}, {name}" for output, name in errors) + " |"
    lines = [BEGIN, header, "|---" * (len(errors) + 1) + "|"]
    for k, mean in enumerate(MEANS):
        lines.append(f"| {mean:g} | " + " | ".join(f"{e[k]:.1e}" for e in errors.values()) + " |")
    lines += ["", "![Error against mean over standard deviation](images/numerics.png)", END]
    path = ROOT / "docs" / "numerics.md"
    before, _, rest = path.read_text().partition(BEGIN)
    path.write_text(before + "\n".join(lines) + rest.partition(END)[2])
    print("\n".join(lines[1:-3]))
    plot(errors)


def plot(errors: dict[tuple[str, str], list[float]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    outputs = list(dict.fromkeys(output for output, _ in errors))
    figure, axes = plt.subplots(1, len(outputs), figsize=(12, 3.8), sharey=True)
    for axis, output in zip(axes, outputs, strict=True):
        for (of, name), values in errors.items():
            if of == output:
                axis.loglog(MEANS, values, marker="o", label=name)
        axis.axhline(2.0**-24, color="grey", linestyle=":", label="half a float32 ulp of 1")
        axis.set_title(output)
        axis.set_xlabel("mean / standard deviation")
    axes[0].set_ylabel("largest error / largest value")
    axes[0].legend()
    figure.tight_layout()
    path = ROOT / "docs" / "images" / "numerics.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
