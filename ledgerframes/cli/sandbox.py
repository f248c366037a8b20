"""``ledgerframes sandbox`` serves a simulated network."""

from __future__ import annotations

import json
import socket
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from ledgerframes.cli import output
from ledgerframes.cli.options import CommandContext, option
from ledgerframes.errors import UsageError

if TYPE_CHECKING:
    from ledgerframes.sandbox import Faults, Sandbox
    from ledgerframes.settings import Settings

NEXT_STEPS = """

Add this profile to ledgerframes.toml:

    [local]
    network = "{name}-served"
    history_url = "{history_url}"
    ledger_url = "{ledger_url}"
    wallet_url = "{wallet_url}"
    {token_line}
    vocabulary = {vocabulary_toml}
    requests_per_second = 0  # no limit

Then run, in another shell:

    ledgerframes --profile local sync events --during {last_day}

Press Ctrl-C to stop."""
UNCHECKED = 'token = "sandbox-token"'  # of a profile; any is accepted
CHECKED = 'token_env = "SANDBOX_TOKEN"  # the variable with the text of --token'


def sandbox(
    context: CommandContext,
    port: Annotated[int, option("--port PORT", "Port to listen on.", min=1, max=65535)],
    host: Annotated[str, option("--host ADDRESS", "Address to listen on (default: 127.0.0.1).")] = "127.0.0.1",
    seed: Annotated[int | None, option("--seed N", "Seed of the simulated data (default: 1).", min=0)] = None,
    events: Annotated[int | None, option("--events N", "Number of history events (default: 52000).", min=1)] = None,
    days: Annotated[int | None, option("--days N", "Days of history (default: 52).", min=1)] = None,
    vocabulary: Annotated[
        str | None, option("--vocabulary NAME", "Vocabulary of the network, neutral or canton (default: neutral).")
    ] = None,
    fault: Annotated[
        list[str] | None,
        option("--fault NAME=VALUE", "Inject a fault with this probability, such as retry_after=0.1. Repeatable."),
    ] = None,
    speed: Annotated[
        float | None, option("--speed FACTOR", "Extend the history at this multiple of real time (default: do not).")
    ] = None,
    token: Annotated[
        str | None, option("--token TEXT", "Bearer token that the ledger and the wallet API require (default: none).")
    ] = None,
    token_file: Annotated[
        Path | None, option("--token-file FILE", "File with that token, which other users of this machine cannot see.")
    ] = None,
    ledger_version: Annotated[
        str | None, option("--ledger-version VERSION", "Version of the ledger API, 3.3 to 3.7 (default: 3.5.14).")
    ] = None,
) -> None:
    """Serve a simulated network on a local port.

    All three APIs respond as those of a live network until Ctrl-C. Use it to try a profile, a script or a report. With a
    token, the ledger and wallet APIs refuse a missing or wrong token with 401, so that you can rehearse authentication.

    Faults with a probability: too_many_requests, retry_after, unavailable_html, dropped_connections, truncated_bodies,
    html_instead_of_json, not_an_event, unknown_members, string_integers, old_service, not_ready, overload_409,
    dropped_after_write, wallet_429, wallet_429_succeeds, wallet_500_before, wallet_500_after, late_status, token_mismatch,
    pruning_overtakes, digest_of_nothing, no_ranges, dropped_download, truncated_object, corrupt_object, foreign_object,
    bomb_object. Faults with a number: latency_seconds, limit_requests, limit_seconds, seed.
    """
    from ledgerframes.sandbox import serve
    from ledgerframes.settings import SANDBOX, load_settings

    settings = load_settings(SANDBOX, {"seed": seed, "events": events, "days": days, "vocabulary": vocabulary})
    required = _read_token(token, token_file)
    box = _create_sandbox(settings, fault or [], speed=speed, token=required, ledger_version=ledger_version)
    _require_free_port(host, port)
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url, "wallet_url": box.wallet_url}
    document = {
        "name": box.name,
        **{name: f"http://{host}:{port}{urlsplit(url).path}" for name, url in urls.items()},
        "since": box.start,
        "until": box.now,
        "vocabulary": settings.vocabulary.setting,
        "ledger_version": box.ledger_version,
        "token_required": required is not None,
        "token_file": str(token_file.absolute()) if token_file else None,
    }
    context.print_summary(document, _format)
    serve(box, port, host)


