from __future__ import annotations

from pathlib import Path

import pytest

import ledgerframes as lf
from ledgerframes.errors import UsageError
from ledgerframes.settings import load_settings

PROFILE = """
[local]
history_url = ["http://one.invalid/api/scan/", "http://two.invalid"]
page_size = 250
token = "very-secret"
vocabulary = "canton"
limits = { max_concurrency = 2 }
"""


@pytest.fixture
def profile(own_settings: Path) -> Path:
    path = own_settings / "ledgerframes.toml"
    path.write_text(PROFILE)
    return path


def test_default_is_the_sandbox() -> None:
    assert load_settings().profile == "sandbox"


@pytest.mark.usefixtures("profile")
def test_profile_is_read_with_limits_beside_the_rest() -> None:
    settings = load_settings("local")
    assert settings.history_url == ("http://one.invalid/api/scan", "http://two.invalid")
    assert (settings.limits.page_size, settings.limits.max_concurrency) == (250, 2)
    assert settings.vocabulary.lang == "daml"
    assert settings.network == "local"


@pytest.mark.usefixtures("profile")
def test_precedence_is_keyword_environment_profile_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings("local").limits.page_size == 250
    monkeypatch.setenv("LEDGERFRAMES_PAGE_SIZE", "300")
    assert load_settings("local").limits.page_size == 300
    assert load_settings("local", {"page_size": 400}).limits.page_size == 400
    assert load_settings().limits.page_size == 300


@pytest.mark.usefixtures("profile")
def test_profile_can_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGERFRAMES_PROFILE", "local")
    assert load_settings().profile == "local"


@pytest.mark.usefixtures("profile")
def test_urls_by_environment_may_be_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGERFRAMES_HISTORY_URL", "http://a.invalid, http://b.invalid")
    assert load_settings("local").history_url == ("http://a.invalid", "http://b.invalid")


@pytest.mark.usefixtures("profile")
def test_token_is_never_shown() -> None:
    net = lf.connect("local")
    assert "very-secret" not in repr(net.settings) + str(net.settings) + repr(net) + net._repr_html_()


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({"page_size": 0}, "page_size"),
        ({"history_url": "ftp://x"}, "history_url"),
        ({"history_url": "https://user:secret@host"}, "history_url"),
        ({"vocabulary": "klingon"}, "vocabulary"),
        ({"network": "../elsewhere"}, "network"),
        ({"color": "red"}, "Unknown setting 'color'"),
        ({"limits": 3}, "limits"),
    ],
)
def test_bad_values_name_the_setting_but_not_the_value(overrides: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=named) as caught:
        load_settings(None, overrides)
    assert "secret" not in str(caught.value)


def test_unknown_profile_lists_the_known() -> None:
    with pytest.raises(UsageError, match=r"Unknown profile 'nowhere'. Choose from sandbox"):
        lf.connect("nowhere")


def test_broken_file_is_named(own_settings: Path) -> None:
    (own_settings / "ledgerframes.toml").write_text("[local\n")
    with pytest.raises(UsageError, match=r"Cannot read .*ledgerframes\.toml"):
        load_settings("local")


def test_stray_setting_is_named(own_settings: Path) -> None:
    (own_settings / "ledgerframes.toml").write_text('history_url = "http://x"\n')
    with pytest.raises(UsageError, match="must be in a section"):
        load_settings("local")


@pytest.mark.usefixtures("profile")
def test_sandbox_shape_is_for_the_sandbox_only() -> None:
    with pytest.raises(UsageError, match="for the sandbox only"):
        lf.connect("local", seed=2)


def test_connecting_writes_nothing(own_settings: Path) -> None:
    net = lf.connect(events=400, days=1)
    repr(net)
    assert not (own_settings / "store").exists()
