from __future__ import annotations

import base64
import functools
import json
import logging
import pickle
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

import ledgerframes as lf
from ledgerframes.api.tokens import token_expiry, token_source
from ledgerframes.errors import AuthenticationError, BadRequestError, UsageError
from ledgerframes.settings import load_settings
from ledgerframes.texts.hidden_tokens import hide_tokens

SECRET = "very-secret-token"
URL = "http://ledger.invalid"


def jwt(**claims: Any) -> str:
    parts = (json.dumps(part).encode() for part in ({"alg": "none"}, claims))
    return ".".join([*(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts), "c2ln"])


def network(seen: list[str | None], status: int = 200, text: str | None = None, **settings: Any) -> lf.Network:
    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("Authorization"))
        return httpx.Response(status, text=text) if text is not None else httpx.Response(status, json={"offset": 7})

    return lf.connect("sandbox", ledger_url=URL, transport=httpx.MockTransport(handler), requests_per_second=0, **settings)


def test_token_of_the_settings_is_sent() -> None:
    seen: list[str | None] = []
    network(seen, token=SECRET).ledger.ledger_end()
    network(seen, token=f" Bearer {SECRET}\n").ledger.ledger_end()
    network(seen).ledger.ledger_end()
    assert seen == [f"Bearer {SECRET}", f"Bearer {SECRET}", None]


def test_token_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    seen: list[str | None] = []
    path = tmp_path / "token"
    path.write_text("first\n")
    net = network(seen, token_file=path)
    net.ledger.ledger_end()
    path.write_text("second\n")
    net.ledger.ledger_end()
    assert seen == ["Bearer first", "Bearer second"]


def test_token_of_an_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []
    net = network(seen, token_env="SOME_TOKEN")
    with pytest.raises(UsageError, match="token_env: environment variable SOME_TOKEN is not set"):
        net.ledger.ledger_end()
    monkeypatch.setenv("SOME_TOKEN", SECRET)
    net.ledger.ledger_end()
    assert seen == [f"Bearer {SECRET}"]


def test_token_of_a_callable_is_asked_before_each_request() -> None:
    seen: list[str | None] = []
    tokens = iter(["one", "two"])
    net = network(seen, token=lambda: next(tokens))
    net.ledger.ledger_end()
    net.ledger.ledger_end()
    assert seen == ["Bearer one", "Bearer two"]


def failing() -> str:
    raise RuntimeError(SECRET)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"token": ""}, "token is empty"),
        ({"token": " \n"}, "token is empty"),
        ({"token": f"{SECRET}\nX-Other: 1"}, "token contains characters"),
        ({"token": f"{SECRET}é"}, "token contains characters"),
        ({"token": lambda: 7}, "result of the callable must be text, got int"),
        ({"token": lambda: None}, "result of the callable is not set"),
        ({"token": failing}, "callable failed with RuntimeError"),
        ({"token_file": "missing"}, r"Cannot read token_file .*missing: No such file"),
        ({"token_file": "."}, "Cannot read token_file"),
        ({"token_file": "empty"}, "token_file .*empty is empty"),
        ({"token_file": "binary"}, "not a text file"),
    ],
)
def test_a_token_that_cannot_be_sent_names_its_setting(settings: dict[str, Any], named: str, own_settings: Path) -> None:
    (own_settings / "empty").write_text("\n")
    (own_settings / "binary").write_bytes(b"\xff\xfe\x00")
    seen: list[str | None] = []
    with pytest.raises(UsageError, match=named) as caught:
        network(seen, **settings).ledger.ledger_end()
    assert seen == []
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None or SECRET not in str(caught.value.__cause__)


def test_a_token_takes_the_place_of_one_of_another_kind(own_settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own_settings / "ledgerframes.toml").write_text('[live]\ntoken_file = "somewhere"\n')
    monkeypatch.setenv("LEDGERFRAMES_TOKEN", "of-environment")
    assert token_source(load_settings("live"))() == "of-environment"
    monkeypatch.setenv("MINE", "of-keyword")
    assert token_source(load_settings("live", {"token_env": "MINE"}))() == "of-keyword"
    with pytest.raises(UsageError, match="token= cannot be combined with token_file="):
        load_settings("live", {"token": SECRET, "token_file": "somewhere"})


def test_tokens_are_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    token = jwt(sub="someone", exp=4_000_000_000)
    net = network([], 503, f"cannot take Bearer {token} now", token=token, retries=1)
    with caplog.at_level(logging.DEBUG), pytest.raises(lf.LedgerframesError) as caught:
        net.ledger.ledger_end()
    shown = [str(caught.value), repr(caught.value), str(vars(caught.value)), repr(net), repr(net.settings), str(net.settings)]
    assert not any(token in text for text in [*shown, caplog.text, repr(net.ledger.__dict__)])


