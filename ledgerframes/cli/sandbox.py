"""``ledgerframes sandbox``: a network on a port of this machine."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from ledgerframes.cli import output
from ledgerframes.cli.options import Call, command
from ledgerframes.errors import UsageError

if TYPE_CHECKING:
    from ledgerframes.sandbox import Faults, Sandbox


@command
def sandbox(
    call: Call,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")],
    host: Annotated[
        str, typer.Option(help="Address to listen on; the default is reachable from this machine only.")
    ] = "127.0.0.1",
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same bytes; 1 by default.")] = None,
    events: Annotated[int | None, typer.Option(min=1, help="Events of the whole world; 24000 by default.")] = None,
    days: Annotated[int | None, typer.Option(min=1, help="Whole days of history; 8 by default.")] = None,
    vocabulary: Annotated[str | None, typer.Option(metavar="WORD", help="neutral or canton.")] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Misbehave, each with a probability from 0 to 1: too_many_requests, retry_after, unavailable_html, "
            "dropped_connections, truncated_bodies, html_instead_of_json, not_an_event, unknown_members, string_integers, "
            "old_service, not_ready, overload_409, dropped_after_write, wallet_429, wallet_429_succeeds, wallet_500_before, "
            "wallet_500_after, late_status, token_mismatch, pruning_overtakes, digest_of_nothing, "
            "no_ranges, dropped_download, truncated_object, corrupt_object, foreign_object, bomb_object; or latency_seconds and "
            "seed as a number. May be given several times.",
        ),
    ] = None,
    speed: Annotated[
        float | None, typer.Option(metavar="FACTOR", help="Let the world grow, so many times as fast as the clock on the wall.")
    ] = None,
) -> None:
    """Serve a seeded network with all three APIs until Ctrl-C.

    It answers as a live network does, so that a profile, a script or a report can be tried without one.
    """
    from ledgerframes.sandbox import serve

    box = _box({"seed": seed, "events": events, "days": days, "vocabulary": vocabulary}, fault or [], speed)
    _require_free(host, port)
    addresses = {"history_url": box.history_url, "ledger_url": box.ledger_url, "wallet_url": box.wallet_url}
    document = {
        "name": box.name,
        **{name: f"http://{host}:{port}{urlsplit(url).path}" for name, url in addresses.items()},
        "since": box.start,
        "until": box.now,
        "vocabulary": vocabulary or "neutral",
    }
    call.tell(document, _text(document))
    serve(box, port, host)


def _box(shape: dict[str, Any], faults: list[str], speed: float | None) -> Sandbox:
    """The world asked for, as the settings check and complete it."""
    from ledgerframes.sandbox import Sandbox
    from ledgerframes.settings import SANDBOX, load_settings

    settings = load_settings(SANDBOX, shape)
    words = "canton" if settings.vocabulary.coin == "amulet" else "neutral"
    growth: dict[str, Any] = {} if speed is None else {"grows": True, "speed": speed}
    try:
        return Sandbox(**settings.sandbox.model_dump(), vocabulary=words, faults=_faults(faults), **growth)
    except ValueError as error:
        raise UsageError(f"The sandbox cannot be made: {error}.") from None


def _faults(given: list[str]) -> Faults | None:
    from dataclasses import fields

    from ledgerframes.sandbox import Faults

    kinds = {field.name: int if field.name == "seed" else float for field in fields(Faults)}
    values: dict[str, Any] = {}
    for each in given:
        name, _, value = each.replace("-", "_").partition("=")
        if name not in kinds:
            raise UsageError(f"There is no fault {name!r}. Faults: {', '.join(kinds)}.")
        try:
            values[name] = kinds[name](value or 1)
        except ValueError:
            raise UsageError(f"--fault {each}: {value!r} is not a number. Write it as {name}=0.1.") from None
    try:
        return Faults(**values) if values else None
    except ValueError as error:
        raise UsageError(f"--fault: {error}.") from None


def _require_free(host: str, port: int) -> None:
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        raise UsageError(f"{host}:{port} cannot be listened on ({error.strerror or error}). Choose another --port.") from error


def _text(document: dict[str, Any]) -> str:
    facts = [
        ("sandbox", document["name"]),
        ("history API", document["history_url"]),
        ("ledger API", document["ledger_url"]),
        ("wallet API", document["wallet_url"]),
        ("record times", f"{output.time(document['since'])} to {output.time(document['until'])} UTC"),
    ]
    profile = [
        "[local]",
        f'network = "{document["name"]}-served"',
        f'history_url = "{document["history_url"]}"',
        f'ledger_url = "{document["ledger_url"]}"',
        f'wallet_url = "{document["wallet_url"]}"',
        'token = "any text will do here"',
        f'vocabulary = "{document["vocabulary"]}"',
        "requests_per_second = 0  # it is yours; no need to be gentle",
    ]
    since = document["since"].date()
    command_line = f"ledgerframes --profile local sync events --during {since}"
    return (
        f"{output.facts(facts)}\n\nA profile for it, in ledgerframes.toml:\n\n"
        + "\n".join(f"    {line}" for line in profile)
        + f"\n\nand in another shell:\n\n    {command_line}\n\nCtrl-C stops it."
    )
