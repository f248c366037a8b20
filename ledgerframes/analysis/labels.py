"""Names and groups for parties and participants, from a file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.store.location import local_path

__all__ = ["apply", "read", "short"]


def __dir__() -> list[str]:
    return __all__


COLUMNS = ["id", "name", "group"]
SEPARATOR = "::"
MIN_CHARACTERS = 4


def read(path: str | PathLike[str]) -> pd.DataFrame:
    r"""Read labels from a CSV file with the columns ``id``, ``name`` and ``group``.

    Parameters
    ----------
    path : path
        The first line has the names of the columns. Groups can repeat, but ids cannot.

    Returns
    -------
    DataFrame
        One row per id with ``id``, ``name`` and ``group`` as text; in the order of the file. An empty cell is missing.

    Raises
    ------
    UsageError
        If the file cannot be read, has other columns, or has a repeated or empty id.

    Notes
    -----
    Ids of parties and participants: docs/facts.md#identifiers.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import ledgerframes as lf
    >>> file = Path(mkdtemp()) / "labels.csv"
    >>> _ = file.write_text("id,name,group\nbank::1220aa,Bank,banks\n")
    >>> lf.labels.read(file).loc[0, "name"]
    'Bank'
    """
    file = local_path("path", path, "Copy the file here, then read it.")
    try:
        labels = pd.read_csv(file, dtype="str", keep_default_na=False, na_values=[""], encoding="utf-8")
        require_fields(labels)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise UsageError(f"Cannot read labels from {path}: {error}. Pass a CSV file with the columns id, name, group.") from None
    if list(labels.columns) != COLUMNS:
        raise UsageError(f"{path} must have the columns id, name, group, got {', '.join(map(str, labels.columns))}.")
    if labels["id"].isna().any():
        raise UsageError(f"Line {_lines(path, labels['id'].isna())} of {path} has no id.")
    repeated = labels["id"][labels["id"].duplicated()]
    if len(repeated):
        lines = _lines(path, labels["id"] == repeated.iloc[0])
        raise UsageError(f"Lines {lines} of {path} have the same id {repeated.iloc[0]!r}. Remove all but one.")
    return labels.astype("str")


def require_fields(rows: pd.DataFrame) -> None:
    """Raise a ValueError if the lines of a CSV file have more fields than the first one.

    pandas takes the first fields of such lines as an index, so that each column has the values of the next one.
    """
    if not isinstance(rows.index, pd.RangeIndex):
        raise ValueError(f"a line has more than {len(rows.columns)} fields")


def _lines(path: str | PathLike[str], mask: pd.Series) -> str:
    """Return the line numbers of rows.

    Blank lines are no rows, and the first other line has the names of the columns.
    """
    with Path(path).open(encoding="utf-8") as file:
        numbers = [number for number, line in enumerate(file, 1) if line.strip()]
    return ", ".join(str(numbers[index + 1]) for index in mask.index[mask])


def apply(result: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Add the names and groups of all ids in a result.

    Parameters
    ----------
    result : DataFrame
        The result of an analysis, or a table.
    labels : DataFrame
        From :func:`read`.

    Returns
    -------
    DataFrame
        `result` in the same order. Each text column with a known id is followed by ``<column>_name`` and ``<column>_group``,
        which are missing for other ids.

    Raises
    ------
    UsageError
        If no column has a known id, the result has names or groups already, or `labels` is not from :func:`read`.

    Notes
    -----
    Ids of parties and participants: docs/facts.md#identifiers.

    Examples
    --------
    >>> import pandas as pd
    >>> import ledgerframes as lf
    >>> labels = pd.DataFrame({"id": ["bank::1220aa"], "name": ["Bank"], "group": ["banks"]})
    >>> lf.labels.apply(pd.DataFrame({"party": ["bank::1220aa", "x::1220bb"]}), labels)["party_name"].tolist()
    ['Bank', nan]
    """
    require_labels(labels)
    by_id = labels.set_index("id")
    labeled = result.copy()
    columns = [name for name in result if _is_text(result[name]) and result[name].isin(by_id.index).any()]
    if not columns and len(result):
        raise UsageError("No column of the result has an id of the labels. Check the ids in the file.")
    added = [f"{name}_{label}" for name in columns for label in ("name", "group")]
    present = [name for name in added if name in result]
    if present:
        raise UsageError(f"The result has the column {present[0]} already. Drop it, or pass the result without labels.")
    for name in columns:
        position = list(map(str, labeled)).index(str(name)) + 1
        for offset, label in enumerate(("name", "group")):
            labeled.insert(position + offset, f"{name}_{label}", result[name].astype("str").map(by_id[label]).astype("str"))
    return labeled


