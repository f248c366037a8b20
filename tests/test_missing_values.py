"""Every picture draws, or says why it does not, where values of a result are missing."""

from __future__ import annotations

from math import ceil

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd
import pytest
from cases import every_nth
from test_plot import PICTURES

from ledgerframes import plot
from ledgerframes.analysis import FIGURES
from ledgerframes.report.marks import find_marks, locate_marks

POSITIONS = ("round_number", "hour", "weekday", "number")  # no picture over them can have a row without one
each_picture = pytest.mark.parametrize("name", every_nth([name for name in PICTURES if PICTURES[name][0] in FIGURES], 2))


def nullable(picture, frame):
    """Names of the columns of a result that can be missing, without its coverage and what names groups."""
    figure = FIGURES[picture]
    keys = {key for by in (None, *figure.by) for key in figure.grouping(by).key_names} | {*(figure.distinct or ())}
    others = [*POSITIONS, *keys, *(column.name for column in figure.tail)]
    dtypes = frame.dtypes.astype("str")
    can_be_missing = dtypes.str.match("Int|float|decimal|timedelta") & ~dtypes.index.isin(others)
    return can_be_missing.index[can_be_missing].tolist()


def draw(frame, picture):
    """Draw a result on given axes, and return its figure."""
    figure = mpl.figure.Figure()
    plot(frame, figure.subplots(), picture=picture)
    return figure


@each_picture
def test_all_values_can_be_missing(name):
    picture, make, *_ = PICTURES[name]
    frame = make(4)
    nothing = {column: frame[column].where(pd.Series(False, frame.index)) for column in nullable(picture, frame)}
    figure = draw(frame.assign(**nothing), picture)
    locate_marks(find_marks(figure), figure)


@each_picture
def test_a_row_can_miss_one_value(name):
    # Each row lacks another column, so that few drawings have each column missing beside all others.
    picture, make, *_ = PICTURES[name]
    frame = make(24)
    columns = nullable(picture, frame)
    for number in range(ceil(len(columns) / len(frame))):
        of_rows = columns[number * len(frame) : (number + 1) * len(frame)]
        draw(
            frame.assign(**{column: frame[column].where(np.arange(len(frame)) != at) for at, column in enumerate(of_rows)}),
            picture,
        )
