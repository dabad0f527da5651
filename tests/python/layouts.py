"""Memory layouts of test arrays: the same values, laid out in every way that strides can say.

Every layout gives a view with the values of `array`. `guarded` makes outputs between guard elements, so that
a write beside the view, or into its gaps, is seen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Layout = Callable[[np.ndarray], np.ndarray]


def contiguous(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array)


def channels_last(array: np.ndarray) -> np.ndarray:
    """Axis 1 innermost in memory."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def permuted(array: np.ndarray) -> np.ndarray:
    """The axes in memory in reverse."""
    return np.ascontiguousarray(array.T).T


def negative(array: np.ndarray) -> np.ndarray:
    """Every axis backwards in memory."""
    flip = (slice(None, None, -1),) * array.ndim
    return np.ascontiguousarray(array[flip])[flip]


def gapped(array: np.ndarray) -> np.ndarray:
    """Every other element of a larger array, at an offset, on every axis."""
    wide = np.full([2 * extent + 3 for extent in array.shape], _noise(array.dtype), array.dtype)
    view = wide[tuple(slice(1, 1 + 2 * extent, 2) for extent in array.shape)]
    view[...] = array
    return view


def row_gapped(array: np.ndarray) -> np.ndarray:
    """Contiguous runs on the last axis, at an odd offset, with a gap behind each."""
    wide = np.full([*array.shape[:-1], array.shape[-1] + 3], _noise(array.dtype), array.dtype)
    view = wide[..., 1 : 1 + array.shape[-1]]
    view[...] = array
    return view


def channels_outermost(array: np.ndarray) -> np.ndarray:
    """Each channel's elements together in memory."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, 0)), 0, 1)


def unaligned_start(array: np.ndarray) -> np.ndarray:
    """Contiguous, but starting one element into its memory: vector loads meet no alignment."""
    raw = np.full(array.size + 1, _noise(array.dtype), array.dtype)
    view = raw[1:].reshape(array.shape)
    view[...] = array
    return view


LAYOUTS: dict[str, Layout] = {
    f.__name__: f
    for f in (
        contiguous,
        channels_last,
        permuted,
        negative,
        gapped,
        row_gapped,
        channels_outermost,
        unaligned_start,
    )
}


def broadcast(array: np.ndarray, axis: int) -> np.ndarray:
    """Stride 0 on one axis: its first slice, repeated. The values are not those of `array`."""
    first = np.take(array, [0], axis) if array.shape[axis] else array
    return np.broadcast_to(first, array.shape)


def _noise(dtype: np.dtype) -> float:
    """What lies in gaps of inputs: it ruins any result that it enters."""
    return np.nan if np.issubdtype(dtype, np.inexact) or dtype.name == "bfloat16" else 97


class Guarded:
    """An output with guard elements around it and in its gaps."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, layout: Layout = contiguous) -> None:
        self.dtype = np.dtype(dtype)
        # Laid out as `layout` does it, on a number of each element's own: the map of memory to elements.
        template = layout(np.arange(1, int(np.prod(shape)) + 1, dtype=np.int64).reshape(shape))
        low = min(0, sum(s * (n - 1) for s, n in zip(template.strides, shape, strict=True) if s < 0 and n))
        high = sum(s * (n - 1) for s, n in zip(template.strides, shape, strict=True) if s > 0 and n)
        before, inside, after = 3, (high - low) // 8 + 1, 5
        self.raw = np.full(before + inside + after, _noise(self.dtype), self.dtype)
        self.strides = tuple(stride // 8 for stride in template.strides)  # elements
        self.offset = before - low // 8  # elements, from the start of `raw` to element 0
        item = self.dtype.itemsize
        self.view = np.lib.stride_tricks.as_strided(
            self.raw[self.offset :], shape, [stride * item for stride in self.strides]
        )
        self.inside = np.zeros(self.raw.shape, bool)
        np.lib.stride_tricks.as_strided(self.inside[self.offset :], shape, self.strides)[...] = True

    def fill(self, values: np.ndarray) -> Guarded:
        """Gives the output content, for tensors that are updated in place."""
        self.view[...] = values
        return self

    def check(self, name: str = "output") -> None:
        """Fails if anything but the view's own elements was written."""
        outside = self.raw[~self.inside]
        expected = np.full(outside.shape, _noise(self.dtype), self.dtype)
        same = outside.view(f"u{self.dtype.itemsize}") == expected.view(f"u{self.dtype.itemsize}")
        assert same.all(), f"{name}: {np.count_nonzero(~same)} elements beside the output were written"
