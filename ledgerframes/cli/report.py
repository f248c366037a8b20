"""``ledgerframes report`` lists and runs reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import CommandContext, During, Since, Until, command, parse_duration
from ledgerframes.errors import UsageError

if TYPE_CHECKING:
    from ledgerframes.report import Report

app = typer.Typer(rich_markup_mode=None)


@app.callback()
def group() -> None:
    """List and run reports."""


@app.command("list")
@command
def list_reports(context: CommandContext) -> None:
    """List the reports and their parameters."""
    from ledgerframes.report import REPORTS

    context.print_result([_describe(report) for report in REPORTS.values()], _format_reports)


@app.command("run")
@command
def run(
    context: CommandContext,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Report name, from `ledgerframes report list`.")],
    since: Since = None,
    until: Until = None,
    during: During = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Directory to publish in (default: reports).", show_default=False)
    ] = Path("reports"),
    min_coverage: Annotated[
        float | None,
        typer.Option("--min-coverage", min=0, max=1, metavar="SHARE", help="Minimum coverage of the window, such as 0.95."),
    ] = None,
    max_age: Annotated[
        str | None, typer.Option("--max-age", metavar="DURATION", help="Maximum age of the newest data, such as 36h or 2d.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Set a parameter of the report. Repeatable.")
    ] = None,
) -> None:
    """Run a report over a window and publish it.

    A report is a web page with its tables and a run.json. A run over the same data, parameters and versions is reused. If a run
    fails, the report that was published before stays in place.
    """
    parameters = _parse_parameters(param or [])
    age = parse_duration("--max-age", max_age) if max_age else None
    net = context.connect()
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
        max_age=age,
        progress=context.progress,
    )
    document = {
        "report": result.report,
        "key": result.key,
        "directory": result.directory,
        "page_path": result.page_path,
        "latest": result.latest,
        "reused": result.reused,
        "run": result.run,
    }
    context.print_result(document, _format_page_path if context.quiet else _format_run)


def _parse_parameters(texts: list[str]) -> dict[str, str]:
    parameters = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"--param must be NAME=VALUE, got {text!r}. Run `ledgerframes report list` for the parameters.")
        parameters[name.strip().replace("-", "_")] = value
    return parameters


def _describe(report: Report) -> dict[str, Any]:
    fields = report.parameters.model_json_schema().get("properties", {})
    parameters = [
        {
            "name": name,
            "type": field.get("type", "string"),
            "default": field.get("default"),
            "values": field.get("enum", []),
            "description": field.get("description", ""),
        }
        for name, field in fields.items()
    ]
    return {"name": report.name, "purpose": report.purpose, "parameters": parameters}


def _format_reports(reports: list[dict[str, Any]]) -> str:
    purposes = [(report["name"], report["purpose"]) for report in reports]
    parameters = [
        (report["name"], parameter["name"], parameter["default"], _description(parameter))
        for report in reports
        for parameter in report["parameters"]
    ]
    return "\n\n".join(
        [
            output.format_table(("report", "purpose"), purposes),
            output.format_table(("report", "parameter", "default", "description"), parameters),
        ]
    )


def _description(parameter: dict[str, Any]) -> str:
    values = f": {', '.join(parameter['values'])}" if parameter["values"] else ""
    return f"{parameter['description']}{values}"


def _format_run(document: dict[str, Any]) -> str:
    status = "unchanged since the last run, and reused" if document["reused"] else "published"
    return output.format_pairs(
        [
            ("report", document["report"]),
            ("status", status),
            ("page", document["page_path"]),
            ("latest", document["latest"]),
        ]
    )


def _format_page_path(document: dict[str, Any]) -> str:
    return str(document["page_path"])