def _read_token(token: str | None, token_file: Path | None) -> str | None:
    """Return the token of the options. Messages show only where it comes from."""
    if token is not None and token_file is not None:
        raise UsageError("--token cannot be combined with --token-file. Pass one of them.")
    if token_file is None:
        return token
    try:
        return token_file.read_text(encoding="utf-8-sig").strip()
    except UnicodeDecodeError:
        raise UsageError(f"Cannot read {token_file}: not a text file. Write only the token into it.") from None
    except OSError as error:
        raise UsageError(f"Cannot read {token_file}: {error.strerror or error}. Check --token-file.") from None


def _create_sandbox(settings: Settings, faults: list[str], *, speed: float | None, **options: str | None) -> Sandbox:
    from ledgerframes.sandbox import Sandbox

    arguments: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if speed is not None and speed <= 0:
        raise UsageError(f"--speed must be above 0, got {speed:g}. Use 1 for the speed of real time.")
    if speed is not None:
        arguments |= {"grows": True, "speed": speed}
    arguments |= {**settings.sandbox.model_dump(), "vocabulary": settings.vocabulary.setting, "faults": _parse_faults(faults)}
    try:
        return Sandbox(**arguments)
    except ValueError as error:
        raise UsageError(f"Cannot create the sandbox: {error} Run `ledgerframes sandbox --help` for the options.") from None


def _parse_faults(texts: list[str]) -> Faults | None:
    from ledgerframes.sandbox import Faults

    types = {field.name: int if field.name == "seed" else float for field in fields(Faults)}
    values: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.partition("=")
        name = name.replace("-", "_")
        if name not in types:
            raise UsageError(f"Unknown fault {name!r}. Choose from {', '.join(types)}.")
        try:
            values[name] = types[name](value)
        except ValueError:
            noun, example = ("an integer", 1) if types[name] is int else ("a number", 0.1)
            raise UsageError(f"--fault {name} must be {noun}, got {value!r}. Write it as '{name}={example}'.") from None
    try:
        return Faults(**values) if values else None
    except ValueError as error:
        raise UsageError(f"Invalid --fault: {error}") from None


def _require_free_port(host: str, port: int) -> None:
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise UsageError(
            f"Cannot listen on {host}:{port}: {error.strerror or error}. Choose another --port or --host."
        ) from error


def _format(document: dict[str, Any]) -> str:
    pairs = [
        ("sandbox", document["name"]),
        ("history API", document["history_url"]),
        ("ledger API", document["ledger_url"]),
        ("wallet API", document["wallet_url"]),
        ("record times", output.format_window(document["since"], document["until"])),
    ]
    # A date, because words such as yesterday follow this machine's clock.
    last_day = max((document["until"] - timedelta(days=1)).date(), document["since"].date())
    token_line = CHECKED if document["token_required"] else UNCHECKED
    if document["token_file"]:
        token_line = f"token_file = {_to_toml(document['token_file'])}"
    vocabulary = _to_toml(document["vocabulary"])
    steps = NEXT_STEPS.format(last_day=last_day, vocabulary_toml=vocabulary, token_line=token_line, **document)
    return output.format_pairs(pairs) + steps


def _to_toml(vocabulary: str | dict[str, str]) -> str:
    if isinstance(vocabulary, str):
        return json.dumps(vocabulary)
    pairs = ", ".join(f'{key} = "{word}"' for key, word in vocabulary.items())
    return f"{{ {pairs} }}"
