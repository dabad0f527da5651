"""What makes planned calls cheap (csrc/python/caller.c)."""

from collections.abc import Callable
from typing import Any

class Caller:
    """A repeatable executor with its workspace; everything is an address."""
    def __new__(
        cls, aim: int, run: int, synchronize: int, executor: int, workspace: int, workspace_size: int, /
    ) -> Caller: ...
    def run(self, inputs: list[Any], outputs: list[Any], stream: int, wait: bool, /) -> int: ...

class Quick:
    """A caller with what the arrays of its plan look like, for arrays that look the same."""
    def __new__(
        cls,
        ndarray: type,
        caller: Caller,
        inputs: list[Any],
        written: list[bool],
        outputs: list[Any] | None,
        makers: list[Callable[[], Any] | None],
        get_device: int,
        device: int,
        away: int,
        /,
    ) -> Quick: ...
    def call(self, inputs: list[Any], outputs: list[Any] | None, /) -> list[Any] | int | None: ...

def peek(array: Any, /) -> tuple[int, tuple[int, ...], tuple[int, ...], Any, bool]: ...
