"""A served sandbox checks its token, so that authentication can be rehearsed."""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from completed import Completed
from servers import served

from ledgerframes.api.tokens import token_source
from ledgerframes.sandbox import Sandbox
from ledgerframes.settings import load_settings

Run = Callable[..., Completed]
Serve = Callable[..., tuple[Sandbox, str]]
TOKEN, WRONG = "a-token-of-my-own", "a-token-of-another"


@pytest.fixture
def serve(run: Run, servings: list[Any]) -> Serve:
    """Return a function that runs the command, and returns the sandbox that it would serve and what it wrote."""

    def run_sandbox(*options: object) -> tuple[Sandbox, str]:
        result = run("sandbox", "--port", "8765", "--events", "400", "--days", "1", *options)
        assert result.code == 0, result.err
        return servings.pop().box, result.out + result.err

    return run_sandbox


def profile(port: int, token: str) -> str:
    root = f"http://127.0.0.1:{port}/api"
    urls = f'history_url = "{root}/scan"\nledger_url = "{root}/ledger"\nwallet_url = "{root}/validator"\n'
    return f"[local]\n{urls}requests_per_second = 0\n{token}\n"


@pytest.mark.loopback
@pytest.mark.parametrize("option", ["--token", "--token-file"])
def test_a_wrong_token_is_401_and_doctor_says_so(
    serve: Serve, run: Run, tmp_path: Path, option: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    (tmp_path / "secret").write_text(f"{TOKEN}\n")
    box, shown = serve(option, TOKEN if option == "--token" else tmp_path / "secret")
    with served(box) as port:
        root = f"http://127.0.0.1:{port}/api"
        for headers in ({}, {"Authorization": f"Bearer {WRONG}"}, {"Authorization": TOKEN}, {"Authorization": f"Basic {TOKEN}"}):
            with httpx.Client(headers=headers, trust_env=False) as client:
                refused = client.get(f"{root}/ledger/v2/state/ledger-end")
                assert (refused.status_code, refused.json()["code"], refused.json()["errorCategory"]) == (401, "NA", -1)
                assert client.get(f"{root}/validator/v0/wallet/balance").status_code == 401
                assert client.post(f"{root}/scan/v0/events", json={"page_size": 1}).is_success
                assert client.get(f"{root}/scan/readyz").is_success
        (tmp_path / "ledgerframes.toml").write_text(profile(port, f'token = "{TOKEN}"'))
        good = run("--profile", "local", "doctor")
        (tmp_path / "ledgerframes.toml").write_text(profile(port, f'token = "{WRONG}"'))
        bad = run("--profile", "local", "doctor")
        (tmp_path / "ledgerframes.toml").write_text(profile(port, ""))
        none = run("--profile", "local", "doctor")
    assert good.code == 0, good.out + good.err
    assert "The token is accepted." in good.out
    assert bad.code == 4
    assert bad.out.count("returned 401") == 2
    assert "Check token=, token_file= or token_env= of the profile." in bad.out
    assert none.code != 0
    assert "401" in none.out
    for text in (shown, repr(box), good.out, good.err, bad.out, bad.err, none.out, none.err, caplog.text):
        assert TOKEN not in text
        assert WRONG not in text


def test_the_printed_profile_has_the_token_file(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(TOKEN)
    _, shown = serve("--token-file", "secret")
    section = [line.strip() for line in shown.splitlines() if line.startswith("    ") and ("=" in line or "[local]" in line)]
    assert tomllib.loads("\n".join(section))["local"]["token_file"] == str(tmp_path / "secret")
    (tmp_path / "ledgerframes.toml").write_text("\n".join(section))
    assert token_source(load_settings("local"))() == TOKEN


def test_the_printed_profile_names_a_variable_for_a_token(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, shown = serve("--token", TOKEN)
    section = [line.strip() for line in shown.splitlines() if line.startswith("    ") and ("=" in line or "[local]" in line)]
    (tmp_path / "ledgerframes.toml").write_text("\n".join(section))
    monkeypatch.setenv("SANDBOX_TOKEN", TOKEN)
    assert token_source(load_settings("local"))() == TOKEN


@pytest.mark.parametrize("bad", ["", "two words", "ü", "a\nb"])
def test_a_token_that_cannot_be_sent_is_refused_and_not_shown(run: Run, tmp_path: Path, bad: str) -> None:
    result = run("sandbox", "--port", "8765", "--token", f"x9{bad}" if bad else bad)
    assert result.code == 2
    assert "must be text of printable ASCII characters without spaces" in result.err
    assert "x9" not in result.out + result.err


def test_only_one_source_of_a_token(run: Run, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(TOKEN)
    both = run("sandbox", "--port", "8765", "--token", TOKEN, "--token-file", tmp_path / "secret")
    assert (both.code, "--token cannot be combined with --token-file" in both.err) == (2, True)
    assert TOKEN not in both.out + both.err
    absent = run("sandbox", "--port", "8765", "--token-file", tmp_path / "nowhere")
    assert (absent.code, "Cannot read" in absent.err) == (2, True)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\xff")
    assert "not a text file" in run("sandbox", "--port", "8765", "--token-file", tmp_path / "bytes").err


def test_the_version_of_the_ledger(serve: Serve, run: Run) -> None:
    box, _ = serve("--ledger-version", "3.7")
    assert box.ledger_version == "3.7.4"
    assert serve()[0].ledger_version == "3.5.14"
    result = run("sandbox", "--port", "8765", "--ledger-version", "2.0")
    assert (result.code, "3.6, 3.7" in result.err) == (2, True)


def test_a_token_of_the_sandbox_in_the_process() -> None:
    box = Sandbox(1, 400, 1, token=TOKEN)
    assert box.token == TOKEN
    client = httpx.Client(transport=httpx.WSGITransport(app=box.app), base_url=box.ledger_url)
    tokens = (TOKEN, WRONG, Sandbox(1, 400, 1).token, box.limited_token)
    statuses = [client.get("/v2/users", headers={"Authorization": f"Bearer {token}"}).status_code for token in tokens]
    assert statuses == [200, 401, 401, 200]
    assert TOKEN not in repr(box)
