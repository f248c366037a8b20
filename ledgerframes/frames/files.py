"""Frames in a directory, as Parquet files and a manifest, to share or to archive."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast, get_args

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from ledgerframes.datasets import TABLES, Table
from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets.bookkeeping import COVERAGE, DROPPED_ROWS
from ledgerframes.datasets.older_schemas import SchemaMapping, UnmappableError
from ledgerframes.datasets.population import Population
from ledgerframes.errors import IntegrityError, StoreError, UsageError
from ledgerframes.frames import Frames, MemoryFrameSource
from ledgerframes.frames.checks import require_frames
from ledgerframes.installation import installed_version
from ledgerframes.settings import engine_settings
from ledgerframes.store.location import digest_of, local_path
from ledgerframes.store.older_rows import OlderRows, Rows, wrap_rows
from ledgerframes.store.scan import damage_as_store_error
from ledgerframes.store.whole_files import LocalFiles, local_files
from ledgerframes.values.extents import MigrationWindow
from ledgerframes.values.windows import Window, instant, iso

MANIFEST, WRITER = "manifest.json", "ledgerframes"
Version = tuple[int, int, int]  # device, inode and time of the last write of a file


@dataclasses.dataclass(frozen=True)
class SavedFrameSource(MemoryFrameSource):
    """Files of saved frames, which must not change once they are opened.

    Attributes
    ----------
    versions : mapping
        Identity of each file when it was opened, by table.
    """

    versions: Mapping[str, Version | None] = dataclasses.field(default_factory=dict)

    def scan(self, table: str, *, with_dictionaries: bool = False) -> ds.Dataset:
        """Return the rows of one table, as they were when the frames were opened.

        Raises
        ------
        IntegrityError
            If its file has been replaced or deleted since.
        """
        rows = super().scan(table, with_dictionaries=with_dictionaries)
        files = self.tables.get(table)
        files = files.files if isinstance(files, OlderRows) else files
        self._require_same(files.files if isinstance(files, ds.FileSystemDataset) else (), table)
        return rows

    def whole_files(self, table: str, window: Window | None) -> LocalFiles | None:
        """Return the file of one table, which was compared with the manifest when it was opened."""
        paths = self.paths(table, window)
        if not paths:
            return None
        self._require_same(paths, table)
        return local_files(Path(paths[0]).parent, paths)

    def _require_same(self, paths: Iterable[str], table: str) -> None:
        for path in paths:
            if _version(Path(path)) != self.versions.get(table):
                raise IntegrityError(f"{path} was replaced after these frames were opened. Open them again.", path=path)


def save_frames(frames: Frames, directory: str | Path) -> Path:
    """Write frames as one Parquet file per table, with a manifest of rows, sizes and digests.

    Parameters
    ----------
    frames : Frames
    directory : str or path
        Created if it does not exist. Frames saved there earlier are replaced, with all their files. Other files stay.

    Returns
    -------
    Path
        The manifest.

    Raises
    ------
    UsageError
        If `frames` is not Frames, or the directory is in an object store, has a manifest of another program, or has a file of
        its own with the name of a table.
    StoreError
        If the directory cannot be written, or a file of the frames is damaged. Frames saved there earlier stay as they are.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), during="yesterday")
    >>> _ = lf.save_frames(frames, "shared")
    >>> lf.open_frames("shared").traffic.equals(frames.traffic)
    True
    """
    require_frames(frames, "save_frames")
    target = local_path("directory", directory, "Save the frames here, then copy them.")
    rows = {name: _read(frames, table_spec(name)) for name in frames.tables}
    rows[DROPPED_ROWS.name] = frames._filter.dropped_rows(frames._source, frames.tables)
    rows["coverage"] = pa.Table.from_pandas(frames.coverage, COVERAGE.schema, preserve_index=False)
    facts = _facts(frames)
    try:
        target.mkdir(parents=True, exist_ok=True)
        earlier = _earlier_files(target)
        _require_free(target, {*rows} - earlier)
        _replace_files(target, rows, facts, earlier)
    except OSError as error:
        raise StoreError(f"Cannot write {target}: {error}. Choose another directory.", path=str(target)) from error
    return target / MANIFEST


def _facts(frames: Frames) -> dict[str, Any]:
    """Return what a manifest says of the frames."""
    source, first = frames._source, frames.history_start
    return {
        "network": frames.network,
        "population": frames.population,
        "window": frames.window.as_dict() if frames.window else None,
        "offset_range": frames.offset_range,
        "is_chosen": frames._filter.has_chosen_ids,
        "history_start": iso(first) if first else None,
        "missing_windows": [each.as_dict() for each in source.missing_windows],
        "missing_before": [dataclasses.astuple(each) for each in source.missing_before],
        "unreadable": frames.unreadable,
        "unknown_ids": frames.unknown_ids,
        "failed": frames.failed_objects,
        "written_by": f"{WRITER} {installed_version()}",
    }


def open_frames(directory: str | Path) -> Frames:
    """Open frames that :func:`save_frames` wrote.

    Every file is checked against the manifest.

    Returns
    -------
    Frames
        Each table is read from its file on first use. If the file has been replaced by then, this raises an IntegrityError.

    Raises
    ------
    UsageError
        If the directory is in an object store, or has no manifest.
    StoreError
        If the manifest cannot be read, or another version has written a file in a schema that this one cannot read.
    IntegrityError
        If a file is missing or differs from the manifest.
    """
    source = local_path("directory", directory, "Copy the frames here, then open them.")
    engine = engine_settings()
    if not (source / MANIFEST).is_file():
        raise UsageError(f"{source} has no {MANIFEST}. Choose a directory that save_frames wrote.")
    try:
        manifest = json.loads((source / MANIFEST).read_text(encoding="utf-8"))
        frame_source, facts = _source_of(source, manifest), _facts_of(manifest)
    except UnmappableError as error:
        step = "Open them with the version of ledgerframes that wrote them."
        raise StoreError(f"Cannot open frames in {source}: {error}. {step}", path=str(source)) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"Cannot open frames in {source}: {error}. Choose a directory that save_frames wrote.", path=str(source)
        ) from error
    return Frames(frame_source, _table_names(manifest), engine=engine, **facts)


def _source_of(directory: Path, manifest: dict[str, Any]) -> SavedFrameSource:
    """Return the files of a manifest, after a comparison with it."""
    files = manifest["files"]
    paths = {name: directory / f"{name}.parquet" for name in files}
    versions = {name: _version(path) for name, path in paths.items()}
    for name, record in files.items():
        _check(paths[name], record)
    names = _table_names(manifest)
    file_tables = [*names, DROPPED_ROWS.name] if DROPPED_ROWS.name in files else names
    return SavedFrameSource(
        {name: _rows_of(paths[name], table_spec(name)) for name in file_tables},
        manifest["network"],
        COVERAGE.to_pandas(pq.read_table(paths["coverage"])),
        is_sorted=True,
        bytes=sum(files[name]["bytes"] for name in names),
        has_second_verdicts=False,
        missing_before=tuple(MigrationWindow(*each) for each in manifest.get("missing_before", ())),
        unreadable=manifest.get("unreadable", {}),
        missing_windows=tuple(Window.from_dict(each) for each in manifest.get("missing_windows", ())),
        first_event=instant(first) if (first := manifest.get("history_start")) else None,
        digests={paths[name].name: record["sha256"] for name, record in sorted(files.items())},
        versions=versions,
    )


def _table_names(manifest: dict[str, Any]) -> list[str]:
    return [name for name in TABLES if name in manifest["files"]]


def _facts_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of Frames that a manifest has."""
    window, offsets = manifest["window"], manifest.get("offset_range")
    return {
        "window": Window.from_dict(window) if window else None,
        # These are absent in files of 0.1.0.
        "offsets": (int(offsets[0]), int(offsets[1])) if offsets else None,
        "is_chosen": bool(manifest.get("is_chosen", False)),
        "unknown_ids": tuple(manifest.get("unknown_ids", ())),
        "failed": dict(manifest.get("failed", {})),
        "population": _population(manifest),
    }


