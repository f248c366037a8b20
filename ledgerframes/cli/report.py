"""``ledgerframes report`` lists, runs and compares reports."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ledgerframes.cli import output
from ledgerframes.cli.argument_names import name_options, options_of_sibling
from ledgerframes.cli.exit_codes import RULE
from ledgerframes.cli.options import CommandContext, During, Since, Until, group, option
from ledgerframes.errors import UsageError
from ledgerframes.texts.control_characters import escape_control

if TYPE_CHECKING:
    from ledgerframes.report import Report

STDERR = 2  # the file descriptor
LENGTHS_OF_KEYS = 16, 33, 38  # to the start and the end of the window, and a part of the digest
Out = Annotated[Path, option("--out DIR", "Directory of all reports (default: reports).")]


def list_reports(context: CommandContext) -> None:
    """List the reports and their parameters."""
    from ledgerframes.report import REPORTS

    context.print_result([_describe(report) for report in REPORTS.values()], _format_reports)


def run(
    context: CommandContext,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Report name, from `ledgerframes report list`, or path of a notebook.")
    ],
    since: Since = None,
    until: Until = None,
    during: During = None,
    out: Out = Path("reports"),
    min_coverage: Annotated[
        float | None, option("--min-coverage SHARE", "Minimum coverage of the window, such as 0.95.", min=0, max=1)
    ] = None,
    max_age: Annotated[str | None, option("--max-age DURATION", "Maximum age of the newest data, such as 36h or 2d.")] = None,
    parameters: Annotated[list[str] | None, option("--param NAME=VALUE", "Set a parameter of the report. Repeatable.")] = None,
    fail_if: Annotated[list[str] | None, option("--fail-if RULE", "Exit with 6 if a figure breaks a rule. Repeatable.")] = None,
    keep: Annotated[int | None, option("--keep N", "Number of published runs to keep (default: all).", min=1)] = None,
    timeout: Annotated[str | None, option("--timeout DURATION", "Maximum time for the run, such as 2h.")] = None,
    pdf: Annotated[bool, option("--pdf", "Print the page as report.pdf too (needs Chromium).")] = False,
    on_success: Annotated[str | None, option("--on-success COMMAND", "Command to run after a success.")] = None,
    on_failure: Annotated[str | None, option("--on-failure COMMAND", "Command to run after a failure.")] = None,
) -> None:
    """Run a report over a window and publish it.

    A report is a web page with its tables and a run.json. A run over the same data with the same parameters, notebook and
    code of ledgerframes is reused. If a run fails, the previously published report stays in place. index.html in the directory
    lists all runs.

    A rule is a figure, a comparison and a number, such as "wasted_share > 0.2". `ledgerframes report status --json` shows the
    figures. The commands of --on-success and --on-failure get LEDGERFRAMES_REPORT, LEDGERFRAMES_REPORT_PAGE and
    LEDGERFRAMES_REPORT_ERROR in their environment, and run without a shell.
    """
    values = _parse_parameters(parameters or [])
    after_success, after_failure = _parse_command("--on-success", on_success), _parse_command("--on-failure", on_failure)
    from ledgerframes.report import run_report

    try:
        result = run_report(
            name,
            net=context.connect(),
            out=out,
            since=since,
            until=until,
            during=during,
            parameters=values,
            min_coverage=min_coverage,
            max_age=max_age,
            fail_if=fail_if or [],
            keep=keep,
            timeout=timeout,
            pdf=pdf,
            progress=context.progress,
        )
    except (Exception, KeyboardInterrupt) as error:
        reason = context.describe(error) if isinstance(error, Exception) else "The run was interrupted."
        _run_hook(after_failure, name, error=reason)
        raise
    reasons = ". ".join(result.broken_rules)
    _run_hook(after_failure if reasons else after_success, name, page=result.page_path, error=reasons)
    context.print_result(vars(result), (lambda run: str(run["page_path"])) if context.quiet else _format_run)
    if result.broken_rules:
        if context.quiet and not context.as_json:
            output.write_error(f"ledgerframes: {reasons}.", "failed")
        raise typer.Exit(RULE)


def status(context: CommandContext, out: Out = Path("reports")) -> None:
    """List the published runs, and the failures since."""
    from ledgerframes.report.runs import failure_notes, list_runs

    runs, options = list_runs(out), options_of_sibling(context.typer_context, "run") if context.typer_context else {}
    notes = {report: name_options(note, options) for report, note in failure_notes(out).items()}
    context.print_result({"runs": output.plain_rows(runs), "failures": notes}, _format_status)


def diff(
    context: CommandContext,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Report name.")],
    before: Annotated[str | None, typer.Argument(metavar="BEFORE", help="Key of the earlier run, or its beginning.")] = None,
    after: Annotated[str | None, typer.Argument(metavar="AFTER", help="Key of the later run, or its beginning.")] = None,
    out: Out = Path("reports"),
) -> None:
    """Show what changed between two runs of a report.

    Without keys, the newest runs over the two newest windows are compared. A note says whether their length or coverage differs.
    """
    if before and not after:
        raise UsageError("Pass the keys of two runs, or none. `ledgerframes report status` lists them.")
    from ledgerframes.report import compare_runs

    changes = compare_runs(out, name, before, after)
    context.print_result([dict(change) for _, change in changes.iterrows()], _format_changes)


def _parse_command(option: str, text: str | None) -> list[str]:
    """Return the program and the arguments of a command, none if there is no command."""
    try:
        return shlex.split(text or "")
    except ValueError as error:
        raise UsageError(f"{option} must be a command, got {text!r}: {error}.") from None


def _run_hook(arguments: list[str], report: str, *, page: Path | None = None, error: str = "") -> None:
    """Run a command, without a shell, and write its failure to stderr."""
    if not arguments:
        return
    # The command gets values in its environment, because texts from a network are not safe as arguments.
    facts = {"LEDGERFRAMES_REPORT": report, "LEDGERFRAMES_REPORT_PAGE": str(page or ""), "LEDGERFRAMES_REPORT_ERROR": error}
    try:
        # Its output goes to stderr, because stdout contains only the document of --json.
        completed = subprocess.run(arguments, env={**os.environ, **facts}, stdout=_stderr(), check=False)  # noqa: S603  (no shell)
    except OSError as problem:
        output.write_error(f"ledgerframes: Cannot run {arguments[0]}: {problem.strerror}.")
        return
    if completed.returncode:
        output.write_error(f"ledgerframes: {arguments[0]} ended with exit code {completed.returncode}.")


def _stderr() -> int:
    """Return the stream for a hook's output. A scheduler can start a process without stderr."""
    try:
        os.fstat(STDERR)
    except OSError:
        return subprocess.DEVNULL
    return STDERR


