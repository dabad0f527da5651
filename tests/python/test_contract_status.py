"""Every rule of every operator: its status, the parameter that its message names, its place in the order."""

from __future__ import annotations

import pytest
from contract_tables import TABLES

from pybn_api._lib import lib

OPERATORS = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.operator)


@OPERATORS
def test_the_valid_call_is_accepted(table):
    assert table.status() == (0, "")


@OPERATORS
def test_each_broken_rule_has_its_status_and_names_its_parameter(table):
    for row in table.rows:
        status, message = table.status(row.changes)
        assert status == row.status, (str(row), message)
        if status:
            assert message.startswith(f"bnapi{table.operator}: {row.names}: "), (str(row), message)
            assert ";" in message, f"{message}: says what came, but not what is allowed"


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


@OPERATORS
def test_what_is_allowed_is_accepted(table):
    for changes in table.accepted:
        assert table.status(changes) == (0, ""), changes


def test_every_operator_has_a_table():
    planned = {
        name[len("bnapi") : -len("GetWorkspaceSize")]
        for name in dir(lib)
        if name.endswith("GetWorkspaceSize")
    }
    assert planned == {table.operator for table in TABLES}
