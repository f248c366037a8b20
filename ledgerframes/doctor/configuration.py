"""Settings in use, and checks of environment and software."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

from ledgerframes.doctor.checks import Check
from ledgerframes.installation import EXTRAS
from ledgerframes.settings import (
    ENVIRONMENT,
    FILE_NAME,
    GROUPS,
    SANDBOX,
    SandboxShape,
    Settings,
    profile_path,
    setting_layers,
    unknown_variables,
    variable_of,
)

SECRET = "set, not shown"  # noqa: S105  (shown instead of a secret)


@dataclass(frozen=True)
class Setting:
    """One setting in use with its origin, and without its value if it is a secret."""

    name: str
    value: str
    origin: str


def settings_in_use(settings: Settings, overrides: Mapping[str, Any]) -> list[Setting]:
    """Return every setting with its value and origin.

    Parameters
    ----------
    settings : Settings
        From :func:`ledgerframes.settings.load_settings`.
    overrides : mapping
        Keywords, or options of the command line.
    """
    layers = setting_layers(settings.profile, overrides)
    if os.environ.get(f"{ENVIRONMENT}PROFILE") == settings.profile:
        layers["environment"]["profile"] = settings.profile
    values = [pair for name, value in settings for pair in (value if name in GROUPS else [(name, value)])]
    if settings.profile != SANDBOX:
        values = [(name, value) for name, value in values if name not in SandboxShape.model_fields]
    section = f"{_short_path(profile_path(settings.profile))}, [{settings.profile}]"
    return [Setting(name, _format(name, value), _origin(layers, name, section)) for name, value in values]


def _origin(layers: Mapping[str, Mapping[str, Any]], name: str, section: str) -> str:
    names = {"keyword": "command line", "environment": variable_of(name), FILE_NAME: section}
    return next((names[layer] for layer in layers if name in layers[layer]), "default")


def _short_path(path: Path | None) -> str:
    """Return the path of a file of profiles, without the current directory."""
    if path is None:
        return FILE_NAME
    return path.name if path.parent == Path.cwd() else str(path)


def _format(name: str, value: Any) -> str:
    if name == "token":
        return SECRET if value else ""
    if name.endswith("_url"):
        return ", ".join(value)
    if name == "vocabulary":
        return f"coin={value.coin}, lang={value.lang}"
    if name == "store" and "://" in str(value):
        return str(value).partition("?")[0]  # without options, one of which may be a key
    return "" if value is None else str(value)


def check_environment() -> list[Check]:
    """Check that every environment variable that begins like a setting is one."""
    return [
        Check("configuration", name, "warning", "No setting has this name.", f"Did you mean {near}?" if near else "Unset it.")
        for name, near in unknown_variables().items()
    ]


def check_software() -> list[Check]:
    """Check versions and optional packages."""
    names = ("ledgerframes", "pandas", "pyarrow")
    versions = ", ".join([f"Python {python_version()}", *(f"{name} {version(name)}" for name in names)])
    checks = [Check("software", "versions", "ok", versions)]
    if missing := sorted({extra for module, extra in EXTRAS.items() if importlib.util.find_spec(module) is None}):
        step = f"Install them with: pip install 'ledgerframes[{','.join(missing)}]'."
        checks.append(Check("software", "extras", "warning", f"Not installed: {', '.join(missing)}.", step))
    return checks
