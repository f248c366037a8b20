"""One transaction as an object, with its table, picture and texts."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ledgerframes.analysis import activity, cost, state
from ledgerframes.analysis.arguments import Snapshot
from ledgerframes.analysis.cost.anatomy_rows import at_time_of, known_cost, read_rows
from ledgerframes.datasets.events.wire import REJECTED
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.texts.control_characters import escape_html
from ledgerframes.texts.representation import pluralize

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["anatomy"]

MAX_ROWS = 50
TITLES = {"node": "Tree", "view": "Views", "envelope": "Cost", "activity": "Earned"}
COLUMNS = {
    "node": ["position", "parent", "label", "parties"],
    "view": ["view_id", "parent_view_id", "informees", "confirmers"],
    "envelope": ["part", "position", "label", "traffic_cost"],
    "activity": ["party", "round_number", "burn_bytes", "activity_weight", "weight", "allowance"],
}


class Anatomy:
    """One transaction, or rejected request, as a table, a picture and texts.

    Attributes
    ----------
    update_id : str
    table : DataFrame
        Result of :func:`ledgerframes.cost.anatomy`.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> day = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> transaction = lf.anatomy(day, day.traffic["update_id"].iloc[0])
    >>> transaction.to_markdown().splitlines()[0] == f"# Update {transaction.update_id}"
    True
    """

    def __init__(self, frames: Frames, update_id: str, base: Snapshot | None = None) -> None:
        self.update_id = update_id
        self.table = cost.anatomy(frames, update_id)
        self._frames, self._base = frames, base
        self._same_time = at_time_of(frames, update_id)

    def __repr__(self) -> str:
        counts = ", ".join(pluralize(len(self.part(part)), f"{part} row") for part in TITLES)
        return f"Anatomy of update {self.update_id}: {counts}"

    def _repr_html_(self) -> str:
        sections = []
        for part, title in TITLES.items():
            rows = self.part(part)
            body = _html_table(rows) if len(rows) else f"<p>{escape_html(self.missing[part])}</p>"
            sections.append(f"<h4>{title}</h4>{body}")
        return f"<h3>Update {escape_html(self.update_id)}</h3><p>{escape_html(self.summary)}</p>{''.join(sections)}"

    @property
    def summary(self) -> str:
        """Verdict, time and cost in one line."""
        parts = [each for each in (self._verdict, self._record_time) if each]
        total = known_cost(self._same_time, self.update_id)
        parts.append(f"{total.iloc[0]:,} bytes" if len(total) else "cost unknown")
        return ", ".join(parts)

    @property
    def _verdict(self) -> str:
        results = read_rows(self._same_time, "verdicts", self.update_id, ["verdict_result"])["verdict_result"]
        return str(results.iloc[0]).removeprefix("VERDICT_RESULT_").lower() if len(results) else "without a verdict"

    @property
    def _record_time(self) -> str:
        tables = (read_rows(self._same_time, name, self.update_id, ["record_time"]) for name in ("verdicts", "updates"))
        return next((f"{rows['record_time'].iloc[0]:%Y-%m-%d %H:%M:%S} UTC" for rows in tables if len(rows)), "")

    @cached_property
    def views(self) -> pd.DataFrame:
        """One row per view, with its depth, number of informees, and confirmers.

        A quorum is written as ``2 of 3: a, b, c``.
        """
        quorums = read_rows(self._same_time, "quorums", self.update_id, ["view_id", "quorum_index", "threshold", "parties"])
        texts: dict[int, list[str]] = {}
        for row in quorums.sort_values(["view_id", "quorum_index"]).to_dict("records"):
            text = f"{row['threshold']} of {len(row['parties'])}: {', '.join(row['parties'])}"
            texts.setdefault(int(row["view_id"]), []).append(text)
        views = read_rows(self._same_time, "views", self.update_id, ["view_id", "parent_view_id", "informees"])
        views = views.sort_values("view_id", ignore_index=True)
        views["informees"] = [len(each) for each in views["informees"]]
        views["depth"] = self.table.loc[self.table["part"] == "view", "depth"].to_numpy()
        confirmers = [" and ".join(texts.get(int(view), [])) or None for view in views["view_id"]]
        return views.assign(confirmers=pd.Series(confirmers, dtype="str"))

    @cached_property
    def earned(self) -> pd.DataFrame:
        """One row per activity record, with bytes before the factor, factor and allowance.

        These columns are missing if the network's state, or the rate of the round, is unknown. An allowance [coin] is paid
        only if the party reaches the threshold of the round.
        """
        rows = self.table[self.table["part"] == "activity"]
        records = read_rows(self._same_time, "activity_records", self.update_id, ["party", "round_number", "weight"])
        records = records.sort_values("party", ignore_index=True)
        computed = self._computed_weights() if len(rows) else None
        names = ["burn_bytes", "activity_weight"]
        if computed is None:
            return records.reindex(columns=[*records.columns, *names, "allowance"])
        facts = computed.set_index("party")[names].reindex(records["party"]).reset_index(drop=True)
        rates = self._rates().reindex(records["round_number"]).reset_index(drop=True)
        products = [
            None if pd.isna(rate) else weight * rate / 10**6 for weight, rate in zip(records["weight"], rates, strict=True)
        ]
        return pd.concat([records, facts], axis=1).assign(allowance=pd.Series(products, dtype="object"))

    def _computed_weights(self) -> pd.DataFrame | None:
        """Return the computed weights of this update, or None without the network's state."""
        try:
            states = state.tables(self._frames, base=self._base)
        except CoverageError:
            return None
        return activity.recompute(self._frames.where("verdicts", update_id=self.update_id), **states)

    def _rates(self) -> pd.Series:
        """Return the rate per MB of each round, or nothing if it cannot be computed."""
        try:
            return activity.rewards(self._frames, base=self._base).set_index("round_number")["rate_per_mb"]
        except CoverageError:
            return pd.Series(dtype="object")

    @cached_property
    def missing(self) -> dict[str, str]:
        """Why a part has no rows, by part."""
        is_rejected = self._verdict == REJECTED.removeprefix("VERDICT_RESULT_").lower()
        kinds = read_rows(self._same_time, "updates", self.update_id, ["kind"])["kind"].astype("str").tolist()
        tree = "a reassignment has no tree" if "reassignment" in kinds else "the history has no nodes of the update"
        has_verdict, has_cost = (
            len(read_rows(self._same_time, name, self.update_id, ["update_id"])) for name in ("verdicts", "traffic")
        )
        envelopes = "its traffic summary has no envelopes" if has_cost else "the history has no traffic summary of the request"
        rejected = "the request was rejected"
        return {
            "node": f"No tree: {rejected if is_rejected else tree if kinds else 'the update is private'}.",
            "view": f"No views: {'the verdict has none' if has_verdict else 'the history has no verdict of that time'}.",
            "envelope": f"No cost: {envelopes}.",
            "activity": f"No record: {rejected if is_rejected else 'the history has none of the request'}.",
        }

    def part(self, part: str) -> pd.DataFrame:
        """Return the rows of a part, which is ``node``, ``view``, ``envelope`` or ``activity``."""
        if part == "view":
            return self.views[COLUMNS[part]]
        if part == "activity":
            return self.earned[COLUMNS[part]]
        parts = [part, "unassigned"] if part == "envelope" else [part]
        return self.table.loc[self.table["part"].isin(parts), COLUMNS[part]].reset_index(drop=True)

    def figure(self) -> Figure:
        """Return a picture of the tree, the views, the cost and what was earned."""
        from ledgerframes.plots.anatomy_picture import draw_anatomy

        return draw_anatomy(self.table, self.views, self.earned, self.missing, f"Update {self.update_id[:20]}: {self.summary}")

    def to_png(self, path: str | Path) -> Path:
        """Write the picture to a PNG file, and return its path."""
        self.figure().savefig(path, format="png", dpi=120)
        return Path(path)

    def to_markdown(self) -> str:
        """Return all parts as Markdown, or why they are missing."""
        lines = [f"# Update {_markdown(self.update_id)}", "", self.summary, ""]
        for part, title in TITLES.items():
            rows = self.part(part)
            lines += [f"## {title}", "", *(_markdown_table(rows) if len(rows) else [self.missing[part]]), ""]
        return "\n".join(lines)


