"""Every rule of every operator: its status, the parameter that its message names, its place in the order."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from pathlib import Path

import pytest
from contract import DOUBLE, INVALID, D, S
from contract_tables import TABLES

from pybn_api._lib import lib

OPERATORS = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.operator)


@OPERATORS
def test_the_valid_call_is_accepted(table):
    assert table.status() == (0, "")


@contextlib.contextmanager
def speaking(dialect: str) -> Iterator[None]:
    """Calls as they arrive through the names of that interface."""
    if dialect == "bnapi":
        yield
        return
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    loaded = next(line.split(maxsplit=5)[5] for line in maps if line.endswith("/libbn_api.so"))
    library = ctypes.CDLL(loaded)
    library.bnapiAscendEnter()
    try:
        assert library.bnapiAscendSetDevice(0) == 0
        yield
        assert library.bnapiAscendResetDevice(0, True) == 0
    finally:
        library.bnapiAscendLeave()


DIALECTS = pytest.mark.parametrize("dialect", ["bnapi", "aclnn"])


def has_float64(changes) -> bool:
    return any(isinstance(value, (D, S)) and value.dtype == DOUBLE for value in changes.values())


@DIALECTS
@OPERATORS
def test_each_broken_rule_has_its_status_and_names_its_parameter(table, dialect):
    with speaking(dialect):
        for row in table.rows:
            status, message = table.status(row.changes)
            assert status == row.status, (str(row), message)
            if status:
                assert ";" in message, f"{message}: says what came, but not what is allowed"
                # Under the aclnn names float64 itself is the first thing wrong.
                name = "" if dialect == "aclnn" and has_float64(row.changes) else f"{row.names}: "
                assert message.startswith(f"{dialect}{table.operator}: {name}"), (str(row), message)


@OPERATORS
def test_the_first_broken_rule_decides(table):
    """Any two rules broken at once, as far as they concern different parameters."""
    pairs = 0
    for i, first in enumerate(table.rows):
        for second in table.rows[i + 1 :]:
            if first.changes.keys() & second.changes.keys():
                continue
            pairs += 1
            expected = second.status if first.status == 0 and second.when_empty else first.status
            status, message = table.status(first.changes, second.changes)
            assert status == expected, (str(first), str(second), message)
    assert pairs > 10


@DIALECTS
@OPERATORS
def test_what_is_allowed_is_accepted(table, dialect):
    """The aclnn names refuse float64, and nothing else that the neutral ones accept."""
    with speaking(dialect):
        for changes in table.accepted:
            refused = dialect == "aclnn" and has_float64(changes)
            status, message = table.status(changes)
            assert status == (INVALID if refused else 0), (changes, message)


def test_every_operator_has_a_table():
    planned = {
        name[len("bnapi") : -len("GetWorkspaceSize")]
        for name in dir(lib)
        if name.endswith("GetWorkspaceSize")
    }
    assert planned == {table.operator for table in TABLES}
