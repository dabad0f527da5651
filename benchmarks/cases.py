"""The shapes that are timed: batch norm as it stands in real networks, and a few corners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

OPERATIONS = ("reduce_backward", "forward_train", "forward_eval", "backward", "elemt", "stats")
LAYOUTS = ("contiguous", "channels_last")
DTYPES = ("float32", "bfloat16", "float16")

# ResNet-50's batch norms for 224 x 224 images: channels and the side of the (square) plane.
RESNET50 = (
    (64, 112),
    (64, 56),
    (256, 56),
    (128, 56),
    (128, 28),
    (512, 28),
    (256, 14),
    (1024, 14),
    (512, 7),
    (2048, 7),
)

# N, C, H, W. (4096, 512) is a batch of vectors.
SHAPES = (
    (32, 64, 56, 56),
    (4096, 512, 1, 1),
    (64, 512, 7, 7),
    (16, 32, 128, 128),
    (32, 64, 112, 112),
    (2, 3, 1080, 1920),
    (2, 8, 4, 4),
)


@dataclass(frozen=True)
class Case:
    """One operation on one shape."""

    op: str
    dtype: str
    layout: str
    shape: tuple[int, int, int, int]

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Case:
        return cls(values["op"], values["dtype"], values["layout"], tuple(values["shape"]))

    def line(self) -> str:
        return " ".join([self.op, self.dtype, self.layout, *map(str, self.shape)])

    def __str__(self) -> str:
        return f"{self.op} {self.dtype} {self.layout} {'x'.join(map(str, self.shape))}"

    def streams(self) -> int:
        """Tensors of the case's size that must be read or written at least once."""
        return {"stats": 1, "reduce_backward": 2, "backward": 3}.get(self.op, 2)

    def bytes(self) -> int:
        n, c, h, w = self.shape
        return self.streams() * n * c * h * w * (4 if self.dtype == "float32" else 2)


def _layouts(shape: tuple[int, int, int, int]) -> tuple[str, ...]:
    # Without a plane the two layouts are one.
    return LAYOUTS if shape[2] * shape[3] > 1 else ("contiguous",)


def _all(shapes: tuple[tuple[int, int, int, int], ...], dtypes: tuple[str, ...]) -> list[Case]:
    return [
        Case(op, dtype, layout, s)
        for s in shapes
        for dtype in dtypes
        for layout in _layouts(s)
        for op in OPERATIONS
    ]


_NETWORK = tuple((n, c, side, side) for n in (1, 8, 32) for c, side in RESNET50)

CASES: list[Case] = list(dict.fromkeys(_all(SHAPES + _NETWORK, DTYPES)))

QUICK: list[Case] = _all(((32, 64, 56, 56),), ("float32", "bfloat16"))
