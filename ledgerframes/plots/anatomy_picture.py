"""Picture of one transaction, with its tree, views, cost and activity weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots._cost_kinds import cost_anatomy
from ledgerframes.plots._pyplot import pyplot
from ledgerframes.texts.representation import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_NODES = 24
SIZE = (13.0, 8.5)


def draw_anatomy(
    table: pd.DataFrame, views: pd.DataFrame, earned: pd.DataFrame, missing: Mapping[str, str], title: str
) -> Figure:
    """Return four pictures on one figure, each with a sentence instead if it has no rows."""
    plt = pyplot()
    figure: Figure
    with c.style():
        figure, axes = plt.subplots(2, 2, figsize=SIZE, layout="constrained", width_ratios=(1.15, 1))
        plt.close(figure)  # a notebook shows what it gets, not what is open
        (tree_axes, view_axes), (cost_axes, earned_axes) = axes
        figure.suptitle(r.label(title, 110), x=0.01, ha="left", fontsize=12)
        nodes = table[table["part"] == "node"]
        draw_levels(tree_axes, nodes["depth"].tolist(), nodes["label"].tolist(), "Tree", missing["node"])
        draw_levels(view_axes, views["depth"].tolist(), _view_texts(views), "Views and who confirms", missing["view"])
        cost_anatomy(table, ax=cost_axes)
        _draw_earned(earned_axes, earned, missing["activity"])
    return figure


def draw_levels(ax: Axes, depths: Sequence[int], texts: Sequence[str], title: str, missing: str) -> None:
    """Draw rows in order, each below its parent in the tree."""
    ax.set_axis_off()
    omitted = len(texts) - MAX_NODES
    c.set_titles(ax, f"{title} ({len(texts):,})" if texts else title, f"{omitted:,} more not shown" if omitted > 0 else "")
    if not texts:
        c.draw_message(ax, missing)
        return
    last_row: dict[int, int] = {}
    for row, (depth, text) in enumerate(zip(depths[:MAX_NODES], texts[:MAX_NODES], strict=True)):
        if depth - 1 in last_row:
            above = last_row[depth - 1]
            ax.plot([depth - 0.6, depth - 0.6, depth - 0.1], [above + 0.3, row, row], color="0.6", linewidth=0.8)
        ax.text(depth, row, r.label(text, 66 - 2 * depth), va="center", fontsize=8, color=c.text_color(ax))
        last_row[depth] = row
    ax.set_xlim(-0.2, max(max(depths[:MAX_NODES]) + 8, 9))
    ax.set_ylim(max(min(len(texts), MAX_NODES), 6) - 0.4, -0.6)


def _view_texts(views: pd.DataFrame) -> list[str]:
    columns = zip(views["view_id"], views["confirmers"], views["informees"], strict=True)
    return [f"view {view}: {_confirmers(quorums)}, {pluralize(informees, 'informee')}" for view, quorums, informees in columns]


def _confirmers(quorums: object) -> str:
    """Return threshold and parties of each quorum, without their fingerprints."""
    if not isinstance(quorums, str):
        return "nobody confirms"
    short = [f"{quorum.partition(': ')[0]} ({_names(quorum.partition(': ')[2])})" for quorum in quorums.split(" and ")]
    return " and ".join(short)


def _names(parties: str) -> str:
    return ", ".join(party.partition("::")[0] for party in parties.split(", "))


def _draw_earned(ax: Axes, earned: pd.DataFrame, missing: str) -> None:
    if earned.empty:
        c.set_titles(ax, "Activity weight")
        return c.draw_message(ax, missing)
    rows = earned.sort_values("weight", ascending=False)
    weights = rows["weight"].to_numpy("float64")
    drawn = ax.barh(range(len(rows)), weights, height=0.7, color=c.color(0))
    ax.bar_label(drawn, [_earned_text(row) for _, row in rows.iterrows()], padding=4, fontsize=8, color=c.text_color(ax))
    c.row_labels(ax, [r.label(party) for party in rows["party"]])
    ax.set_xlim(0, max(weights.max(), 1) * 1.9)
    c.weight_axis(ax.xaxis, weights.max())
    rounds = ", ".join(str(number) for number in rows["round_number"].unique())
    note = "An allowance is paid only if the party reaches the round's threshold"
    return c.set_titles(ax, f"Activity weight of round {rounds}", note)


def _earned_text(row: pd.Series) -> str:
    text = c.weight(float(row["weight"]))
    if not pd.isna(row["activity_weight"]):
        text = f"{c.size(float(row['burn_bytes']))} × {row['activity_weight'].normalize():f} = {text}"
    return text if pd.isna(row["allowance"]) else f"{text}, {row['allowance']:,.4f} coin"