def _format_status(document: dict[str, Any]) -> str:
    networks = ("network",) if len({run["network"] for run in document["runs"]}) > 1 else ()
    columns = ("report", *networks, "key", "created_at", "final", "requests", "is_latest")
    keys = [(run["report"], run["key"]) for run in document["runs"]]
    runs = [{**run, "key": _shortened(run["report"], run["key"], keys)} for run in document["runs"]]
    rows = [[_cell(name, run[name]) for name in columns] for run in runs]
    titles = [{"created_at": "created", "is_latest": "latest"}.get(name, name) for name in columns]
    table = output.format_table(titles, rows, right=("final", "requests"))
    notes = [
        output.color(f"{report} failed:", "failed") + f"\n{escape_control(note.strip())}"
        for report, note in document["failures"].items()
    ]
    return "\n\n".join([table if rows else "No report is published.", *notes])


def _shortened(report: str, key: str, keys: list[tuple[str, str]]) -> str:
    """Return the shortest beginning of a key that no other run of its report has."""
    others = [each for name, each in keys if name == report and each != key]
    beginnings = (key[:length] for length in LENGTHS_OF_KEYS)
    return next((each for each in beginnings if not any(other.startswith(each) for other in others)), key)


def _cell(name: str, value: Any) -> str:
    from ledgerframes.statistics import printing

    texts = {True: "yes", False: "", None: "–"}
    if name == "final":
        return printing.share(value)
    if name == "created_at":
        return str(value)[:16].replace("T", " ")  # to the minute
    return texts[value] if value is None or isinstance(value, bool) else f"{value:,}" if isinstance(value, int) else str(value)


def _format_changes(changes: list[dict[str, Any]]) -> str:
    columns = ("item", "before", "after", "change", "note")
    rows = [[change[name] for name in columns] for change in changes if change["item"] != "key"]
    keys = [(name, change[name]) for change in changes if change["item"] == "key" for name in ("before", "after")]
    table = output.format_table(columns, rows, right=("before", "after", "change"))
    return "\n\n".join([output.format_pairs(keys), table] if keys else [table])


def _parse_parameters(texts: list[str]) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"--param must be NAME=VALUE, got {text!r}. Run `ledgerframes report list` for the parameters.")
        name = name.strip().replace("-", "_")
        if name in parameters:
            raise UsageError(f"--param {name} is set twice, to {parameters[name]!r} and {value!r}. Pass it once.")
        parameters[name] = value
    return parameters


def _describe(report: Report) -> dict[str, Any]:
    fields = report.parameters.model_json_schema().get("properties", {})
    parameters = [
        {
            "name": name,
            "type": field.get("type") or field.get("anyOf", [{"type": "string"}])[0]["type"],  # the first is not null
            "default": field.get("default"),
            "values": field.get("enum", []),
            "description": field.get("description", ""),
        }
        for name, field in fields.items()
    ]
    return {"name": report.name, "purpose": report.purpose, "parameters": parameters}


def _format_reports(reports: list[dict[str, Any]]) -> str:
    purposes = [(report["name"], report["purpose"]) for report in reports]
    parameters = []
    for report in reports:
        for parameter in report["parameters"]:
            values = f": {', '.join(parameter['values'])}" if parameter["values"] else ""
            description = parameter["description"] + values
            default = "" if parameter["default"] is None else parameter["default"]
            parameters.append((report["name"], parameter["name"], default, description))
    titles = ("report", "parameter", "default", "description")
    return f"{output.format_table(('report', 'purpose'), purposes)}\n\n{output.format_table(titles, parameters)}"


def _format_run(document: dict[str, Any]) -> str:
    from ledgerframes.report.pdf import PDF
    from ledgerframes.statistics import printing

    latest = document["latest"] if document["is_latest"] else f"{document['latest']} (still shows a newer window)"
    rules = [("rule", reason) for reason in document["broken_rules"]]
    status = "unchanged since the last run, and reused" if document["reused"] else "published"
    final = f"{printing.share(document['run']['coverage']['final'])} of the window"
    pairs = [("report", document["report"]), ("network", document["run"]["network"]), ("final", final), ("status", status)]
    printed = Path(document["page_path"]).with_name(PDF)
    pairs += [("page", document["page_path"]), *([("pdf", printed)] if printed.is_file() else []), ("latest", latest)]
    lines = output.format_pairs([*pairs, *rules]).split("\n")
    return "\n".join(output.color(line, "failed" if line.startswith("rule ") else "") for line in lines)


app = group("List, run and compare reports.", {"list": list_reports, "run": run, "status": status, "diff": diff})
