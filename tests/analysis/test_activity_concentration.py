"""Concentration of activity: hand-worked figures, ties, and its definition with fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from campaign import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from network_world import World

import ledgerframes as lf
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames


def three_parties() -> Frames:
    records = [("A", 100), ("B", 300), ("C", 600), ("D", 0)]
    return World().request("u", 1, records=records).frames()


def test_concentration_of_the_example() -> None:
    row = lf.activity.concentration(three_parties()).iloc[0]
    assert (row["parties"], row["parties_zero"], row["total"]) == (3, 1, 1000)
    assert (row["gini"], row["hhi"]) == (float(Fraction(1, 3)), 0.46)
    assert (row["top_1"], row["top_3"], row["top_10"]) == (0.6, 1, 1)
    curve = lf.activity.lorenz(three_parties())
    assert curve["party"].tolist() == ["A", "B", "C"]
    assert curve["cumulative_share"].tolist() == [0.1, 0.4, 1]
    assert curve["cumulative_parties"].tolist() == [1 / 3, 2 / 3, 1]


def test_ties_belong_to_the_leading_group() -> None:
    records = [("A", 5), ("B", 4), ("C", 4), ("D", 4), ("E", 3)]
    row = lf.activity.concentration(World().request("u", 1, records=records).frames(), top=[2]).iloc[0]
    assert (row["top_2"], row["top_2_parties"]) == (17 / 20, 4)


def test_one_party_and_none() -> None:
    row = lf.activity.concentration(World().request("u", 1, records=[("A", 5)]).frames()).iloc[0]
    assert (row["gini"], row["hhi"], row["top_1"]) == (0, 1, 1)
    row = lf.activity.concentration(World().request("u", 1).frames()).iloc[0]
    assert row["parties"] == 0
    assert row[["gini", "hhi", "top_1", "total"]].isna().all()
    assert lf.activity.lorenz(World().frames()).empty


@settings(max_examples=examples(10))
@given(values=st.lists(st.integers(0, 2**55), min_size=1, max_size=8))
def test_concentration_by_its_definition(values: list[int]) -> None:
    records = [(f"p{number}", value) for number, value in enumerate(values)]
    row = lf.activity.concentration(World().request("u", 1, records=records).frames()).iloc[0]
    positive = sorted(value for value in values if value)
    assert (row["parties"], row["parties_zero"]) == (len(positive), len(values) - len(positive))
    if positive:
        n, total = len(positive), sum(positive)
        differences = sum(abs(a - b) for a in positive for b in positive)
        assert row["gini"] == float(Fraction(differences, 2 * n * total))
        assert row["hhi"] == float(sum(Fraction(value, total) ** 2 for value in positive))
        curve = lf.activity.lorenz(World().request("u", 1, records=records).frames())
        assert curve["cumulative_share"].tolist() == [float(Fraction(sum(positive[: i + 1]), total)) for i in range(n)]
        assert curve["cumulative_parties"].tolist() == [(i + 1) / n for i in range(n)]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"of": "bytes"}, "Unknown of='bytes'. Choose from 'weight', 'burn_bytes', 'amount'"),
        ({"top": (0,)}, r"top= must be whole numbers from 1, got \(0,\)"),
        ({"top": ()}, "top= must be whole numbers"),
        ({"of": "amount", "every": "1d"}, "every= must be 'round' or None for of='amount', got '1d'"),
    ],
)
def test_wrong_arguments_of_concentration(named: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        lf.activity.concentration(three_parties(), **named)
