"""``ledgerframes doctor`` prints the checks of :mod:`ledgerframes.doctor`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.exit_codes import FAILURE, SERVICE, SUCCESS, USAGE
from ledgerframes.cli.options import CommandContext
from ledgerframes.texts.control_characters import escape_control

if TYPE_CHECKING:
    from ledgerframes.doctor import Check

STATUS_WIDTH = 8


def doctor(context: CommandContext) -> None:
    """Check configuration, store and services.

    Every failed check comes with the next step. The exit code is 4 if a service fails, 2 if none is configured, and 1 if the
    store cannot be used.
    """
    from ledgerframes import doctor as checking

    net = context.connect()
    overrides = context.overrides | ({"profile": context.profile} if context.profile else {})
    checks = [*checking.check_environment(), *checking.check_software(), *checking.check_store(net)]
    checks += [*checking.check_services(net, context.overrides), *checking.check_ledger_and_wallet(net, context.overrides)]
    code = _exit_code(checks)
    document = {
        "profile": net.settings.profile,
        "exit_code": code,
        "settings": [asdict(setting) for setting in checking.settings_in_use(net.settings, overrides)],
        "checks": [asdict(check) for check in checks],
    }
    context.print_result(document, _format_problems if context.quiet else _format_all)
    raise typer.Exit(code)


def _exit_code(checks: list[Check]) -> int:
    failures = {check.kind for check in checks if check.status == "failed"}
    if "service" in failures:
        return SERVICE
    if "configuration" in failures:
        return USAGE
    return FAILURE if failures else SUCCESS


def _format_all(document: dict[str, Any]) -> str:
    rows = [(setting["name"], setting["value"], setting["origin"]) for setting in document["settings"]]
    width = max(len(check["subject"]) for check in document["checks"])
    lines = [_format_check(check, width) for check in document["checks"]]
    return "\n".join([output.format_table(("setting", "value", "origin"), rows), "", *lines])


def _format_problems(document: dict[str, Any]) -> str:
    problems = [_format_check(check, 0) for check in document["checks"] if check["status"] != "ok"]
    return "\n".join(problems) or "All checks passed."


def _format_check(check: dict[str, Any], width: int) -> str:
    status = output.color(check["status"].ljust(STATUS_WIDTH), check["status"])
    subject = escape_control(check["subject"]).ljust(width)
    indent = STATUS_WIDTH + len(subject) + len(output.GAP)
    text = escape_control(f"{check['message']} {check['next_step']}".strip())
    lines = output.wrap(text, indent)
    return f"{status}{subject}{output.GAP}" + f"\n{' ' * indent}".join(lines)
