"""Settings of a network, from keywords, environment, profiles and defaults.

Precedence, in one place (:func:`setting_layers`): keyword, environment variable, profile in ``ledgerframes.toml``, default.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from ledgerframes.errors import UsageError
from ledgerframes.settings.addresses import is_file, is_web_address, resolve_store
from ledgerframes.settings.groups import (
    EngineSettings,
    Limits,
    LocalPath,
    SandboxShape,
    Vocabulary,
)

__all__ = [
    "EngineSettings",
    "Limits",
    "SandboxShape",
    "Settings",
    "Vocabulary",
    "load_settings",
    "profile_path",
    "profiles",
    "setting_layers",
]

ENVIRONMENT = "LEDGERFRAMES_"
CONFIG = f"{ENVIRONMENT}CONFIG"
NO_PROFILES = f"{ENVIRONMENT}NO_PROFILES"  # set for a process that has all settings in its environment
# Variables that are not settings of a network, those of reports last.
OTHER_VARIABLES = (
    *("PROFILE", "CONFIG", "NO_PROFILES", "OFFLINE", "SNAPSHOT", "LOG_JSON", "TRACEBACK"),
    *("REPORT", "REPORT_PAGE", "REPORT_ERROR", "REPORT_TABLES", "REPORT_HISTORY"),
)
FILE_NAME = "ledgerframes.toml"
SANDBOX = "sandbox"
# Names that Windows reserves for devices, with any extension. A store may be copied there.
DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
TOKENS = {"token", "token_file", "token_env"}
PATHS = ("token_file", "ca_file", "client_cert_file", "client_key_file", "store", "spill_dir")


class Settings(BaseModel):
    """All settings of one network, as :func:`ledgerframes.connect` uses them.

    Attributes
    ----------
    profile : str
        Name of the profile.
    network : str
        Name of the network, and of its directory in the store.
    history_url : tuple of str
        Hosts of the history API in the order of failover, usually of several operators (docs/facts.md#failover-operators).
    ledger_url, wallet_url : tuple of str
        Hosts of the API in the order of failover, all replicas of one participant (docs/facts.md#offsets-per-participant).
    token : str or callable, optional
        Bearer token of the ledger and the wallet API, or a callable that returns it. Never shown.
    token_file : Path, optional
        File with the token, read before each request. Set one of token, token_file and token_env.
    token_env : str, optional
        Environment variable with the token, read before each request.
    ca_file : Path, optional
        PEM file of the certificate authorities to trust, instead of the public ones.
    client_cert_file : Path, optional
        PEM file of this client's certificate, for hosts that require one.
    client_key_file : Path, optional
        PEM file of the key of the client's certificate, unless it is in the same file.
    vocabulary : Vocabulary
        The network's own words for its token and its contract language.
    store : str or Path
        Root of the Parquet store: a directory, or ``s3://bucket/prefix`` with keys in the AWS environment variables.
    limits : Limits
    sandbox : SandboxShape
        For the sandbox only.
    engine : EngineSettings
        Threads and memory of the queries of analyses.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    profile: str = SANDBOX
    network: str = ""
    history_url: tuple[str, ...] = ()
    ledger_url: tuple[str, ...] = ()
    wallet_url: tuple[str, ...] = ()
    token: SecretStr | Callable[[], str | None] | None = Field(default=None, repr=False)
    token_file: LocalPath | None = None
    token_env: str | None = None
    ca_file: LocalPath | None = None
    client_cert_file: LocalPath | None = None
    client_key_file: LocalPath | None = None
    vocabulary: Vocabulary = Vocabulary()
    store: str | Path = Field(default_factory=lambda: local_dir() / "store")
    limits: Limits = Limits()
    sandbox: SandboxShape = SandboxShape()
    engine: EngineSettings = EngineSettings()

    def __getstate__(self) -> dict[Any, Any]:
        """Return the state without the token, so that no pickle contains it."""
        state = super().__getstate__()
        return {**state, "__dict__": {**state["__dict__"], "token": None}}

    @field_validator("history_url", "ledger_url", "wallet_url", mode="before")
    @classmethod
    def _one_or_several(cls, value: object) -> object:
        if not isinstance(value, str | list | tuple):
            raise ValueError("must be a URL or a list of URLs")
        return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value

    @field_validator("history_url", "ledger_url", "wallet_url")
    @classmethod
    def _web_addresses(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        for url in urls:
            if not is_web_address(url):
                address = re.split("[?#]", url.split("@")[-1])[0]  # a query may have a key
                parts = "user, password, query and fragment"
                raise ValueError(f"must be http(s) URLs of a valid host, without {parts}, got {address!r}")
        return tuple(url.rstrip("/") for url in urls)

    @model_validator(mode="after")
    def _token_and_certificate(self) -> Self:
        sources = sorted(name for name in TOKENS if getattr(self, name) is not None)
        if len(sources) > 1:
            raise ValueError(f"{sources[0]}= cannot be combined with {'= or '.join(sources[1:])}=")
        if self.client_key_file and not self.client_cert_file:
            raise ValueError("client_key_file= needs client_cert_file=")
        return self

    @field_validator("token", mode="before")
    @classmethod
    def _text_or_function(cls, token: object) -> object:
        if token is not None and not isinstance(token, str | SecretStr) and not callable(token):
            raise ValueError("must be text or a function that returns it")
        return token

    @field_validator("network")
    @classmethod
    def _directory_name(cls, name: str) -> str:
        if DEVICE.fullmatch(name) or name.endswith("."):
            raise ValueError(f"must be a directory name on every system, got {name!r}")
        if name and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
            raise ValueError(f"must be a directory name of letters, digits, dots, dashes and underscores, got {name!r}")
        return name

    @field_validator("store")
    @classmethod
    def _store_without_keys(cls, store: str | Path) -> str | Path:
        return resolve_store(store)

    @field_validator("vocabulary", mode="before")
    @classmethod
    def _named_vocabulary(cls, value: object) -> object:
        return value if isinstance(value, Vocabulary | Mapping) else Vocabulary.preset(value)


# Settings in these groups may also be written at the top level of a profile.
GROUPS: dict[str, type[Limits] | type[SandboxShape] | type[EngineSettings]] = {
    "limits": Limits,
    "sandbox": SandboxShape,
    "engine": EngineSettings,
}


def load_settings(profile: str | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings of a profile.

    Parameters
    ----------
    profile : str, optional
        Section of ``ledgerframes.toml``, by default ``LEDGERFRAMES_PROFILE`` or the sandbox.
    overrides : mapping, optional
        Fields of :class:`Settings` and of its groups.

    Raises
    ------
    UsageError
        If the profile or a setting is unknown, or a value is invalid.
    """
    name = profile_name(profile)
    values: dict[str, Any] = {"network": name}
    layers = setting_layers(name, overrides)
    for layer in reversed(layers.values()):
        if not TOKENS.isdisjoint(layer):  # a token of one kind replaces a token of any other kind
            values = {field: value for field, value in values.items() if field not in TOKENS}
        values.update(layer)
    groups = {
        group: {field: values.pop(field) for field in model.model_fields if field in values} for group, model in GROUPS.items()
    }
    try:
        return Settings(profile=name, **groups, **values)  # type: ignore[arg-type]
    except ValidationError as error:
        raise UsageError(f"{_origin(error, name, layers)}: {_describe(error)}") from None


def _origin(error: ValidationError, profile: str, layers: Mapping[str, Mapping[str, Any]]) -> str:
    """Return where an invalid value comes from, the profile or an environment variable."""
    field = next(iter(_invalid_parts(error)), "")
    is_variable = field in layers["environment"] and field not in layers["keyword"]
    return variable_of(field) if is_variable else f"Profile {profile}"


def setting_layers(profile: str, overrides: Mapping[str, Any] | None = None) -> dict[str, dict[str, Any]]:
    """Return the settings by their origin without defaults, the highest precedence first.

    Raises
    ------
    UsageError
        If there is no such profile.
    """
    known = profiles()
    if profile != SANDBOX and profile not in known:
        raise UsageError(
            f"Unknown profile {profile!r}. Choose from {', '.join(sorted({SANDBOX, *known}))}, or add a section [{profile}] to "
            f"{config_path() if os.environ.get(CONFIG) else f'{FILE_NAME} in this directory'} or in {user_config_dir()}."
        )
    variables = {field: variable_of(field) for field in _field_names()}
    return {
        "keyword": _flatten(overrides or {}),
        "environment": {field: os.environ[name] for field, name in variables.items() if os.environ.get(name)},
        FILE_NAME: _flatten(known.get(profile, {})),
    }


def profile_name(profile: object = None) -> str:
    """Return the name of a profile, of the profile in the environment, or of the sandbox."""
    if not isinstance(profile, str | None):
        raise UsageError(f"profile= must be the name of a profile, got {profile!r}.")
    return profile or os.environ.get(f"{ENVIRONMENT}PROFILE") or SANDBOX


def local_dir() -> Path:
    """Return the directory of this user's data, such as the default store."""
    return Path(platformdirs.user_data_path("ledgerframes"))


def engine_settings() -> EngineSettings:
    """Return the limits of queries from the environment, for frames that belong to no network.

    Raises
    ------
    UsageError
        If a value is invalid.
    """
    variables = {field: os.environ.get(variable_of(field)) for field in EngineSettings.model_fields}
    try:
        return EngineSettings.model_validate({field: value for field, value in variables.items() if value})
    except ValidationError as error:
        raise UsageError(f"Environment: {_describe(error)}") from None


def profiles() -> dict[str, dict[str, Any]]:
    """Return the profiles of both files.

    Those of :func:`config_path` replace the user's.

    Raises
    ------
    UsageError
        If a file cannot be read, or ``LEDGERFRAMES_CONFIG`` names no file.
    """
    merged: dict[str, dict[str, Any]] = {}
    for sections in _profile_files().values():
        merged.update(sections)
    return merged


def profile_path(profile: str) -> Path | None:
    """Return the file that a profile is from, or None for one without a file.

    Raises
    ------
    UsageError
        If a file cannot be read, or ``LEDGERFRAMES_CONFIG`` names no file.
    """
    return next((path for path, sections in reversed(_profile_files().items()) if profile in sections), None)


def _profile_files() -> dict[Path, dict[str, dict[str, Any]]]:
    """Return the profiles of each file that exists, the user's first."""
    if os.environ.get(NO_PROFILES):
        return {}
    return {path: _read_sections(path) for path in (user_config_dir() / FILE_NAME, config_path()) if is_file(path)}


def config_path() -> Path:
    """Return where the second file of profiles is.

    ``LEDGERFRAMES_CONFIG`` names the file. The default, ``ledgerframes.toml`` in the current directory, may not exist.

    Raises
    ------
    UsageError
        If the variable names no file.
    """
    name = os.environ.get(CONFIG)
    path = Path(name or FILE_NAME).expanduser().absolute()
    if name and not is_file(path):
        raise UsageError(f"{CONFIG}: {path} is not a file. Set the variable to the file with the profiles, or unset it.")
    return path


def user_config_dir() -> Path:
    """Return the directory of the user's ``ledgerframes.toml``."""
    return Path(platformdirs.user_config_path("ledgerframes"))


def _read_sections(path: Path) -> dict[str, dict[str, Any]]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors write a byte order mark
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"Cannot read {path}: {error}. Fix the file or move it.") from error
    for name, section in content.items():
        if not isinstance(section, dict):
            raise UsageError(f"{path}: {name!r} must be in a section. Move it below a line such as [mainnet].")
    return {name: _with_paths_from(path.parent, section) for name, section in content.items()}


def _with_paths_from(directory: Path, section: dict[str, Any]) -> dict[str, Any]:
    """Return a section with its relative paths resolved from the directory of its file."""
    moved = dict(section)
    for name, value in section.items():
        if isinstance(value, dict):
            moved[name] = _with_paths_from(directory, value)
        elif name in PATHS and isinstance(value, str) and value and not value.startswith("~") and "://" not in value:
            moved[name] = str(directory / value)
    return moved


def _flatten(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with the groups' values at the top level."""
    flat = {name: value for name, value in values.items() if value is not None}
    for group in GROUPS:
        members = flat.pop(group, {})
        if not isinstance(members, Mapping):
            raise UsageError(f"{group}= must be a table of settings, got {type(members).__name__}.")
        flat = {**members, **flat}
    return flat


def variable_of(setting: str) -> str:
    """Return the environment variable of a setting."""
    return f"{ENVIRONMENT}{setting.upper()}"


def unknown_variables() -> dict[str, str]:
    """Return variables that look like settings but are not, each with a similar name."""
    known = [variable_of(name) for name in (*_field_names(), *OTHER_VARIABLES)]
    unknown = sorted(name for name in os.environ if name.startswith(ENVIRONMENT) and name not in known)
    return {name: next(iter(difflib.get_close_matches(name, known, 1)), "") for name in unknown}


def _field_names() -> list[str]:
    """Return the names of all settings."""
    return [field for model in (Settings, *GROUPS.values()) for field in model.model_fields if field not in ("profile", *GROUPS)]


def _describe(error: ValidationError) -> str:
    """Return what is wrong, without the values, because one of them may be a token."""
    first = error.errors(include_input=False, include_url=False)[0]
    # Further parts are what pydantic calls the types of a union, or positions.
    parts = _invalid_parts(error)
    name = ".".join(part for part in parts if part == parts[0] or part in Vocabulary.model_fields)
    if first["type"] == "extra_forbidden":
        known = list(Vocabulary.model_fields) if parts[0] == "vocabulary" else _field_names()
        near = "".join(f"Did you mean {each}? " for each in difflib.get_close_matches(parts[-1], known, 1))
        return f"Unknown setting {'.'.join(parts)!r}. {near}Choose from {', '.join(known)}."
    reason = describe_constraint(first["msg"])
    return f"{name}= {reason}." if name else f"{reason}."


def _invalid_parts(error: ValidationError) -> list[str]:
    """Return the name of the first invalid setting, and parts of it."""
    return [str(part) for part in error.errors(include_input=False, include_url=False)[0]["loc"] if part not in GROUPS]


def describe_constraint(message: str) -> str:
    """Return a message of pydantic as the constraint that a value must meet."""
    if message.startswith("Input is not a valid path"):  # and names the type
        return "must be a path"
    text = re.sub("^(Input|String) should ", "must ", message.removeprefix("Value error, "))
    return text.partition(", unable to parse")[0]
