from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.store import Ids, Migration, Span, missing_spans
from ledgerframes.store.extent import from_microseconds
from ledgerframes.times import Window

edges = st.integers(0, 30)
spans = st.builds(lambda m, a, b: Span(m, min(a, b), max(a, b) + 1), st.integers(3, 4), edges, edges)


def window(low: int, high: int) -> Window:
    return Window(from_microseconds(low), from_microseconds(high))


def points(spans: object) -> set[tuple[int, int]]:
    return {(span.migration_id, point) for span in spans for point in range(span.low, span.high)}  # type: ignore[attr-defined]


@given(spans, st.lists(spans, max_size=6))
def test_missing_is_what_was_asked_less_what_is_covered(asked: Span, covered: list[Span]) -> None:
    known = [Migration(3, 0), Migration(4, 0)]
    missing = missing_spans(window(asked.low, asked.high), known, covered)
    both = {Span(migration.migration_id, asked.low, asked.high) for migration in known}
    assert points(missing) == points(both) - points(covered)
    assert missing == sorted(missing)
    assert sum(span.high - span.low for span in missing) == len(points(missing)), "parts overlap"


@given(st.integers(0, 30), st.integers(0, 30) | st.none())
def test_a_migration_is_asked_only_for_the_time_it_has(first: int, ended: int | None) -> None:
    missing = missing_spans(window(10, 20), [Migration(3, first, ended)], [])
    assert points(missing) == {(3, point) for point in range(10, 20) if first <= point < (31 if ended is None else ended)}


@given(spans, st.integers(1, 7))
def test_split_parts_tile_the_span(span: Span, parts: int) -> None:
    assert points(span.split(parts)) == points([span])
    assert len(span.split(parts)) == min(parts, span.high - span.low)


@given(st.frozensets(st.sampled_from("abcdef")), st.lists(st.frozensets(st.sampled_from("abcdef")), max_size=3))
def test_ids_minus(asked: frozenset[str], others: list[frozenset[str]]) -> None:
    rest = Ids(asked).minus([Ids(other) for other in others])
    assert frozenset().union(*(part.update_ids for part in rest if isinstance(part, Ids))) == asked.difference(*others)
