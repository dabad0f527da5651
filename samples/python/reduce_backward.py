"""Batch norm's backward sums over two photographs, beside NumPy in float64.

The photographs are stored as pictures are: height, width, colour. Seen as [N, C, H, W] they are a
channels-last view, and the library reads them as they lie: nothing is copied.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import load_sample_images

import pybn_api

COLOURS = ("red", "green", "blue")


def main() -> None:
    stored = np.stack(load_sample_images().images).astype(np.float32) / 255
    x = stored.transpose(0, 3, 1, 2)
    assert x.base is stored or x.base is stored.base

    # Normalize each colour over both pictures. The loss is half the squared distance of each normalized one
    # to the other picture as it was; its gradient is the difference.
    x64 = x.astype(np.float64)
    mean64 = x64.mean(axis=(0, 2, 3))
    invstd64 = 1 / np.sqrt(x64.var(axis=(0, 2, 3)) + 1e-5)
    mean, invstd = mean64.astype(np.float32), invstd64.astype(np.float32)
    y = (x - mean[:, None, None]) * invstd[:, None, None]
    dy = y - x[::-1]

    reduce = pybn_api.plan.batch_norm_reduce_backward(dy, x, mean, invstd)
    result = reduce(dy, x, mean, invstd)

    dy64 = dy.astype(np.float64)
    sum_dy = dy64.sum(axis=(0, 2, 3))
    sum_dy_xmu = (dy64 * (x64 - mean[:, None, None].astype(np.float64))).sum(axis=(0, 2, 3))
    expected = (sum_dy, sum_dy_xmu, sum_dy_xmu * invstd, sum_dy)

    print(pybn_api.build_info())
    print(f"input {x.shape} {x.dtype}, strides {x.strides}: channels last, not copied\n")
    print(f"{'':8}{'output':12}{'pybn_api':>16}{'numpy float64':>20}{'difference':>14}")
    for channel, colour in enumerate(COLOURS):
        for name, ours, theirs in zip(result._fields, result, expected, strict=True):
            got, want = float(ours[channel]), float(theirs[channel])
            print(f"{colour:8}{name:12}{got:16.6f}{want:20.9f}{got - want:14.1e}")
            colour = ""

    seconds = min(timed(reduce, dy, x, mean, invstd) for _ in range(20))
    gigabytes = (dy.nbytes + x.nbytes) / 1e9
    print(
        f"\n{seconds * 1e3:.3f} ms for {gigabytes * 1e3:.1f} MB read: {gigabytes / seconds:.1f} GB/s", end=""
    )
    print(f" on {pybn_api.num_threads()} threads (best of 20)")


def timed(call: pybn_api.plan.Plan, *arguments: np.ndarray) -> float:
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
