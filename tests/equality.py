"""Frames compared table by table."""

from __future__ import annotations

import msgspec
import pandas as pd

import ledgerframes as lf

PAYLOADS = ("create_arguments", "choice_argument", "exercise_result")


def every_table(frames: lf.Frames) -> dict[str, pd.DataFrame]:
    return {name: frames.read(name) for name in frames.tables}


def fetched_rows(frames: lf.Frames) -> dict[str, pd.DataFrame]:
    """Every table without the time of its fetch, which differs from load to load."""
    return {name: frame.drop(columns="fetched_at", errors="ignore") for name, frame in every_table(frames).items()}


def assert_equal(left: dict[str, pd.DataFrame], right: dict[str, pd.DataFrame]) -> None:
    assert left.keys() == right.keys()
    for name, frame in left.items():
        assert_table_equal(frame, right[name], name)


def assert_table_equal(left: pd.DataFrame, right: pd.DataFrame, name: str) -> None:
    """As pandas compares, which takes ten times as long and says what differs. It takes half of that for values of categories."""
    assert categories_of(left) == categories_of(right), name
    if not is_identical(left, right):
        pd.testing.assert_frame_equal(with_codes(left), with_codes(right), obj=name)


def is_identical(left: pd.DataFrame, right: pd.DataFrame) -> bool:
    names = left.columns.identical(right.columns) and left.index.identical(right.index)
    return names and left.dtypes.tolist() == right.dtypes.tolist() and left.equals(right)


def categories_of(frame: pd.DataFrame) -> dict[str, tuple[list[object], bool]]:
    return {name: (list(column.cat.categories), column.cat.ordered) for name, column in frame.select_dtypes("category").items()}


def with_codes(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(**{name: column.cat.codes for name, column in frame.select_dtypes("category").items()})


def with_sorted_payloads(frame: pd.DataFrame) -> pd.DataFrame:
    """A table with the keys of payloads in order: bulk objects sort them, the listing does not."""
    return frame.assign(**{name: frame[name].map(with_sorted_keys, na_action="ignore") for name in PAYLOADS if name in frame})


def with_sorted_keys(text: str) -> str:
    return msgspec.json.encode(msgspec.json.decode(text), order="sorted").decode()