def _earlier_files(directory: Path) -> set[str]:
    """Return the names of the tables that frames saved earlier have in a directory.

    A manifest of another program is refused.
    """
    path = directory / MANIFEST
    if not path.is_file():
        return set()
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        writer, names = str(manifest["written_by"]), {*manifest["files"]}
    except (ValueError, KeyError, TypeError):
        writer, names = "", set()
    if not writer.startswith(f"{WRITER} "):
        raise UsageError(f"{path} was not written by save_frames. Choose another directory.")
    return names & {*TABLES, COVERAGE.name, DROPPED_ROWS.name}


def _require_free(directory: Path, tables: set[str]) -> None:
    """Refuse to replace files that are not those of saved frames, such as exported tables."""
    paths = (directory / f"{name}.parquet" for name in sorted(tables))
    if path := next((each for each in paths if each.exists()), None):
        raise UsageError(f"{path} was not written by save_frames. Choose another directory.")


def _read(frames: Frames, table: Table) -> pa.Table:
    with damage_as_store_error(table.name, frames._source.location):
        return frames._rows(table, table.select(None))


def _replace_files(directory: Path, tables: Mapping[str, pa.Table], facts: dict[str, Any], earlier: set[str]) -> None:
    """Write all files, then replace those of earlier frames.

    A failure to write one leaves the earlier frames as they are. The manifest comes first, so that all files are in it at any
    time, and digests show which ones are not replaced yet.
    """
    paths = {name: directory / f"{name}.parquet" for name in tables}
    staged = {path: path.with_name(f".{path.name}.tmp") for path in [directory / MANIFEST, *paths.values()]}
    try:
        files = {name: _write(staged[path], tables[name]) for name, path in paths.items()}
        text = json.dumps({**facts, "files": files}, indent=1, sort_keys=True)
        staged[directory / MANIFEST].write_text(f"{text}\n", encoding="utf-8")
        for path, new in staged.items():
            new.replace(path)
    finally:
        for new in staged.values():
            new.unlink(missing_ok=True)
    for name in earlier - {*tables}:
        (directory / f"{name}.parquet").unlink(missing_ok=True)


def _write(path: Path, rows: pa.Table) -> dict[str, Any]:
    pq.write_table(rows, path, compression="zstd")
    return {"rows": rows.num_rows, "bytes": path.stat().st_size, "sha256": digest_of(path)}


def _rows_of(path: Path, table: Table) -> Rows:
    """Return the rows of a file, which an earlier version may have written in another schema."""
    mapping = SchemaMapping.of(table, pq.read_schema(path))
    return ds.dataset(path, schema=table.schema) if mapping.is_native else wrap_rows(ds.dataset(path), mapping)


def _population(manifest: dict[str, Any]) -> Population:
    """Return the population in a manifest. Files of 0.1.0 have none."""
    population = manifest.get("population", "chosen")
    if population not in get_args(Population):
        raise ValueError(f"unknown population {population!r}")
    return cast(Population, population)


def _version(path: Path) -> Version | None:
    """Return the identity of a file, or None if it does not exist."""
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    return state.st_dev, state.st_ino, state.st_mtime_ns


def _check(path: Path, record: dict[str, Any]) -> None:
    if not path.is_file() or digest_of(path) != record["sha256"]:
        raise IntegrityError(f"{path} differs from its manifest. Copy the directory again.", path=str(path))
