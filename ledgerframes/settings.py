"""Settings: what a network is called, where it answers, and how gently it is asked.

Precedence, in one place (:func:`load_settings`): keyword, environment variable, profile in ``ledgerframes.toml``, default.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from ledgerframes.errors import UsageError

__all__ = ["Limits", "SandboxShape", "Settings", "Vocabulary", "load_settings", "profiles"]

ENVIRONMENT = "LEDGERFRAMES_"
FILE_NAME = "ledgerframes.toml"
SANDBOX = "sandbox"
TOKENS = {"token", "token_file", "token_env"}


class Vocabulary(BaseModel):
    """The network's own words for its token and its contract language.

    Attributes
    ----------
    coin, lang : str
        Filled in wherever they occur on the wire, such as ``{lang}_value_encoding`` (docs/facts.md#network-words).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    coin: str = Field(default="coin", pattern=r"^[a-z][a-z0-9_]*$")
    lang: str = Field(default="lang", pattern=r"^[a-z][a-z0-9_]*$")

    @classmethod
    def preset(cls, name: str) -> Vocabulary:
        """One of the vocabularies that have a name: ``neutral`` or ``canton``."""
        if name not in PRESETS:
            raise ValueError(f"vocabulary {name!r} is not known; use {', '.join(PRESETS)}, or a table with coin and lang")
        return PRESETS[name]


PRESETS = {"neutral": Vocabulary(), "canton": Vocabulary(coin="amulet", lang="daml")}


class Limits(BaseModel):
    """How gently a network is asked, and how much is done at once.

    Attributes
    ----------
    timeout : float
        Seconds to wait for an answer to begin, or for its next bytes.
    retries : int
        Tries after the first, on each host.
    requests_per_second : float
        Over all threads; 0 for no limit.
    max_concurrency : int
        Requests under way at once, and ranges read at once.
    page_size : int
        Items a page; 1000 at most (docs/facts.md#history-paging).
    provisional_minutes : float
        Newer events than this stay provisional: their traffic and activity may still come (docs/facts.md#traffic-arrives-later).
    max_decompression_ratio : float
        How many times its size a bulk object may expand to; real ones stay below 40 times.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    timeout: float = Field(default=60.0, gt=0)
    retries: int = Field(default=5, ge=0, le=20)
    requests_per_second: float = Field(default=5.0, ge=0)
    max_concurrency: int = Field(default=4, ge=1, le=32)
    page_size: int = Field(default=500, ge=1, le=1000)
    provisional_minutes: float = Field(default=60.0, ge=0, le=525_600)
    max_decompression_ratio: float = Field(default=200.0, ge=1)


class SandboxShape(BaseModel):
    """The shape of the sandbox's world.

    Attributes
    ----------
    seed : int
        Same seed, same bytes.
    events : int
        Events of the whole world.
    days : int
        Whole days of history before the world's last midnight.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    seed: int = Field(default=1, ge=0)
    events: int = Field(default=24_000, ge=1)
    days: int = Field(default=8, ge=1, le=3650)


class Settings(BaseModel):
    """Everything that :func:`ledgerframes.connect` needs to know about one network.

    Attributes
    ----------
    profile : str
        Name of the profile these settings came from.
    network : str
        Name of the network, and of its folder in the store.
    history_url, ledger_url, wallet_url : tuple of str
        Hosts of each API, asked in this order: of several operators for the history (docs/facts.md#failover-operators),
        replicas of one participant
        for the ledger and the wallet, since offsets mean nothing to another (docs/facts.md#offsets-per-participant).
    token, token_file, token_env : optional
        Bearer token of the ledger and the wallet API, or a callable that gives it; or the file or the environment variable that
        it is read from before each request. One of the three; never shown.
    vocabulary : Vocabulary
    store : str or Path
        Root of the Parquet store: a folder, or ``s3://bucket/prefix``, whose keys are read from the AWS environment variables.
    limits : Limits
    sandbox : SandboxShape
        For the sandbox only.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    profile: str = SANDBOX
    network: str = ""
    history_url: tuple[str, ...] = ()
    ledger_url: tuple[str, ...] = ()
    wallet_url: tuple[str, ...] = ()
    token: SecretStr | Callable[[], str | None] | None = Field(default=None, repr=False)
    token_file: Path | None = None
    token_env: str | None = None
    vocabulary: Vocabulary = Vocabulary()
    store: str | Path = Field(default_factory=lambda: local_dir() / "store")
    limits: Limits = Limits()
    sandbox: SandboxShape = SandboxShape()

    @field_validator("history_url", "ledger_url", "wallet_url", mode="before")
    @classmethod
    def _one_or_several(cls, value: object) -> object:
        return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value

    @field_validator("history_url", "ledger_url", "wallet_url")
    @classmethod
    def _web_addresses(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        for url in urls:
            if not re.fullmatch(r"https?://[\w.-]+(:\d{1,5})?(/[^@\s]*)?|https?://\[[0-9a-fA-F:]+\](:\d{1,5})?(/[^@\s]*)?", url):
                raise ValueError(f"{url.split('@')[-1]!r} is not an http(s) URL without user and password")
        return tuple(url.rstrip("/") for url in urls)

    @model_validator(mode="after")
    def _one_token(self) -> Self:
        given = sorted(name for name in TOKENS if getattr(self, name) is not None)
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} are both given; keep one")
        return self

    @field_validator("network")
    @classmethod
    def _folder_name(cls, name: str) -> str:
        if name and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
            raise ValueError(f"{name!r} cannot name a folder; use letters, digits, dot, dash and underscore")
        return name

    @field_validator("store")
    @classmethod
    def _store_without_keys(cls, store: str | Path) -> str | Path:
        address, _, options = str(store).partition("?")
        if "://" in address and not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]+(/[^@\s:]*)?", address):
            raise ValueError("an object store is written s3://bucket/prefix; its keys come from AWS_ACCESS_KEY_ID and such")
        if re.match(r"s3:/[^/]", address):
            raise ValueError("an object store is written s3://bucket/prefix, with two slashes")
        if "://" in address and re.search(r"(^|&)(access_key|secret_key|session_token)=", options):
            raise ValueError("keys do not belong into the address; they come from AWS_ACCESS_KEY_ID and such")
        return store

    @field_validator("vocabulary", mode="before")
    @classmethod
    def _named_vocabulary(cls, value: object) -> object:
        return Vocabulary.preset(value) if isinstance(value, str) else value


# Groups of settings that people write beside the others, without naming the group.
GROUPS: dict[str, type[Limits] | type[SandboxShape]] = {"limits": Limits, "sandbox": SandboxShape}


def load_settings(profile: str | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Put settings together: keyword, then environment variable, then profile, then default.

    Parameters
    ----------
    profile : str, optional
        Name of a section of ``ledgerframes.toml``; by default ``LEDGERFRAMES_PROFILE``, or the sandbox.
    overrides : mapping, optional
        Fields of :class:`Settings`, of :class:`Limits` and of :class:`SandboxShape`.

    Raises
    ------
    UsageError
        If there is no such profile, or a value makes no sense.
    """
    name = profile or os.environ.get(ENVIRONMENT + "PROFILE") or SANDBOX
    found = profiles()
    if name != SANDBOX and name not in found:
        raise UsageError(
            f"There is no profile {name!r}. Known: {', '.join(sorted({SANDBOX, *found}))}. "
            f"Add a section [{name}] with history_url to {FILE_NAME} in this folder or in {user_config_folder()}."
        )
    values: dict[str, Any] = {"network": name}
    for layer in (_flat(found.get(name, {})), _environment(), _flat(dict(overrides or {}))):
        if not TOKENS.isdisjoint(layer):  # a token of one kind takes the place of any other kind
            values = {field: value for field, value in values.items() if field not in TOKENS}
        values.update(layer)
    groups = {
        group: {field: values.pop(field) for field in model.model_fields if field in values} for group, model in GROUPS.items()
    }
    try:
        return Settings(profile=name, **groups, **values)  # type: ignore[arg-type]
    except ValidationError as error:
        raise UsageError(f"Profile {name}: {_in_words(error)}") from None


def local_dir() -> Path:
    """The folder of this user's own data: the store, unless it is elsewhere, and what never leaves this machine."""
    return Path(platformdirs.user_data_path("ledgerframes"))


def profiles() -> dict[str, dict[str, Any]]:
    """The profiles of ``ledgerframes.toml``; the current folder's file wins over the user's."""
    merged: dict[str, dict[str, Any]] = {}
    for folder in (user_config_folder(), Path.cwd()):
        path = folder / FILE_NAME
        if path.is_file():
            merged.update(_sections(path))
    return merged


def user_config_folder() -> Path:
    """The folder of the user's own ``ledgerframes.toml``."""
    return Path(platformdirs.user_config_path("ledgerframes"))


def _sections(path: Path) -> dict[str, dict[str, Any]]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"{path} cannot be read: {error}. Mend it, or move it away.") from error
    strays = [name for name, section in content.items() if not isinstance(section, dict)]
    if strays:
        raise UsageError(f"{path}: {strays[0]!r} stands outside a section. Put it below a line such as [mainnet].")
    return content


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the groups beside the rest."""
    flat = {name: value for name, value in values.items() if value is not None}
    for group in GROUPS:
        flat = {**flat.pop(group, {}), **flat}
    return flat


def _environment() -> dict[str, Any]:
    """The settings given by environment variables, such as LEDGERFRAMES_HISTORY_URL."""
    return {field: os.environ[name] for field in _field_names() if os.environ.get(name := ENVIRONMENT + field.upper())}


def _field_names() -> list[str]:
    """What can be set, by any of the ways."""
    return [
        field for model in (Settings, Limits, SandboxShape) for field in model.model_fields if field not in ("profile", *GROUPS)
    ]


def _in_words(error: ValidationError) -> str:
    """What is wrong, without the values: one of them may be a token."""
    first = error.errors(include_input=False, include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"{where} is not a setting. Settings: {', '.join(_field_names())}."
    return f"{where}: {first['msg'].removeprefix('Value error, ')}.".removeprefix(": ")
