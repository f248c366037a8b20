"""The directory of the evidence, with a manifest of digests that anybody can check."""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ledgerframes.analysis import figures as declare
from ledgerframes.errors import IntegrityError, StoreError, UsageError
from ledgerframes.export import write_csv
from ledgerframes.frames import Frames
from ledgerframes.frames.files import MANIFEST
from ledgerframes.installation import installed_version
from ledgerframes.network import Network
from ledgerframes.store.location import digest_of, local_path

KIND = "grant.evidence"
VERIFY = declare.Figure(
    "grant.verify",
    caption="Checks of the evidence",
    rows="One row per check, all of which passed; sorted as in the manifest. Compare the digest of the manifest, the "
    "first row, with the one that its author published.",
    columns=(
        declare.text("subject", "File of the directory, input file of the store, or column of the days."),
        declare.label("check", "digest, input, or sum of the requests."),
        declare.text("expected", "Digest in the manifest, or sum of the requests."),
        declare.text("value", "Digest of the file, or sum of the days."),
    ),
    condition="that passed",
    unit="checks",
    without_query="it reads the files of a directory, not frames. Show the query of lf.grant.evidence for the days",
)


def write_directory(directory: Path, frames: Frames, parameters: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> None:
    """Write tables and their manifest to a new directory, in reproducible bytes, or nothing."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UsageError(f"directory= must be a new or empty directory, got {str(directory)!r}. Choose another one.")
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(dir=directory.parent, prefix=f".{directory.name}-"))
        try:
            files = {name: record for table, rows in tables.items() for name, record in _write(staging, table, rows)}
            manifest = {
                "kind": KIND,
                "network": frames.network,
                "population": frames.population,
                "parameters": dict(parameters),
                "inputs": frames.file_digests,
                "files": files,
                "written_by": {
                    "ledgerframes": installed_version(),
                    "pandas": pd.__version__,
                    "pyarrow": pa.__version__,
                    "python": platform.python_version(),
                },
            }
            (staging / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            staging.chmod(0o755)
            staging.replace(directory)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
    except OSError as error:
        raise StoreError(f"Cannot write {directory}: {error}. Choose another directory.", path=str(directory)) from error


def _write(directory: Path, name: str, rows: pd.DataFrame) -> list[tuple[str, dict[str, Any]]]:
    """Write a table as Parquet and CSV, and return the record of each file."""
    parquet, text = directory / f"{name}.parquet", directory / f"{name}.csv"
    table = pa.Table.from_pandas(rows, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(table, parquet, compression="zstd")
    with text.open("wb") as file:
        write_csv(rows, file)
    return [(path.name, {"rows": len(rows), "bytes": path.stat().st_size, "sha256": digest_of(path)}) for path in (parquet, text)]


@VERIFY.register
def verify(directory: str | Path, *, net: Network | None = None) -> pd.DataFrame:
    """Check a directory of :func:`evidence` against its manifest and its own rows.

    Parameters
    ----------
    directory : path
    net : Network, optional
        Network whose store must contain the input files of the evidence, with the same digests.

    Returns
    -------
    DataFrame
        One row per check, all of which passed; sorted as in the manifest. Compare the digest of the manifest, the first row,
        with the one that its author published.

        Columns:

        - ``subject`` (str): File of the directory, input file of the store, or column of the days.
        - ``check`` (category): digest, input, or sum of the requests.
        - ``expected`` (str): Digest in the manifest, or sum of the requests.
        - ``value`` (str): Digest of the file, or sum of the days.
        - ``coverage`` (float64, share of 1): Share of the checks that passed. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    StoreError
        If there is no manifest of evidence, or it cannot be read.
    IntegrityError
        If a file is missing, additional or changed, or a sum differs. The error's ``failures`` lists all of them.

    Notes
    -----
    The sums are computed from the rows of ``requests.parquet``. Source: docs/architecture.md#the-store.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> options = {"since": "2026-11-08T01:00:00Z", "until": "2026-11-09", "min_coverage": 0.8}
    >>> _ = lf.grant.evidence(frames, app={"packages": ["meadow-token"]}, exclude=[], directory="evidence", **options)
    >>> lf.grant.verify("evidence")["subject"].iloc[0]
    'manifest.json'
    """
    path = local_path("directory", directory, "Copy the evidence here, then verify it.")
    manifest = _read_manifest(path)
    digest = digest_of(path / MANIFEST)  # shown, because nothing else has it
    checks = [(MANIFEST, "digest", digest, digest)]
    checks += _check_files(path, manifest["files"])
    if net is not None:
        checks += _check_inputs(net, manifest["inputs"])
    _require_equal(path, checks)
    checks += _check_sums(path)
    _require_equal(path, checks)
    rows = pd.DataFrame(checks, columns=["subject", "check", "expected", "value"])
    return VERIFY.build(None, {**rows, "coverage": 1.0})


Checks = list[tuple[str, str, str, str]]


def _read_manifest(directory: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        if manifest.get("kind") != KIND or not isinstance(manifest["files"], dict) or not isinstance(manifest["inputs"], dict):
            raise ValueError("the manifest is not one of an evidence")
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise StoreError(
            f"Cannot verify {directory}: {error}. Choose a directory that lf.grant.evidence wrote.", path=str(directory)
        ) from error
    return manifest


def _check_files(directory: Path, files: Mapping[str, Mapping[str, Any]]) -> Checks:
    """Return the checks of all files in the directory or the manifest."""
    present = {path.name for path in directory.iterdir() if path.name != MANIFEST}
    checks = []
    for name in sorted(present | set(files)):
        expected = str(files[name]["sha256"]) if name in files else "no file"
        checks.append((name, "digest", expected, _content(directory / name) if name in present else "no file"))
    return checks


def _content(path: Path) -> str:
    return digest_of(path) if path.is_file() else "not a file"


def _check_inputs(net: Network, inputs: Mapping[str, str]) -> Checks:
    digests = {file.path: file.sha256 for segment in net.store.all_segments() for file in segment.files.values()}
    return [(path, "input", digest, digests.get(path, "no file")) for path, digest in inputs.items()]


def _check_sums(directory: Path) -> Checks:
    """Return the sums of the requests next to those of days and totals, in plain Python."""
    rows = pq.read_table(directory / "requests.parquet").to_pylist()
    days, totals = (pq.read_table(directory / f"{name}.parquet").to_pylist() for name in ("days", "totals"))
    accepted = [row for row in rows if row["is_accepted"]]
    by_day: dict[datetime, list[dict[str, Any]]] = {day["day"].astimezone(UTC): [] for day in days}
    for row in accepted:
        by_day.setdefault(row["record_time"].astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0), []).append(row)
    checks = []
    for day in days:
        of_day = by_day[day["day"].astimezone(UTC)]
        checks += _sums(f"{day['day']:%Y-%m-%d}", of_day, day)
    parties = {party for row in accepted for party in _parties(row["outside_parties"])}
    checks += _sums("totals", accepted, totals[0])
    checks.append(("totals parties", "sum", str(len(parties)), str(totals[0]["parties"])))
    return checks


def _parties(value: list[str] | str) -> list[str]:
    """Return the parties of a request, which earlier versions wrote as one text."""
    return value.split() if isinstance(value, str) else value


def _sums(name: str, rows: list[dict[str, Any]], result: Mapping[str, Any]) -> Checks:
    costs, burns = ([row[column] for row in rows if row[column] is not None] for column in ("total_traffic_cost", "app_bytes"))
    expected = {
        "requests": len(rows),
        "bytes": sum(costs) if costs else None,
        "app_bytes": sum(burns) if burns else None,
    }
    return [(f"{name} {column}", "sum", str(value), str(result[column])) for column, value in expected.items()]


def _require_equal(directory: Path, checks: Checks) -> None:
    failures = {subject: f"expected {expected}, got {value}" for subject, _, expected, value in checks if expected != value}
    if failures:
        raise IntegrityError(
            f"{len(failures)} of {len(checks)} checks of {directory} failed. Ask its author for another copy.",
            path=str(directory),
            failures=failures,
        )