def test_a_token_inside_a_callable_is_not_shown() -> None:
    net = network([], token=functools.partial(str, SECRET))
    assert SECRET not in repr(net.settings) + repr(net)


def test_what_looks_like_a_token_is_taken_out_of_texts() -> None:
    assert hide_tokens(f"Bearer {jwt(sub='a')}: no") == "Bearer [token]: no"
    with pytest.raises(BadRequestError) as caught:
        network([], 400, f"Invalid value for: header {jwt(sub='a')}").ledger.ledger_end()
    assert "eyJ" not in str(caught.value) + str(vars(caught.value))


@pytest.mark.parametrize(
    "call", [lambda net: net.history.events(), lambda net: net.ledger.ledger_end(), lambda net: net.wallet.offers()]
)
def test_no_api_shows_a_token_that_a_service_quotes(call: Callable[[lf.Network], object]) -> None:
    with pytest.raises(BadRequestError) as caught:
        call(network([], 400, f"cannot take {jwt(sub='a')}", token="other", history_url=URL, wallet_url=URL))
    assert "eyJ" not in str(caught.value) + str(vars(caught.value))


@pytest.mark.parametrize("text", [None, "", "abc", "a.b.c", "e30.e30.", jwt(), jwt(exp="soon"), jwt(exp=1e300), f"a.{'é'}.c"])
def test_a_token_that_says_no_expiry(text: str | None) -> None:
    assert token_expiry(text) is None


def test_an_expired_token_is_told_by_the_refusal() -> None:
    expired = jwt(sub="someone", exp=1_700_000_000)
    assert token_expiry(expired) == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    redacted = json.dumps(
        {"code": "NA", "cause": "A security-sensitive error has been received", "errorCategory": -1, "context": {}}
    )
    with pytest.raises(AuthenticationError, match=r"expired at 2023-11-14 22:13:20 UTC"):
        network([], 401, redacted, token=expired).ledger.ledger_end()
    with pytest.raises(AuthenticationError, match="No token was sent"):
        network([], 401, redacted).ledger.ledger_end()
    refusal = '{"error": "The supplied authentication is invalid"}'
    with pytest.raises(AuthenticationError, match=r"authentication is invalid\. The token expired at 2023-11-14 22:13:20 UTC"):
        network([], 401, refusal, token=expired, wallet_url=URL).wallet.balance()
    with pytest.raises(AuthenticationError, match="Check token="):
        network([], 401, refusal, token=jwt(exp=4_000_000_000), wallet_url=URL).wallet.balance()
    with pytest.raises(AuthenticationError, match="Check token=, token_file= or token_env= of the profile") as caught:
        network([], 401, redacted, token=jwt(exp=4_000_000_000)).ledger.ledger_end()
    assert "expired" not in str(caught.value)
    wallet = network([], 401, json.dumps({"error": "no"}), token=expired, wallet_url=URL).wallet
    with pytest.raises(AuthenticationError, match=r": no\. The token expired at 2023-11-14 22:13:20 UTC: get a new one\."):
        wallet.balance()


@pytest.mark.parametrize(
    ("url", "is_exposed"),
    [("http://far.invalid", True), ("https://far.invalid", False), ("http://127.0.0.1:1", False), ("http://localhost:1", False)],
)
def test_a_token_over_plain_http_is_warned_about(url: str, is_exposed: bool, recwarn: pytest.WarningsRecorder) -> None:
    warnings.simplefilter("always")
    with lf.connect("sandbox", ledger_url=url, token=SECRET) as net:
        assert net.ledger
    assert [str(each.message) for each in recwarn] == (
        ["The token is sent to far.invalid without encryption. Use an https:// URL."] if is_exposed else []
    )


@pytest.mark.parametrize(("mode", "is_exposed"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_token_file_that_others_can_read_is_warned_about(
    mode: int, is_exposed: bool, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    warnings.simplefilter("always")
    path = tmp_path / "token"
    path.write_text(SECRET)
    path.chmod(mode)
    with lf.connect("sandbox", ledger_url="https://far.invalid", token_file=path) as net:
        assert net.ledger
    assert len(recwarn) == is_exposed
    assert all("chmod 600" in str(each.message) and SECRET not in str(each.message) for each in recwarn)


def test_a_token_is_in_no_pickle_and_no_repr_of_settings() -> None:
    settings = load_settings("sandbox", {"token": SECRET, "page_size": 7})
    assert SECRET not in repr(settings) + str(settings)
    content = pickle.dumps(settings)
    assert SECRET.encode() not in content
    again = pickle.loads(content)
    assert (again.token, again.limits.page_size, again.limits) == (None, 7, settings.limits)
    assert settings.token is not None
