"""``ledgerframes doctor``: shows what :mod:`ledgerframes.doctor` found."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from ledgerframes.cli import output
from ledgerframes.cli.failures import DONE, FAILED, SERVICE, USAGE
from ledgerframes.cli.options import Call, command

if TYPE_CHECKING:
    from ledgerframes.doctor import Check, Setting

COLOURS = {"ok": typer.colors.GREEN, "warning": typer.colors.YELLOW, "failed": typer.colors.RED}


@command
def doctor(call: Call) -> None:
    """Check configuration, store and services, and say what to do.

    Ends with exit code 4 when a host is down, 2 when none is configured, 1 when the store cannot be used.
    """
    from ledgerframes.doctor import check_ledger_and_wallet, check_services, check_software, check_store, settings_in_use

    net = call.connect()
    given = call.overrides | ({"profile": call.profile} if call.profile else {})
    settings = settings_in_use(net.settings, given)
    checks = [*check_software(), *check_store(net), *check_services(net, call.overrides)]
    checks += check_ledger_and_wallet(net, call.overrides)
    code = _exit_code(checks)
    document = {
        "profile": net.settings.profile,
        "exit_code": code,
        "settings": [asdict(each) for each in settings],
        "checks": [asdict(each) for each in checks],
    }
    call.show(document, lambda: _text(settings, checks, call.quiet))
    raise typer.Exit(code)


def _exit_code(checks: list[Check]) -> int:
    failed = {check.kind for check in checks if check.status == "failed"}
    if "service" in failed:
        return SERVICE
    if "configuration" in failed:
        return USAGE
    return FAILED if failed else DONE


def _text(settings: list[Setting], checks: list[Check], quiet: bool) -> str:
    """All of it; when quiet, only what is not well."""
    if quiet:
        return "\n".join(_line(check, 0) for check in checks if check.status != "ok") or "All is well."
    table = output.columns(("setting", "value", "from"), [(each.name, each.value, each.origin) for each in settings])
    width = max(len(check.subject) for check in checks)
    return f"{table}\n\n" + "\n".join(_line(check, width) for check in checks)


def _line(check: Check, width: int) -> str:
    status = typer.style(f"{check.status:<8}", fg=COLOURS[check.status])
    return f"{status}{output.plain(check.subject):<{width}}  {output.plain(f'{check.message} {check.next_step}'.strip())}"
