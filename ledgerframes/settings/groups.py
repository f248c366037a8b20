"""Groups of settings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from ledgerframes.settings.addresses import absolute

MIN_RATE = 0.01  # requests per second: one in 100 seconds
BYTES = re.compile(r"(?=[\d.]*[1-9])\d{1,6}(?:\.\d{1,3})? ?([kMGT]i?B)")


LocalPath = Annotated[Path, AfterValidator(absolute)]


class Vocabulary(BaseModel):
    """The network's own words for its token and its contract language.

    Attributes
    ----------
    coin, lang : str
        Used wherever they occur on the wire, such as ``{lang}_value_encoding`` (docs/facts.md#network-words).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    coin: str = Field(default="coin", pattern=r"^[a-z][a-z0-9_]*$")
    lang: str = Field(default="lang", pattern=r"^[a-z][a-z0-9_]*$")

    @classmethod
    def preset(cls, name: object) -> Vocabulary:
        """Return the vocabulary ``neutral`` or ``canton``."""
        if not isinstance(name, str) or name not in PRESETS:
            raise ValueError(f"must be {', '.join(PRESETS)} or a table with coin and lang, got {name!r}")
        return PRESETS[name]

    @property
    def setting(self) -> str | dict[str, str]:
        """The vocabulary as a profile sets it, the name of a preset or a table."""
        return next((name for name, preset in PRESETS.items() if preset == self), self.model_dump())


PRESETS = {"neutral": Vocabulary(), "canton": Vocabulary(coin="amulet", lang="daml")}


class Limits(BaseModel):
    """Limits of HTTP requests, and of what is processed at once.

    Attributes
    ----------
    timeout : float
        Seconds to wait for a response to start, or for its next bytes.
    retries : int
        Number of attempts after the first, on each host; with 0, a host that refuses requests is not waited for either.
    max_wait_minutes : float
        Minutes for which a host may refuse every request (429, 503) before a load gives up.
    requests_per_second : float
        Maximum request rate of a host over all threads, processes and APIs; 0 for no limit. It falls while the host refuses.
    max_concurrency : int
        Maximum number of concurrent HTTP requests, and of chunks fetched at once, for each API of a connection.
    page_size : int
        Events or updates per page, at most 1000 (docs/facts.md#history-paging).
    provisional_minutes : float
        Age below which events are provisional, because traffic and activity may follow (docs/facts.md#traffic-arrives-later).
    segment_bytes : int
        Bytes of rows in memory from which a load writes a segment, and which a killed load can lose.
    min_merged_segments : int
        Number of adjacent small segments from which a load merges its segments with those of earlier loads.
    max_decompression_ratio : float
        Maximum ratio of uncompressed to compressed size, of a bulk object or a response; real ones stay below 40.
    max_response_bytes : int
        Maximum bytes of one response, as sent and as expanded; real pages stay below 15 MB.
    max_response_minutes : float
        Maximum minutes from the start to the end of one response.
    max_download_bytes : int
        Maximum bytes of one bulk object; real ones have some hundred MB.
    max_download_minutes : float
        Maximum minutes for the download of one bulk object, over all attempts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    timeout: float = Field(default=60.0, gt=0, le=86_400)
    retries: int = Field(default=5, ge=0, le=20)
    max_wait_minutes: float = Field(default=30.0, ge=0, le=525_600)
    requests_per_second: float = Field(default=5.0, ge=0)
    max_concurrency: int = Field(default=4, ge=1, le=32)
    page_size: int = Field(default=500, ge=1, le=1000)
    provisional_minutes: float = Field(default=60.0, ge=0, le=525_600)
    segment_bytes: int = Field(default=12_000_000, ge=1)
    min_merged_segments: int = Field(default=5, ge=2)  # a load of one window adds four, which are not worth a second write
    max_decompression_ratio: float = Field(default=200.0, ge=1)
    max_response_bytes: int = Field(default=1_000_000_000, ge=1000)
    max_response_minutes: float = Field(default=10.0, gt=0, le=525_600)
    max_download_bytes: int = Field(default=10_000_000_000, ge=1000)
    max_download_minutes: float = Field(default=240.0, gt=0, le=525_600)

    @property
    def max_wait_seconds(self) -> float:
        """`max_wait_minutes` in seconds."""
        return self.max_wait_minutes * 60

    @field_validator("requests_per_second")
    @classmethod
    def _usable_rate(cls, rate: float) -> float:
        if 0 < rate < MIN_RATE:
            raise ValueError(f"must be 0 for no limit, or at least {MIN_RATE:g}")
        return rate


class SandboxShape(BaseModel):
    """The shape of the sandbox's world.

    Attributes
    ----------
    seed : int
        Seed of the world; the same seed returns the same bytes.
    events : int
        Number of events in the world.
    days : int
        Days of history before the world's last midnight.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    seed: int = Field(default=1, ge=0)
    events: int = Field(default=52_000, ge=1)
    days: int = Field(default=52, ge=1, le=3650)


class EngineSettings(BaseModel):
    """Limits of the queries of analyses.

    Attributes
    ----------
    threads : int, optional
        Threads of one query (default: one for each core).
    memory_limit : str, optional
        Memory of the queries of a process, such as ``"4GB"`` or ``"1.5GB"``. Beyond it, they write to `spill_dir` (default:
        four fifths of the machine's).
    spill_dir : Path, optional
        Directory for what exceeds the memory (default: that of temporary files).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    threads: int | None = Field(default=None, ge=1, le=1024)
    memory_limit: str | None = None
    spill_dir: LocalPath | None = None

    @field_validator("memory_limit")
    @classmethod
    def _size(cls, limit: str | None) -> str | None:
        if limit is not None and not BYTES.fullmatch(limit):
            raise ValueError(f"must be a number and a unit, such as '4GB', got {limit!r}")
        return limit
