"""``ledgerframes report``: list the reports, run one."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import Call, During, Since, Until, command
from ledgerframes.errors import UsageError

if TYPE_CHECKING:
    from ledgerframes.report import Report

app = typer.Typer(rich_markup_mode=None)

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@app.callback()
def group() -> None:
    """List the reports, run one."""


@app.command("list")
@command
def list_reports(call: Call) -> None:
    """List the reports with their parameters."""
    from ledgerframes.report import REPORTS

    document = [_document(report) for report in REPORTS.values()]
    call.show(document, lambda: _listed(document))


@app.command("run")
@command
def run(
    call: Call,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A report; `ledgerframes report list` shows them.")],
    since: Since = None,
    until: Until = None,
    during: During = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where reports are published.")] = Path("reports"),
    min_coverage: Annotated[
        float | None,
        typer.Option(
            "--min-coverage", min=0, max=1, metavar="SHARE", help="Fail with exit code 3 below this share, such as 0.95."
        ),
    ] = None,
    max_age: Annotated[
        str | None,
        typer.Option("--max-age", metavar="AGE", help="Fail with exit code 3 when the newest data are older, such as 36h or 2d."),
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A parameter of the report. May be given several times.")
    ] = None,
) -> None:
    """Run a report over a range, and publish it as a web page, tables and run.json.

    The same report over the same data is not made twice. When it fails, what was published before stays.
    """
    parameters = _parameters(param or [])
    oldest = duration(max_age) if max_age else None
    net = call.connect()
    from ledgerframes.report import run_report

    result = run_report(
        name,
        net=net,
        out=out,
        since=since,
        until=until,
        during=during,
        parameters=parameters,
        min_coverage=min_coverage,
        max_age=oldest,
        progress=call.progress,
    )
    document = {
        "report": result.report,
        "key": result.key,
        "directory": result.directory,
        "page": result.page_path,
        "latest": result.latest,
        "reused": result.reused,
        "run": result.run,
    }
    call.show(document, str(result.page_path) if call.quiet else _text(document))


def duration(text: str) -> timedelta:
    """A length of time as people write it.

    >>> duration("36h")
    datetime.timedelta(days=1, seconds=43200)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([mhdw])", text.strip().lower())
    if not match:
        raise UsageError(f"--max-age {text!r} is not a length of time. Write it as 90m, 36h, 2d or 1w.")
    try:
        return timedelta(**{UNITS[match[2]]: float(match[1])})
    except OverflowError:
        raise UsageError(f"--max-age {text!r} is too long. Write it as 90m, 36h, 2d or 1w.") from None


def _parameters(given: list[str]) -> dict[str, str]:
    parameters = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not name or not equals:
            raise UsageError(f"--param {each!r} is not NAME=VALUE. `ledgerframes report list` shows the parameters.")
        parameters[name.strip().replace("-", "_")] = value
    return parameters


def _document(report: Report) -> dict[str, Any]:
    fields = report.parameters.model_json_schema().get("properties", {})
    parameters = [
        {
            "name": name,
            "type": field.get("type", "string"),
            "default": field.get("default"),
            "values": field.get("enum", []),
            "meaning": field.get("description", ""),
        }
        for name, field in fields.items()
    ]
    return {"name": report.name, "purpose": report.purpose, "parameters": parameters}


def _listed(reports: list[dict[str, Any]]) -> str:
    rows = [
        (
            report["name"],
            each["name"],
            each["default"],
            each["meaning"] + (f": {', '.join(each['values'])}" if each["values"] else ""),
        )
        for report in reports
        for each in report["parameters"]
    ]
    purposes = output.columns(("report", "what it answers"), [(report["name"], report["purpose"]) for report in reports])
    return f"{purposes}\n\n{output.columns(('report', 'parameter', 'default', 'meaning'), rows)}"


def _text(document: dict[str, Any]) -> str:
    what = "was there already; nothing was done" if document["reused"] else "is published"
    return output.facts([("report", f"{document['report']} {what}"), ("page", document["page"]), ("latest", document["latest"])])
