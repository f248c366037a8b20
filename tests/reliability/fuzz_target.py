"""What atheris runs: bodies that new branches of the decoders lead to, for some seconds.

``python fuzz_target.py DIRECTORY SECONDS`` fails at the first exception that is no DecodeError, and counts in ``counts.json``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["ledgerframes.datasets"]):
    from decoders import decoders

    from ledgerframes.errors import DecodeError

DIRECTORY, SECONDS = Path(sys.argv[1]), int(sys.argv[2])
DECODERS = list(decoders().values())
COUNTS = {"rows": 0, "errors": 0}
MAX_BYTES = 20_000


def try_body(data: bytes) -> None:
    """Decode a body by the decoder that its first byte chooses."""
    if not data:
        return
    try:
        DECODERS[data[0] % len(DECODERS)].decode(data[1:])
        COUNTS["rows"] += 1
    except DecodeError:
        COUNTS["errors"] += 1
    if sum(COUNTS.values()) % 50 == 0:  # the fuzzer ends the process without a last word
        (DIRECTORY / "counts.json").write_text(json.dumps(COUNTS), encoding="utf-8")


if __name__ == "__main__":
    corpus = DIRECTORY / "corpus"
    corpus.mkdir()
    for number, decoder in enumerate(DECODERS):
        for index, document in enumerate(decoder.documents):
            (corpus / f"{number}-{index}").write_bytes(bytes([number]) + json.dumps(document).encode())
    options = [f"-max_total_time={SECONDS}", f"-max_len={MAX_BYTES}", f"-artifact_prefix={DIRECTORY}/", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], try_body)
    atheris.Fuzz()