def anatomy(frames: Frames, update_id: str, *, base: Snapshot | None = None) -> Anatomy:
    """Return one transaction, or rejected request, as an object.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`. The factor of a weight needs the history from the network's start,
        or `base`.
    update_id : str
        Id of the transaction, or of the rejected request.
    base : Frames or DataFrame, optional
        Contracts active at or before the start of `frames`, from :func:`ledgerframes.load_contracts`.

    Returns
    -------
    Anatomy
        With its `table`, and as `figure()`, `to_png()` and `to_markdown()`.

    Raises
    ------
    UsageError
        If the update is not in these frames.

    Notes
    -----
    Source: one history event.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> day = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> transaction = lf.anatomy(day, day.traffic["update_id"].iloc[0])
    >>> set(transaction.table["part"]) >= {"view", "envelope"}
    True
    """
    return Anatomy(frames, update_id, base)


def _cells(rows: pd.DataFrame) -> list[list[str]]:
    """Return the first rows as texts, followed by a row that says how many are omitted."""
    cells = [["" if pd.isna(value) else str(value) for value in row] for row in rows.head(MAX_ROWS).itertuples(index=False)]
    omitted = len(rows) - MAX_ROWS
    return [*cells, [f"{omitted:,} more", *[""] * (len(rows.columns) - 1)]] if omitted > 0 else cells


def _html_table(rows: pd.DataFrame) -> str:
    head = "".join(f"<th>{escape_html(str(name).replace('_', ' '))}</th>" for name in rows)
    body = "".join(f"<tr>{''.join(f'<td>{escape_html(cell)}</td>' for cell in row)}</tr>" for row in _cells(rows))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _markdown_table(rows: pd.DataFrame) -> list[str]:
    head = [str(name).replace("_", " ") for name in rows]
    body = [[_markdown(cell) for cell in row] for row in _cells(rows)]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *body)]


def _markdown(text: str) -> str:
    """Return a text of the network that is neither HTML nor markup."""
    escaped = escape_html(text)
    for mark in "\\`*_[]|":
        escaped = escaped.replace(mark, f"\\{mark}")
    return " ".join(escaped.split())
