"""Checks of the doctor, and their next steps."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask import request
from servers import served

import ledgerframes as lf
from ledgerframes import doctor
from ledgerframes.api.response import Response
from ledgerframes.api.versions import TRIED
from ledgerframes.doctor import services
from ledgerframes.doctor.configuration import SECRET
from ledgerframes.sandbox import Sandbox
from ledgerframes.settings import EngineSettings, Limits, SandboxShape, Settings, load_settings

Run = Callable[..., Any]


def checks(result: Any) -> dict[str, dict[str, str]]:
    """Return the checks of a run by their subject, without the host."""
    return {check["subject"].split()[-1]: check for check in result.document["checks"]}


def test_all_checks_of_the_embedded_network_pass(run: Run) -> None:
    result = run("doctor", "--json")
    assert result.code == 0
    assert {check["status"] for check in checks(result).values()} == {"ok"}
    assert run("doctor", "--quiet").out == "All checks passed.\n"
    assert "LEDGERFRAMES_STORE" in run("doctor").out


def test_each_extra_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"duckdb", "matplotlib", "flask", "distributed", "nh3", "jupyterlab"}
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None if module in missing else module)
    (check,) = (check for check in doctor.check_software() if check.subject == "extras")
    assert check.message == "Not installed: dask, lab, plot, report, sandbox."
    assert check.next_step == "Install them with: pip install 'ledgerframes[dask,lab,plot,report,sandbox]'."


def test_the_doctor_leaves_no_files(run: Run, tmp_path: Path) -> None:
    run("doctor")
    assert not list(tmp_path.iterdir())


# -- configuration ------------------------------------------------------------------------------------------------


def test_each_setting_has_its_origin(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ledgerframes.toml").write_text(
        '[live]\nhistory_url = "http://127.0.0.1:9/api"\ntoken = "geheim"\n'
        "page_size = 7\nretries = 1\n[live.limits]\nmax_concurrency = 2\n"
    )
    monkeypatch.setenv("LEDGERFRAMES_PAGE_SIZE", "8")
    result = run("doctor", "--profile", "live", "--offline", "--store", tmp_path / "here", "--json")
    rows = {row["name"]: (row["value"], row["origin"]) for row in result.document["settings"]}
    assert rows["profile"] == ("live", "command line")
    assert rows["store"] == (str(tmp_path / "here"), "command line")
    assert rows["page_size"] == ("8", "LEDGERFRAMES_PAGE_SIZE")
    assert rows["retries"] == ("1", "ledgerframes.toml, [live]")
    assert rows["max_concurrency"] == ("2", "ledgerframes.toml, [live]")
    assert rows["timeout"] == ("60.0", "default")
    assert rows["history_url"] == ("http://127.0.0.1:9/api", "ledgerframes.toml, [live]")
    assert rows["token"] == (SECRET, "ledgerframes.toml, [live]")
    assert "geheim" not in result.out + result.err


def test_a_profile_of_the_environment_has_that_origin(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ledgerframes.toml").write_text('[live]\nhistory_url = "http://127.0.0.1:9/api"\n')
    monkeypatch.setenv("LEDGERFRAMES_PROFILE", "live")
    result = run("doctor", "--offline", "--json")
    rows = {row["name"]: (row["value"], row["origin"]) for row in result.document["settings"]}
    assert rows["profile"] == ("live", "LEDGERFRAMES_PROFILE")


def test_a_profile_of_the_user_has_the_path_of_its_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerframes.settings.user_config_dir", lambda: tmp_path / "home")
    (tmp_path / "home").mkdir()
    users = tmp_path / "home" / "ledgerframes.toml"
    users.write_text('[live]\nhistory_url = "http://127.0.0.1:9/api"\nretries = 1\n')
    assert origin_of_retries(run) == f"{users}, [live]"
    (tmp_path / "ledgerframes.toml").write_text('[live]\nhistory_url = "http://127.0.0.1:9/api"\nretries = 2\n')
    assert origin_of_retries(run) == "ledgerframes.toml, [live]"


def origin_of_retries(run: Run) -> str:
    settings = run("doctor", "--profile", "live", "--offline", "--json").document["settings"]
    return next(str(row["origin"]) for row in settings if row["name"] == "retries")


def test_every_setting_is_shown() -> None:
    shown = {row.name for row in doctor.settings_in_use(load_settings(), {})}
    groups = (Limits, SandboxShape, EngineSettings)
    fields = {*Settings.model_fields, *(field for group in groups for field in group.model_fields)}
    assert shown == fields - {"limits", "sandbox", "engine"}


# -- store --------------------------------------------------------------------------------------------------------


def test_a_store_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("doctor", "--store", tmp_path / "file", "--json")
    assert result.code == 1
    assert checks(result)["writable"]["status"] == "failed"
    assert "LEDGERFRAMES_STORE" in checks(result)["writable"]["next_step"]


def test_a_store_of_a_newer_schema(run: Run, tmp_path: Path) -> None:
    network = run("store", "info", "--json").document["network"]
    directory = tmp_path / "store" / network
    directory.mkdir(parents=True)
    connection = sqlite3.connect(directory / "catalog.sqlite")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    result = run("doctor", "--json")
    assert (result.code, checks(result)["catalog"]["status"]) == (1, "failed")
    assert "Upgrade ledgerframes" in checks(result)["catalog"]["next_step"]


# -- services -----------------------------------------------------------------------------------------------------


@pytest.mark.loopback
def test_a_working_host(run: Run, host: Any) -> None:
    result = run("doctor", "--profile", "live", "--json")
    assert result.code == 0
    assert {name: check["status"] for name, check in checks(result).items() if check["kind"] == "service"} == {
        "ready": "ok",
        "alive": "ok",
        "version": "ok",
        "clock": "ok",
        "events": "ok",
        "completeness": "ok",
    }


UPGRADE = {"topologyFreezeTime": "x", "upgradeTime": "2026-12-01T00:00:00Z", "successorPhysicalSynchronizerId": "d::35-1"}


@pytest.mark.parametrize(
    ("complete", "upgrade", "status", "text"),
    [
        ({"complete": True}, {}, "ok", "has all of the history of the synchronizer."),
        ({"complete": True}, {"lsu": UPGRADE}, "ok", "which is upgraded at 2026-12-01T00:00:00Z."),
        ({"complete": True}, {"lsu": {**UPGRADE, "upgradeTime": "\x1b[2J"}}, "ok", "does not say whether"),
        ({"complete": False}, {}, "warning", "A part of the history is missing on this host."),
        ({}, {}, "ok", "does not say whether"),
        (None, {}, "ok", "does not say whether"),
    ],
)
def test_a_host_says_what_it_has(complete: Any, upgrade: Any, status: str, text: str) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        answer = complete if "backfilling" in request.url.path else upgrade
        return httpx.Response(404, json={"error": "unknown"}) if answer is None else httpx.Response(200, json=answer)

    net = lf.connect("sandbox", history_url="http://one.invalid", transport=httpx.MockTransport(handler), retries=0)
    found, message, *_ = services._completeness(net)
    assert (found, text in message) == (status, True)


@pytest.mark.parametrize(
    ("coin", "status", "text", "step"),
    [
        ("coin", "ok", "The network calls its coin 'coin'.", []),
        ("amulet", "failed", "The network calls its coin 'amulet', not 'coin'.", ['Set vocabulary = "canton".']),
        ("gem", "ok", "The host does not say which words the network uses.", []),
    ],
)
def test_a_wrong_word_for_the_coin_is_found(coin: str, status: str, text: str, step: list[str]) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        is_known = request.url.path.endswith(f"/v0/{coin}-price/votes")
        return httpx.Response(200, json={f"{coin}_price_votes": []}) if is_known else httpx.Response(404, json={"error": "no"})

    net = lf.connect("sandbox", history_url="http://one.invalid", transport=httpx.MockTransport(handler), retries=0)
    assert services._vocabulary(net) == (status, text, *step)


@pytest.mark.loopback
def test_the_doctor_fails_with_a_wrong_vocabulary(run: Run) -> None:
    with served(Sandbox(events=400, days=1, vocabulary="canton")) as port:
        profile = f'[local]\nhistory_url = "http://127.0.0.1:{port}/api/scan"\nrequests_per_second = 0\n'
        for vocabulary, code in (("canton", 0), ("neutral", 2)):
            Path("ledgerframes.toml").write_text(f'{profile}vocabulary = "{vocabulary}"\n')
            assert run("--profile", "local", "doctor").code == code


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("mode", "subject"), [("gateway", "ready"), ("html", "events"), ("half", "reachable"), ("no_event", "events")]
)
def test_a_failing_host(run: Run, host: Any, mode: str, subject: str) -> None:
    host.mode = mode
    result = run("doctor", "--profile", "live", "--json")
    assert result.code == result.document["exit_code"] == 4
    assert checks(result)[subject]["status"] == "failed"
    assert checks(result)[subject]["next_step"]
    assert "failed" in run("doctor", "--profile", "live", "--quiet").out


@pytest.mark.parametrize("profile", ['ledger_url = "{}"\ntoken_env = "NO_SUCH_TOKEN"', 'wallet_url = "{}/api/validator"'])
def test_a_token_that_is_not_set_is_a_mistake_of_the_profile(run: Run, profile: str) -> None:
    Path("ledgerframes.toml").write_text("[local]\n" + profile.format("http://127.0.0.1:9"))
    result = run("--profile", "local", "doctor", "--json")
    (failed,) = (check for check in result.document["checks"] if check["status"] == "failed")
    assert (result.code, failed["kind"]) == (2, "configuration") and failed["next_step"]


@pytest.mark.loopback
def test_each_of_several_hosts_is_checked(run: Run, host: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGERFRAMES_HISTORY_URL", f"{host.url} http://127.0.0.1:9/api")
    result = run("doctor", "--profile", "live", "--json")
    assert result.code == 4
    assert (checks(result)["events"]["status"], checks(result)["reachable"]["status"]) == ("ok", "failed")


def test_a_profile_without_a_host(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ledgerframes.toml").write_text("[live]\n")
    result = run("doctor", "--profile", "live", "--json")
    assert (result.code, checks(result)["history_url"]["status"]) == (2, "failed")


@pytest.mark.loopback
def test_a_participant_alone_needs_no_history(run: Run, served_apis: tuple[Sandbox, int]) -> None:
    box, port = served_apis
    section = f'[local]\nledger_url = "http://127.0.0.1:{port}/api/ledger"\ntoken = "{box.token}"\nrequests_per_second = 0\n'
    Path("ledgerframes.toml").write_text(section)
    result = run("--profile", "local", "doctor", "--quiet")
    assert (result.code, result.out) == (0, "All checks passed.\n")


def test_a_variable_that_is_nearly_a_setting_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGERFRAMES_PAGESIZE", "3")
    monkeypatch.setenv("LEDGERFRAMES_REPORT_PAGE", "index.html")
    result = run("doctor", "--quiet")
    text = "LEDGERFRAMES_PAGESIZE  No setting has this name. Did you mean LEDGERFRAMES_PAGE_SIZE?"
    assert (result.code, " ".join(result.out.split()), len(result.out.splitlines())) == (
        0,
        f"warning {' '.join(text.split())}",
        1,
    )


@pytest.mark.loopback
def test_a_warning_is_one_line_without_code(run: Run, tmp_path: Path, host: Any) -> None:
    token = tmp_path / "token"
    token.write_text("geheim")
    token.chmod(0o644)
    profile = (
        (tmp_path / "ledgerframes.toml")
        .read_text()
        .replace('token = "geheim"', f'token_file = "{token}"\nledger_url = "{host.url}"')
    )
    (tmp_path / "ledgerframes.toml").write_text(profile)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        lines = [line for line in run("--profile", "live", "sync", "updates").err.splitlines() if "chmod" in line]
    assert len(lines) == 1 and lines[0].startswith("ledgerframes: Other users of this machine can read token_file")


def test_certificates_that_cannot_be_read(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "no-such-file.pem")
    (tmp_path / "ledgerframes.toml").write_text('[live]\nhistory_url = "https://history.invalid"\n')
    result = run("doctor", "--profile", "live", "--json")
    assert (result.code, checks(result)["reachable"]["status"]) == (2, "failed")
    assert "SSL_CERT_FILE" in checks(result)["reachable"]["next_step"]
    assert checks(result)["writable"]["status"] == "ok"


def test_no_host_is_checked_offline(run: Run) -> None:
    result = run("doctor", "--offline", "--json")
    assert (result.code, checks(result)["history"]["status"]) == (0, "warning")


@pytest.mark.parametrize(("seconds", "status"), [(0, "ok"), (4, "ok"), (90, "warning"), (-90, "warning")])
def test_clocks(seconds: int, status: str) -> None:
    theirs = datetime(2026, 11, 20, 12, tzinfo=UTC)
    probe = Response(b"", "host", headers={"Date": format_datetime(theirs, usegmt=True)})
    result, message, *_ = services._clock(probe, theirs + timedelta(seconds=seconds))
    assert result == status
    if seconds:
        assert ("ahead" in message, "behind" in message) == (seconds == 90, seconds == -90)


@pytest.mark.parametrize("date", ["", "noon", "Fri, 99 Nov 2026 12:00:00 GMT"])
def test_a_host_without_a_time(date: str) -> None:
    assert "not available" in services._clock(Response(b"", "host", headers={"Date": date}), datetime.now(UTC))[1]


@pytest.mark.parametrize(
    ("version", "status"), [("0.7.4", "ok"), ("0.7.5", "ok"), ("0.5.5", "ok"), ("0.8.1", "warning"), ("1.0.0", "warning")]
)
def test_a_version_is_compared_with_those_that_were_tried(version: str, status: str) -> None:
    result, message, *step = services._compare("history", version, version)
    assert message == f"{version}. This release was tried with {', '.join(TRIED['history'])}."
    assert (result, bool(step)) == (status, status == "warning")


@pytest.mark.loopback
def test_ledger_and_wallet_are_checked_when_configured(served_apis: tuple[Sandbox, int], run: Run) -> None:
    box, port = served_apis
    section = f'[local]\nhistory_url = "http://127.0.0.1:{port}/api/scan"\nledger_url = "http://127.0.0.1:{port}/api/ledger"\n'
    section += f'wallet_url = "http://127.0.0.1:{port}/api/validator"\nrequests_per_second = 0\n'
    Path("ledgerframes.toml").write_text(section + f'token = "{box.token}"\n')
    good = run("--profile", "local", "doctor")
    assert good.code == 0, good.out
    assert f"offsets after 0 through {box.ledger.end():,}" in good.out
    assert "The token is accepted" in good.out
    assert f"3.5.14. This release was tried with {', '.join(TRIED['ledger'])}." in good.out
    assert box.token not in good.out + good.err
    Path("ledgerframes.toml").write_text(section + f'token = "{box.expired_token}"\n')
    bad = run("--profile", "local", "doctor")
    assert bad.code == 4
    assert "401" in bad.out
    assert box.expired_token not in bad.out + bad.err


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("api", "path"),
    [
        ("wallet", "/api/validatorr"),
        ("wallet", "/api/validator/v0/wallet"),
        ("wallet", ""),  # which is the history API, and has a version
        ("wallet", "/api/scan"),
        ("ledger", ""),
        ("ledger", "/api/ledger/v2"),
        ("ledger", "/api/validator"),
    ],
)
def test_a_wrong_path_of_an_api_is_called_a_wrong_base_url(
    api: str, path: str, served_apis: tuple[Sandbox, int], run: Run
) -> None:
    box, port = served_apis
    urls = f'history_url = "http://127.0.0.1:{port}/api/scan"\n{api}_url = "http://127.0.0.1:{port}{path}"\n'
    Path("ledgerframes.toml").write_text(f'[local]\n{urls}token = "{box.token}"\nrequests_per_second = 0\n')
    result = run("--profile", "local", "doctor", "--json")
    check = checks(result)[api]
    assert (result.code, check["status"]) == (4, "failed")
    assert f"http://127.0.0.1:{port}{path} is not the base URL of a {api} API" in check["message"]
    assert check["next_step"] == f"Set {api}_url= to the API's base, with its path."


@pytest.mark.loopback
def test_a_ledger_that_does_not_tell_its_version_is_checked(served_apis: tuple[Sandbox, int], run: Run) -> None:
    box, port = served_apis
    box.app.before_request(lambda: ("", 503) if request.path.endswith("/v2/version") else None)
    urls = f'ledger_url = "http://127.0.0.1:{port}/api/ledger"\nhistory_url = "http://127.0.0.1:{port}/api/scan"\n'
    Path("ledgerframes.toml").write_text(f'[local]\n{urls}requests_per_second = 0\ntoken = "{box.token}"\n')
    result = run("--profile", "local", "doctor")
    assert result.code == 0, result.out + result.err
    assert f"offsets after 0 through {box.ledger.end():,}" in result.out


@pytest.fixture
def served_apis() -> Iterator[tuple[Sandbox, int]]:
    """All three APIs on a loopback port, behind a token."""
    box = Sandbox(events=400, days=1, require_token=True)
    with served(box) as port:
        yield box, port


def test_catalog_and_journal_are_checked(run: Run, tmp_path: Path) -> None:
    assert run("sync", "price-votes", "--store", tmp_path).code == 0
    (directory,) = [path for path in tmp_path.iterdir() if (path / "catalog.sqlite").exists()]
    intact = checks(run("doctor", "--store", tmp_path, "--json"))
    assert (intact["catalog"]["status"], intact["catalog"]["message"]) == ("ok", "Intact. Segments: 1.")
    assert (intact["journal"]["status"], intact["journal"]["message"]) == ("ok", "No offers were made.")
    (directory / "offers.sqlite").write_bytes(b"no journal" * 999)
    result = run("doctor", "--store", tmp_path, "--json")
    assert (result.code, checks(result)["journal"]["status"]) == (1, "failed")
    assert "Restore the file from a backup" in str(checks(result)["journal"])
    verified = run("store", "verify", "--store", tmp_path, "--json")
    assert (verified.code, "journal of offers" in verified.document["message"]) == (1, True)


@pytest.mark.loopback
@pytest.mark.parametrize("path", ["/api/scann", "/api/scan/v0"])
def test_a_wrong_path_is_called_a_wrong_base_url(path: str, run: Run, host: Any, tmp_path: Path) -> None:
    url = host.url.removesuffix("/api/scan") + path
    (tmp_path / "ledgerframes.toml").write_text(f'[live]\nhistory_url = "{url}"\nretries = 0\nrequests_per_second = 0\n')
    result = run("doctor", "--profile", "live", "--json")
    assert result.code == 4
    assert checks(result)["events"]["status"] == "failed"
    assert "is not the base URL of a history API" in checks(result)["events"]["message"]
    assert checks(result)["events"]["next_step"] == "Set history_url= to the API's base, with its path."
    (tmp_path / "ids").write_text("1220aa\n")
    ranges = (["events", "--since", "2026-11-08"], ["bulk", "--since", "2026-11-08"], ["events", "--update-ids", "ids"])
    for command in (*ranges, ["price-votes"], ["name-rules"]):
        synced = run("--profile", "live", "sync", *command)
        assert synced.code == 2 and f"{url} is not the base URL of a history API" in synced.err, synced.err


@pytest.mark.loopback
@pytest.mark.parametrize("has_version", [True, False])
def test_a_service_that_lists_no_events_is_not_a_wrong_url(has_version: bool, run: Run, host: Any) -> None:
    missing = ("/v0/events",) if has_version else ("/v0/events", "/version", "/readyz", "/livez")
    host.box.app.before_request(lambda: ("no route", 404) if request.path.endswith(missing) else None)
    result = run("doctor", "--profile", "live", "--json")
    assert (result.code, checks(result)["events"]["status"]) == (0, "warning")
    assert "does not list events by range" in run("--profile", "live", "sync", "events", "--since", "2026-11-08").err


def test_the_address_of_a_store_is_shown_without_its_options() -> None:
    settings = load_settings(overrides={"store": "s3://bucket/prefix?region=eu-central-1"})
    values = {each.name: each.value for each in doctor.settings_in_use(settings, {})}
    assert values["store"] == "s3://bucket/prefix"
