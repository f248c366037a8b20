"""Pages on paper, printed where Chromium is installed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ledgerframes.errors import UsageError
from ledgerframes.network import Network
from ledgerframes.report import run_report
from ledgerframes.report.pdf import CHROMIUM_NAMES, print_pdf

from .conftest import SINCE, UNTIL, Small


def test_without_chromium_nothing_is_loaded(net: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="pdf= requires Chromium on the PATH, as one of chromium"):
        run_report("verdicts", net=net, out=tmp_path / "out", since=SINCE, until=UNTIL, pdf=True)
    assert net.request_count == 0 and not (tmp_path / "out").exists()


def test_a_relative_page_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chromium = tmp_path / "chromium"
    chromium.write_text('#!/bin/sh\nfor each in "$@"; do case $each in --print-to-pdf=*) echo "$@" > "${each#*=}";; esac; done\n')
    chromium.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    pdf = print_pdf(Path("index.html"))
    assert pdf == tmp_path / "report.pdf"
    assert pdf.read_text().rstrip().endswith((tmp_path / "index.html").as_uri())


@pytest.mark.usefixtures("no_kernel")
@pytest.mark.loopback
@pytest.mark.skipif(not any(map(shutil.which, CHROMIUM_NAMES)), reason="Chromium is not installed.")
def test_a_page_is_printed_next_to_itself(net: Network, tmp_path: Path, small: Small) -> None:
    small("x = 1")
    plain = run_report("small", net=net, out=tmp_path, since=SINCE, until=UNTIL)
    printed = run_report("small", net=net, out=tmp_path, since=SINCE, until=UNTIL, pdf=True)
    assert not (plain.directory / "report.pdf").exists() and not printed.reused
    assert (printed.directory / "report.pdf").read_bytes().startswith(b"%PDF-")
    assert run_report("small", net=net, out=tmp_path, since=SINCE, until=UNTIL, pdf=True).reused
