"""What the package asks of a kind of array."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeAlias

from pybn_api.runtime import Stream

# Any object that comes with shape, strides, dtype and memory: numpy, PyTorch, CuPy, DLPack,
# __cuda_array_interface__.
Array: TypeAlias = Any


class View(NamedTuple):
    """A description of an array's memory."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]  # elements
    dtype: int  # the library's number
    address: int  # of element 0
    device: int  # the library's number
    writable: bool


class Family(ABC):
    """How to read, and make, one kind of array."""

    # True if work queued on stream() may outlive the arrays: their memory is reused in that stream's order
    # only.
    stream_ordered = False

    @abstractmethod
    def signature(self, array: Array) -> Hashable:
        """What an executor depends on: equal signatures differ in address only. Cheap."""

    @abstractmethod
    def view(self, array: Array) -> View:
        """Describes the array; raises for strides that are no multiple of the item size."""

    @abstractmethod
    def address(self, array: Array) -> int:
        """The address of element 0."""

    @abstractmethod
    def writable(self, array: Array) -> bool:
        """May the array be written to?"""

    @abstractmethod
    def allocator(
        self, like: Array, shape: Sequence[int], dtype: int, order: Sequence[int]
    ) -> Callable[[], Array]:
        """A function that makes uninitialised arrays on `like`'s device, dense, with `order` as the axes from
        the outermost to the innermost in memory."""

    def stream(self, array: Array) -> Stream | None:
        """The stream that the array's own library queues work on at this moment, or None for synchronous
        calls."""
        return None

    def finish(self, result: Array, like: Array) -> Array:
        """A result made by `allocator` in the caller's array type."""
        return result


def dense_strides(shape: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of a gapless array whose axes lie in memory as `order` says."""
    strides = [0] * len(shape)
    step = 1
    for axis in reversed(order):
        strides[axis] = step
        step *= max(1, shape[axis])
    return tuple(strides)


def memory_order(view: View) -> tuple[int, ...]:
    """The axes of an array from the outermost in memory to the innermost; ties and broadcast axes as they
    come."""
    if 0 in view.strides:
        # A broadcast axis has no place in memory: row-major around it would split what it repeats.
        return tuple(range(len(view.shape)))
    return tuple(sorted(range(len(view.shape)), key=lambda axis: -abs(view.strides[axis])))
