"""Follow three values from the call of a user through the files to which they are passed, now or at an earlier commit.

`python tools/walks.py` follows them in this checkout, and `python tools/walks.py 9aa434d4` in an earlier commit of it. A stay is
a run of calls in one file that get the value itself as an argument: the walk ends where the value is parsed or becomes a part of
something else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from import_picture import ROOT, export

Stays = list[str]  # the file of each, in order


# -- in a process of each state -------------------------------------------------------------------------------------------


@contextmanager
def following(value: str, files: list[str]) -> Iterator[None]:
    """Note the file of each call of the package that gets this very text as an argument."""
    import ledgerframes as lf

    package = f"{Path(lf.__file__).parent}{os.sep}"  # a clone can have its name, too

    def note(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        is_inside = event == "call" and file.startswith(package)
        if is_inside and any(frame.f_locals.get(name) is value for name in arguments_of(frame)):
            files.append(file.removeprefix(package))

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


def arguments_of(frame: FrameType) -> tuple[str, ...]:
    """Return the names of the arguments of a call."""
    code = frame.f_code
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def new_text(text: str) -> str:
    """Return a text that no other one is."""
    return "".join([text[:1], text[1:]])


def walks(store: str) -> dict[str, Callable[[str], object]]:
    """Return the call of each walk, which gets the value."""
    import ledgerframes as lf

    net = lf.connect("sandbox", events=400, days=1, store=store)
    frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    receiver = lf.load_parties(net)["party"].iloc[0]

    def offer(tracking_id: str) -> object:
        terms = {"receiver": receiver, "amount": 1, "description": "thanks", "expires_in": timedelta(days=1)}
        return net.wallet.offer_transfer(**terms, tracking_id=tracking_id)

    return {
        "since=2026-11-08 of load_events": lambda since: lf.load_events(net, since=since, until="2026-11-09"),
        "by=participant of cost.spend": lambda by: lf.cost.spend(frames, by=by),
        "tracking_id=o-1 of offer_transfer": offer,
    }


def stays_of(name: str, call: Callable[[str], object]) -> Stays:
    """Return the stays of one walk, whose name has the value."""
    value, files = new_text(name.partition(" ")[0].partition("=")[2]), list[str]()
    with following(value, files):
        call(value)
    return [file for file, _ in groupby(files)]


def print_stays(store: str) -> None:
    """Print the stays of each walk as JSON."""
    print(json.dumps({name: stays_of(name, call) for name, call in walks(store).items()}))


# -- the walks ------------------------------------------------------------------------------------------------------------


def main(commit: str = "") -> None:
    """Print the walks in a commit, or in this checkout."""
    with TemporaryDirectory() as directory:
        if commit:
            export(commit, Path(directory))
        variables = {**os.environ, "PYTHONPATH": directory if commit else str(ROOT)}
        command = [sys.executable, "-W", "ignore", __file__, "--in", f"{directory}/store"]
        found = json.loads(subprocess.run(command, check=True, env=variables, stdout=subprocess.PIPE, text=True).stdout)
    for name, stays in found.items():
        print(f"{name}: {len(stays)} stays, {len(stays) - len(set(stays))} returns\n  {' > '.join(stays)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in"]:
        print_stays(sys.argv[2])
    else:
        main(*sys.argv[1:])
