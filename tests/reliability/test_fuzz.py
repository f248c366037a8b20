"""Mutated bodies: rows with the cells that another reading of the JSON finds, or a DecodeError, and nothing else."""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from campaign import Effort, tell
from decoders import Decoder, cells, column_cells, decoders
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from ledgerframes.errors import DecodeError

DECODERS = decoders()
QUICK = 60  # bodies of each decoder in the default tests
PER_ROUND = 400  # in a soak, which has as many rounds as it has time
SCALARS = [
    None, True, 0, -1, 7, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 10**400, 1.5, "", "0", "-0", "1e3", "12", "\x00",
    "é" * 300,
    "\u202e", "\ud800", "2026-11-01T00:00:00Z", "9999-12-31T23:59:60Z", "0001-01-01", [], {}, [[]], [None], {"": None},
    {"value": {}},
]  # fmt: skip


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every container with each of its keys."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in list(keys) for place in [(value, key), *places(value[key])]]


def remove(chance: random.Random, container: Any, key: Any) -> None:
    del container[key]


def replace(chance: random.Random, container: Any, key: Any) -> None:
    container[key] = copy.deepcopy(chance.choice(SCALARS))


def repeat(chance: random.Random, container: Any, key: Any) -> None:
    if isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))
    else:
        container[f"{key}{chance.choice('2 x')}"] = copy.deepcopy(container[key])


def rename(chance: random.Random, container: Any, key: Any) -> None:
    if isinstance(container, dict):
        container[chance.choice([f"New{key}", key.lower(), key.upper(), ""])] = container.pop(key)


def as_text(chance: random.Random, container: Any, key: Any) -> None:
    container[key] = json.dumps(container[key]) if isinstance(container[key], dict | list) else str(container[key])


def wrap(chance: random.Random, container: Any, key: Any) -> None:
    container[key] = chance.choice([[container[key]], {"value": container[key]}])


def deepen(chance: random.Random, container: Any, key: Any) -> None:
    for _ in range(chance.choice([3, 150])):
        container[key] = [container[key]]


MUTATIONS: list[Callable[[random.Random, Any, Any], None]] = [remove, replace, replace, repeat, rename, as_text, wrap, deepen]


def mutated(document: Any, chance: random.Random) -> bytes:
    """Return a document with one to three changes, and sometimes with changed bytes."""
    document = copy.deepcopy(document)
    for _ in range(chance.choice([0, 1, 1, 2, 3])):
        if every := places(document):
            chance.choice(MUTATIONS)(chance, *chance.choice(every))
    body = bytearray(json.dumps(document, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass"))
    if chance.random() < 0.25:
        for _ in range(chance.randint(1, 3)):
            start = chance.randrange(len(body) + 1)
            body[start : start + chance.choice([0, 1, 1, 20])] = chance.choice(
                [b"", b"\xff", b'"', b"{", b"}", b",", b"9", b"\\u0000", b"\x00"]
            )
    return bytes(body)


def differing_cells(decoder: Decoder, body: bytes) -> list[str]:
    """Decode a body, and return the columns whose cells are others than those of the JSON."""
    tables = decoder.decode(body)
    document = json.loads(body.decode("utf-8", "replace"), parse_float=Decimal)
    found = {
        name: (column_cells(tables[name[0]], name[1]), sorted(cells(document, path)))
        for name, path in decoder.cells.items()
        if tables
    }
    return [f"{table}.{column}: {ours} {theirs}" for (table, column), (ours, theirs) in found.items() if ours != theirs]


def test_inputs_that_the_coverage_of_code_leads_to(tmp_path: Path, effort: Effort) -> None:
    """The fuzzer of LLVM in a process of its own, which ends at the first exception that is no DecodeError."""
    if not effort.is_soak:
        pytest.skip("only in make soak")
    pytest.importorskip("atheris", reason="atheris is not installed")
    seconds = max(10, round(effort.seconds("fuzz", 0) / 4))
    words = [sys.executable, str(Path(__file__).with_name("fuzz_target.py")), str(tmp_path), str(seconds)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    counts = json.loads((tmp_path / "counts.json").read_text(encoding="utf-8"))
    assert counts["rows"] and counts["errors"]
    tell("fuzz", decoder="all, by atheris", inputs=sum(counts.values()), **counts)


@pytest.mark.parametrize("name", DECODERS)
def test_documents_that_are_not_mutated_have_their_cells(name: str) -> None:
    for document in DECODERS[name].documents:
        assert differing_cells(DECODERS[name], json.dumps(document).encode()) == []


@pytest.mark.parametrize("name", DECODERS)
def test_rows_or_a_decode_error_and_nothing_else(name: str, effort: Effort) -> None:
    decoder, counts = DECODERS[name], {"inputs": 0, "rows": 0, "errors": 0}

    def attack(chance: random.Random) -> None:
        body = mutated(chance.choice(decoder.documents), chance)
        counts["inputs"] += 1
        try:
            differing = differing_cells(decoder, body)
        except DecodeError as error:
            counts["errors"] += 1
            assert error.json_path.startswith("$")
            return
        counts["rows"] += 1
        assert differing == [], body

    for number in effort.rounds("fuzz", 1, len(DECODERS)):
        bounded = settings(
            max_examples=PER_ROUND if effort.is_soak else QUICK,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, Phase.shrink],
        )
        seed(number)(bounded(given(st.randoms(use_true_random=False))(attack)))()
    assert counts["rows"] and counts["errors"]
    tell("fuzz", decoder=name, **counts)
