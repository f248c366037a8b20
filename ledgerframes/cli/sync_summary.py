"""Documents and texts about what a sync fetched, or would fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledgerframes.cli import output
from ledgerframes.texts.control_characters import escape_control
from ledgerframes.texts.representation import pluralize

MAX_VALUE = 60  # characters of an example

if TYPE_CHECKING:
    import pandas as pd

    from ledgerframes.frames import Frames
    from ledgerframes.network import Network


def format_plan(document: dict[str, Any], *, of_objects: bool = False) -> str:
    """Return a plan as lines. Time without bulk objects has no line."""
    network, rows = document["network"], document["plan"]
    if not rows and of_objects:
        return f"Nothing to fetch: the store has all bulk objects that {network} has published of what you selected."
    if not rows:
        return f"Nothing to fetch: the store has everything of {network} that you selected."
    for column, noun in (("object_key", "bulk object"), ("update_id", "update id")):
        if rows[0][column] is not None:
            title = f"Would fetch {pluralize(len(rows), noun)} from {network}:"
            return "\n".join([title, *(escape_control(row[column]) for row in rows)])
    if rows[0]["through"] is not None:
        titles = ["after offset", "through offset"]
        cells = [[f"{row['after']:,}", f"{row['through']:,}"] for row in rows]
    else:
        titles = ["migration", "since (UTC)", "until (UTC)"]
        cells = []
        for row in rows:
            migration = "unknown" if row["migration_id"] is None else row["migration_id"]
            cells.append([migration, output.format_time(row["since"]), output.format_time(row["until"])])
    table = output.format_table(titles, cells)
    return f"Would fetch from {network}:\n{table}{_format_costs(rows)}"


def _format_costs(rows: list[dict[str, Any]]) -> str:
    """Return the sum of the estimates as a line, or nothing without them."""
    if any(row["requests"] is None for row in rows):
        return ""
    requests, count, size = (sum(row[name] for row in rows) for name in ("requests", "rows", "bytes"))
    texts = [pluralize(requests, "request"), pluralize(count, "row"), output.format_bytes(size)]
    bases = ["the density of what is in the store"]
    if all(row["minutes"] is not None for row in rows):
        texts.append(f"at most {pluralize(sum(row['minutes'] for row in rows), 'minute')}")
        bases.append(rows[0]["request_rate"])
    return f"\nAbout {', '.join(texts)}, by {' and '.join(bases)}."


def describe_sync(net: Network, frames: Frames, seconds: float) -> dict[str, Any]:
    """Return the extent, the rows and the HTTP requests of a sync as plain values."""
    from ledgerframes.loaders.additions import additions_of

    coverage, additions = frames.coverage, additions_of(frames)
    return {
        "network": net.name,
        "since": frames.window.since if frames.window else None,
        "until": frames.window.until if frames.window else None,
        "after": frames.offset_range[0] if frames.offset_range else None,
        "through": frames.offset_range[1] if frames.offset_range else None,
        "rows": {table: frames.count_rows(table) for table in frames.tables},
        "provisional": has_provisional(coverage),
        "provisional_rows": int(coverage.loc[coverage["status"] == "provisional", "rows"].sum()),
        "gaps": gaps_of(coverage),
        "problems": frames.problems.to_dict("records"),
        "extra_members": sorted(additions.members),
        "response_members": net.extra_members,
        "new_kinds": sorted(additions.kinds),
        "unknown_ids": frames.unknown_ids,
        "failed_objects": list(frames.failed_objects),
        "requests": net.request_count,
        "seconds": round(seconds, 2),
        "store": str(net.store.location),
    }


def has_provisional(coverage: pd.DataFrame) -> bool:
    """Return whether a part of the coverage may change, with or without rows."""
    return bool((coverage["status"] == "provisional").any())


def gaps_of(coverage: pd.DataFrame) -> list[dict[str, int]]:
    """Return the offset ranges that were pruned before they were fetched."""
    gaps = coverage.loc[coverage["status"] == "gap", ["after", "through"]]
    return [{"after": int(after), "through": int(through)} for after, through in gaps.itertuples(index=False)]


def describe_bulk(frames: Frames, kind: str) -> dict[str, Any]:
    """Return the snapshot time, or the end of the days for which the network has bulk objects."""
    if kind == "acs":
        days = frames.read("bulk_objects", ["since"])["since"]
        return {"snapshot_time": None if days.empty else days.max().to_pydatetime()}
    if frames.window is None or frames.failed_objects:
        return {}
    ends = frames.coverage["until"]  # includes days without updates
    return {"objects_until": frames.window.since if ends.empty else ends.max().to_pydatetime()}


def describe_observations(net: Network, rows: pd.DataFrame) -> dict[str, Any]:
    """Return the number of stored observations of reference data, and the latest time."""
    times = rows["observed_at"].drop_duplicates()
    return {
        "network": net.name,
        "observations": len(times),
        "latest": None if times.empty else times.iloc[-1].to_pydatetime(),
        "rows": len(rows),
        "requests": net.request_count,
    }


def format_observations(document: dict[str, Any]) -> str:
    """Return a description of observations as lines."""
    return output.format_pairs(
        [
            ("network", document["network"]),
            ("observations", f"{document['observations']:,}"),
            ("latest", f"{output.format_time(document['latest'])} UTC" if document["latest"] else "none"),
            ("rows", f"{document['rows']:,}"),
        ]
    )


def format_sync(document: dict[str, Any], *, from_files: bool = False, with_workers: bool = False) -> str:
    """Return a description of a sync as lines. Requests of workers are not counted."""
    objects_until = document.get("objects_until")
    pairs = [
        ("network", document["network"]),
        _selection(document),
        ("HTTP requests", _format_requests(document, from_files, with_workers)),
        ("store", document["store"]),
        *((table, pluralize(rows, "row")) for table, rows in document["rows"].items()),
    ]
    if document["provisional_rows"]:
        pairs.append(("provisional", f"{pluralize(document['provisional_rows'], 'row')} (the next sync fetches them again)"))
    if document["gaps"]:
        pairs.append(("pruned", output.format_gaps(document["gaps"])))
    for problem in document["problems"]:
        pairs.append((f"{problem['problem']}s", f"{pluralize(problem['rows'], 'row')} of {problem['table']} excluded"))
    if document["extra_members"]:
        members = ", ".join(document["extra_members"])
        pairs.append(("new members", f"the service now sends {members}, which column extra has"))
    if document["response_members"]:
        members = ", ".join(f"{name} = {escape_control(text[:MAX_VALUE])}" for name, text in document["response_members"].items())
        pairs.append(("new around rows", f"the service now sends {members}"))
    if document["new_kinds"]:
        pairs.append(("new kinds", f"the service now sends {', '.join(document['new_kinds'])}"))
    has_all = not document["failed_objects"]
    if objects_until and objects_until < document["until"]:
        has_all = False
        pairs.append(("not available", f"{output.format_window(objects_until, document['until'])}: no bulk objects"))
    if document["since"] and has_all and not document["gaps"] and not any(document["rows"].values()):
        pairs.append(_nothing(document))
    if document["failed_objects"]:
        pairs.append(("failed", f"{pluralize(len(document['failed_objects']), 'bulk object')}, listed on stderr"))
    return output.format_pairs(pairs)


def _nothing(document: dict[str, Any]) -> tuple[str, str]:
    """Return why a window has no rows.

    Only final data of all events show that the network has none.
    """
    noun = "events" if "verdicts" in document["rows"] else "updates"
    if document["provisional"]:
        return f"no {noun}", "none so far (the next sync fetches this window again)"
    if noun == "events":
        return "no events", "the network has none in this window"
    source = "bulk objects have" if "bulk_objects" in document["rows"] else "participant shows"
    return "no updates", f"the {source} none of this selection in this window"


def _selection(document: dict[str, Any]) -> tuple[str, str]:
    if document.get("snapshot_time"):
        return "snapshot", f"{output.format_time(document['snapshot_time'])} UTC"
    if document["since"]:
        return "window", output.format_window(document["since"], document["until"])
    if document["through"] is not None:
        return "offsets", f"after {document['after']:,} through {document['through']:,}"
    return "selected by", "key or path" if "bulk_objects" in document["rows"] else "update id"


def _format_requests(document: dict[str, Any], from_files: bool, with_workers: bool) -> str:
    if not document["requests"]:
        return "0 (read from local files)" if from_files else "0 (already in the store)"
    workers = " (without those of the workers)" if with_workers else ""
    return f"{document['requests']:,} in {document['seconds']:.1f} s{workers}"
