from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.values.extents import IdSet, Migration, MigrationWindow, from_microseconds, plan_missing
from ledgerframes.values.windows import Window

edges = st.integers(0, 30)
spans = st.builds(lambda m, a, b: MigrationWindow(m, min(a, b), max(a, b) + 1), st.integers(3, 4), edges, edges)


def window(start: int, stop: int) -> Window:
    return Window(from_microseconds(start), from_microseconds(stop))


def points(spans: object) -> set[tuple[int, int]]:
    return {(span.migration_id, point) for span in spans for point in range(span.start, span.stop)}  # type: ignore[attr-defined]


@given(spans, st.lists(spans, max_size=6))
def test_missing_is_the_window_without_what_is_covered(asked: MigrationWindow, covered: list[MigrationWindow]) -> None:
    known = [Migration(3, 0), Migration(4, 0)]
    missing = plan_missing(window(asked.start, asked.stop), known, covered)
    both = {MigrationWindow(migration.migration_id, asked.start, asked.stop) for migration in known}
    assert points(missing) == points(both) - points(covered)
    assert missing == sorted(missing)
    assert sum(span.stop - span.start for span in missing) == len(points(missing)), "parts overlap"


@given(st.integers(0, 30), st.integers(0, 30) | st.none())
def test_a_migration_is_fetched_only_between_its_bounds(first: int, ended: int | None) -> None:
    missing = plan_missing(window(10, 20), [Migration(3, first, ended)], [])
    assert points(missing) == {(3, point) for point in range(10, 20) if first <= point < (31 if ended is None else ended)}


@given(spans, st.integers(1, 7))
def test_split_parts_tile_the_span(span: MigrationWindow, parts: int) -> None:
    assert points(span.split(parts)) == points([span])
    assert len(span.split(parts)) == min(parts, span.stop - span.start)


@given(st.frozensets(st.sampled_from("abcdef")), st.lists(st.frozensets(st.sampled_from("abcdef")), max_size=3))
def test_difference_of_ids(asked: frozenset[str], others: list[frozenset[str]]) -> None:
    rest = IdSet(asked).difference([IdSet(other) for other in others])
    assert frozenset().union(*(part.keys for part in rest if isinstance(part, IdSet))) == asked.difference(*others)
