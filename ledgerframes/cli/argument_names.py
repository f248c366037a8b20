"""Messages that name options, such as ``--since``, instead of arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperGroup

QUOTED = r"""(?<!\w)(?:'[^']*'|"[^"]*")"""
SETTINGS = ("store", "profile")  # which messages name as members of a profile


def options_by_argument(context: typer.Context) -> dict[str, str]:
    """Return the options of the running command, by argument of the library.

    Each parameter of a command is named like the argument that it fills.
    """
    return _options_of(context.command)


def options_of_sibling(context: typer.Context, name: str) -> dict[str, str]:
    """Return the options of another command of the same group, by argument of the library."""
    group = context.parent.command if context.parent else None
    return _options_of(group.commands[name]) if isinstance(group, TyperGroup) else {}


def _options_of(command: Any) -> dict[str, str]:
    options = {each.name: each.opts[0] for each in command.params if each.name and each.param_type_name == "option"}
    return {name: option for name, option in options.items() if name not in SETTINGS}


def name_options(text: str, options: Mapping[str, str]) -> str:
    """Return a message with the options of a command instead of the arguments of the library.

    Quoted text is left as it is, because it comes from the user or a network.

    Examples
    --------
    >>> options = {"since": "--since", "allow_partial": "--allow-partial", "plan": "--dry-run"}
    >>> name_options("since= must be before 2026. Pass since=2025 or allow_partial=True, not 'since=2'.", options)
    "--since must be before 2026. Pass --since 2025 or --allow-partial, not 'since=2'."
    >>> name_options("follow=True cannot be combined with lf.plan, not 'lf.plan'.", options)
    "follow=True cannot be combined with --dry-run, not 'lf.plan'."
    """
    if not options:
        return text
    argument = rf"(?<![\w.-])(?P<name>{'|'.join(map(re.escape, options))})=(?P<value>True\b|(?=[^\s.,)]))?"

    def replace(match: re.Match[str]) -> str:
        if match[0] == "lf.plan":  # the plan of a load is an option of its command
            return options.get("plan", match[0])
        if match["name"] is None:
            return match[0]
        return options[match["name"]] + (" " if match["value"] == "" else "")

    return re.sub(rf"{QUOTED}|\blf\.plan\b|{argument}", replace, text)
