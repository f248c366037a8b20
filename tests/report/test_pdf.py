"""Pages on paper, printed where Chromium is installed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ledgerframes.errors import UsageError
from ledgerframes.network import Network
from ledgerframes.report import run_report
from ledgerframes.report.pdf import CHROMIUM_NAMES

from .conftest import SINCE, UNTIL, Small


def test_without_chromium_nothing_is_loaded(net: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="pdf= requires Chromium on the PATH, as one of chromium"):
        run_report("verdicts", net=net, out=tmp_path / "out", since=SINCE, until=UNTIL, pdf=True)
    assert net.request_count == 0 and not (tmp_path / "out").exists()


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