def with_names(labeled: pd.DataFrame) -> pd.DataFrame:
    """Return a result of :func:`apply` with names in place of ids.

    An id stays if another id has the same name.
    """
    columns = [each for each in labeled if {f"{each}_name", f"{each}_group"} <= {*labeled.columns}]
    for column in columns:
        ids, names = labeled[column], labeled[f"{column}_name"]
        is_only = names.map(ids.groupby(names).nunique()) == 1
        labeled = labeled.assign(**{str(column): names.where(is_only, ids).astype(ids.dtype)})
    return labeled.drop(columns=[f"{column}_{label}" for column in columns for label in ("name", "group")])


def require_labels(labels: object) -> None:
    """Raise a UsageError unless an argument is a table of labels."""
    if not isinstance(labels, pd.DataFrame) or list(labels.columns) != COLUMNS:
        raise UsageError("labels= must be a result of lf.labels.read(path), with the columns id, name and group.")


def groups_by_id(labels: pd.DataFrame | None) -> pd.Series:
    """Return the group of each id, or its name if it has no group."""
    require_labels(labels)
    assert labels is not None
    return labels.set_index("id")["group"].fillna(labels.set_index("id")["name"])


def _is_text(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.StringDtype | pd.CategoricalDtype)


def short(ids: Sequence[str]) -> dict[str, str]:
    """Return short names of ids, all of them distinct.

    Parameters
    ----------
    ids : sequence of str
        Ids such as ``bank::1220aa…``. Repeated ids count once.

    Returns
    -------
    dict of str to str
        For each id, its hint and the first characters of its fingerprint: at least four, and as many as distinguish it from
        the others.

    Raises
    ------
    UsageError
        If `ids` is a text, because its characters are not ids.

    Notes
    -----
    Ids of parties and participants: docs/facts.md#identifiers.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> lf.labels.short(["bank::1220aa77", "bank::1220ab77"])
    {'bank::1220aa77': 'bank·1220aa', 'bank::1220ab77': 'bank·1220ab'}
    """
    if isinstance(ids, str):
        raise UsageError(f"ids= must be a sequence of ids, got {ids!r}. Pass [{ids!r}] for one.")
    texts = list(ids) if isinstance(ids, Iterable) else [ids]
    if not all(isinstance(each, str) for each in texts):
        raise UsageError(f"ids= must be a sequence of ids, got {ids!r}.")
    parts = {each: each.partition(SEPARATOR)[::2] for each in dict.fromkeys(texts)}
    fingerprints = defaultdict(list)
    for hint, fingerprint in parts.values():
        fingerprints[hint].append(fingerprint)
    lengths = {hint: _distinct_length(each) for hint, each in fingerprints.items()}
    return {
        each: f"{hint}·{fingerprint[: lengths[hint]]}" if fingerprint else hint for each, (hint, fingerprint) in parts.items()
    }


def _distinct_length(texts: Sequence[str]) -> int:
    """Return the smallest number of leading characters that distinguishes all texts."""
    longest = max(map(len, texts))
    lengths = range(MIN_CHARACTERS, longest + 1)
    return next((length for length in lengths if len({text[:length] for text in texts}) == len(texts)), longest)
