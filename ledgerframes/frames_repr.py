"""Frames as they show themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerframes.control_characters import escape_html as escape
from ledgerframes.population import POPULATION_DESCRIPTIONS

if TYPE_CHECKING:
    from ledgerframes.frames import Frames


def describe_as_text(frames: Frames, bytes_on_disk: int) -> str:
    """Return the facts about frames as lines."""
    return "Frames\n" + "\n".join(f"  {name:<18} {value}" for name, value in _facts(frames, bytes_on_disk))


def describe_as_html(frames: Frames, bytes_on_disk: int) -> str:
    """Return the facts about frames as an HTML table."""
    cells = [(escape(name), escape(value)) for name, value in _facts(frames, bytes_on_disk)]
    rows = "".join(f"<tr><th style='text-align:left'>{name}</th><td>{value}</td></tr>" for name, value in cells)
    return f"<table><caption>Frames</caption>{rows}</table>"


def _facts(frames: Frames, bytes_on_disk: int) -> list[tuple[str, str]]:
    covered = frames.coverage
    provisional = int(covered.loc[covered["status"] == "provisional", "rows"].sum())
    facts = [("network", frames.network), ("range", _extent(frames)), ("population", POPULATION_DESCRIPTIONS[frames.population])]
    facts += [(table, f"{frames.count_rows(table):,} rows") for table in frames.tables]
    if provisional:
        facts.append(("provisional", f"{provisional:,} rows (the next load fetches them again)"))
    for row in frames.problems.itertuples():
        facts.append((f"{row.problem}s", f"{row.rows:,} rows of {row.table} are excluded, such as {row.update_id}"))
    facts.append(("on disk", f"{bytes_on_disk / 1e6:,.1f} MB"))
    if frames.unknown_ids:
        facts.append(("unknown ids", f"{len(frames.unknown_ids):,}"))
    if frames.failed_objects:
        facts.append(("not read", f"{len(frames.failed_objects):,} bulk objects"))
    return facts


def _extent(frames: Frames) -> str:
    if frames.offset_range:
        return f"offsets after {frames.offset_range[0]} through {frames.offset_range[1]}"
    return str(frames.window) if frames.window else "by id"
