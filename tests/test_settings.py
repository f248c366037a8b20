from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

import ledgerframes as lf
from ledgerframes.api.tokens import token_source
from ledgerframes.errors import StoreError, UsageError
from ledgerframes.settings import GROUPS, PATHS, Settings, load_settings, setting_layers
from ledgerframes.settings.addresses import STORE_OPTIONS
from ledgerframes.store.location import OPTIONS

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
        ({"history_url": "https://host/api?key=secret"}, "without user, password, query and fragment, got 'https://host/api'"),
        ({"history_url": "https://host/api#secret"}, "without user, password, query and fragment, got 'https://host/api'"),
        ({"history_url": "https://host:99999"}, "history_url"),
        ({"vocabulary": 5}, "vocabulary= must be neutral, canton or a table with coin and lang, got 5"),
        ({"vocabulary": {"coins": "a"}}, r"Unknown setting 'vocabulary\.coins'\. Did you mean coin\? Choose from coin, lang\."),
        ({"vocabulary": "klingon"}, "vocabulary"),
        ({"network": "../elsewhere"}, "network"),
        ({"network": "nul"}, "network= must be a directory name on every system"),
        ({"network": "mainnet."}, "network= must be a directory name on every system"),
        ({"token": 5}, "token= must be text or a function that returns it"),
        ({"spill_dir": 5}, "spill_dir= must be a path"),
        ({"store": "a\0b"}, "store= must be a path without null characters"),
        ({"store": "s3:/bucket"}, "store= must be s3://bucket/prefix for an object store, with two slashes"),
        ({"store": "s3://bucket?secret=1"}, "store= must have no other options than "),
        ({"color": "red"}, r"Unknown setting 'color'\. Choose from "),
        ({"spill_folder": "spill"}, r"Unknown setting 'spill_folder'\. Did you mean spill_dir\? Choose from "),
        ({"limits": 3}, "limits"),
    ],
)
def test_bad_values_name_the_setting_but_not_the_value(overrides: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=named) as caught:
        load_settings(None, overrides)
    assert "secret" not in str(caught.value)


def test_a_bad_value_of_the_environment_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGERFRAMES_PAGE_SIZE", "many")
    with pytest.raises(UsageError, match=r"^LEDGERFRAMES_PAGE_SIZE: page_size= must be a valid integer"):
        load_settings()
    with pytest.raises(UsageError, match=r"^Profile sandbox: page_size= must be"):
        load_settings(None, {"page_size": "few"})


def test_unknown_profile_lists_the_known() -> None:
    with pytest.raises(UsageError, match=r"Unknown profile 'nowhere'. Choose from sandbox"):
        lf.connect("nowhere")


def test_a_byte_order_mark_is_no_part_of_a_file(own_settings: Path) -> None:
    (own_settings / "ledgerframes.toml").write_text('[local]\ntoken_file = "token"\n', encoding="utf-8-sig")
    (own_settings / "token").write_text("secret", encoding="utf-8-sig")
    assert token_source(load_settings("local"))() == "secret"


def test_broken_file_is_named(own_settings: Path) -> None:
    (own_settings / "ledgerframes.toml").write_text("[local\n")
    with pytest.raises(UsageError, match=r"Cannot read .*ledgerframes\.toml"):
        load_settings("local")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"page_size": 0}, "page_size= must be greater than or equal to 1."),
        ({"timeout": "soon"}, "timeout= must be a valid number."),
    ],
)
def test_an_invalid_setting_is_named_as_a_user_writes_it(setting: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        lf.connect(**setting)
    assert str(refused.value) == f"Profile sandbox: {message}"


def test_a_file_can_be_named_by_the_environment(own_settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own_settings / "ledgerframes.toml").write_text('[here]\nhistory_url = "https://here.invalid"\n')
    etc = own_settings / "etc"
    etc.mkdir()
    monkeypatch.setenv("LEDGERFRAMES_CONFIG", "etc/nightly.toml")
    with pytest.raises(lf.UsageError, match=r"etc/nightly.toml is not a file. Set the variable"):
        lf.connect("there")
    (etc / "nightly.toml").write_text('[there]\nhistory_url = "https://there.invalid"\n')
    assert lf.connect("there").settings.history_url == ("https://there.invalid",)
    with pytest.raises(lf.UsageError, match=r"sandbox, there, or add a section \[here\] to \S+/etc/nightly.toml or in"):
        lf.connect("here")


@pytest.mark.parametrize(
    ("written", "read"),
    [("data", "{file}/data"), ("/data", "/data"), ("~/data", "{home}/data"), ("s3://bucket/data", "s3://bucket/data")],
)
def test_paths_start_at_the_directory_of_their_file(
    written: str, read: str, own_settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LEDGERFRAMES_STORE")
    monkeypatch.setenv("LEDGERFRAMES_CONFIG", str(own_settings / "etc" / "ledgerframes.toml"))
    (own_settings / "etc").mkdir()
    (own_settings / "etc" / "ledgerframes.toml").write_text(
        f'[there]\nstore = "{written}"\nca_file = "ca.pem"\n[there.engine]\nspill_dir = "spill"\n'
    )
    settings = load_settings("there")
    assert str(settings.store) == read.format(file=own_settings / "etc", home=Path.home())
    assert (settings.ca_file, settings.engine.spill_dir) == (own_settings / "etc" / "ca.pem", own_settings / "etc" / "spill")


def test_the_paths_of_a_file_are_all_settings_that_are_paths() -> None:
    models = (Settings, *GROUPS.values())
    paths = {name for model in models for name, field in model.model_fields.items() if "Path" in repr(field.annotation)}
    assert {*PATHS} == paths


def test_stray_setting_is_named(own_settings: Path) -> None:
    (own_settings / "ledgerframes.toml").write_text('history_url = "http://x"\n')
    with pytest.raises(UsageError, match="must be in a section"):
        load_settings("local")


@pytest.mark.usefixtures("profile")
def test_sandbox_shape_is_for_the_sandbox_only() -> None:
    with pytest.raises(UsageError, match="embedded sandbox only"):
        lf.connect("local", seed=2)


def test_a_transport_needs_a_url() -> None:
    """Or the sandbox would answer, and the transport never be called."""
    with pytest.raises(UsageError, match="Pass history_url=, ledger_url= or wallet_url="):
        lf.connect(transport=httpx.MockTransport(lambda _: httpx.Response(500)))


@pytest.mark.parametrize("vocabulary", ["canton", {"coin": "gem", "lang": "pidgin"}, {"coin": "amulet", "lang": "lang"}])
def test_the_sandbox_has_any_vocabulary(vocabulary: str | dict[str, str], tmp_path: Path) -> None:
    net = lf.connect(vocabulary=vocabulary, events=400, days=1, store=tmp_path)
    assert net.settings.vocabulary.setting == vocabulary
    assert len(lf.load_price_votes(net)) > 0


def test_connecting_writes_nothing(own_settings: Path) -> None:
    net = lf.connect(events=400, days=1)
    repr(net)
    assert not (own_settings / "store").exists()


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: lf.connect(3), "profile= must be the name of a profile, got 3"),
        (lambda: lf.connect(snapshot=3), "snapshot= must be the path of a frozen catalog"),
        (lambda: lf.connect(snapshot="no-such-file"), "snapshot= must be the path of a frozen catalog"),
        (lambda: lf.connect(snapshot="x" * 300), "snapshot= must be the path of a frozen catalog"),
        (lambda: lf.connect(store="data\udce9"), "store= must be a path in UTF-8"),
        (lambda: lf.connect(store="~nobody-of-this-name/data"), "the home directory of an unknown user"),
        (lambda: lf.connect(faults=3), "faults= must be"),
        (lambda: lf.connect(page_size="many"), "page_size="),
        (lambda: lf.connect(history_url=3), "history_url= must be a URL or a list of URLs"),
        (lambda: lf.connect(offline="no"), "offline= must be True or False, got 'no'"),
        (lambda: lf.connect(network="mine", events=400, days=1), "network= cannot name the embedded sandbox"),
        (lambda: lf.connect(events=400, days=1).history.event(3), "update_id= must be text"),
        (lambda: lf.connect(events=400, days=1).history.events(3), "after= must be a Cursor"),
        (
            lambda: lf.connect(events=400, days=1).history.events(page_size="7"),
            "page_size= must be a whole number of at least 1, got",
        ),
        (lambda: lf.connect(events=400, days=1).history.bulk_checksums("key"), "object_keys= must be a list"),
        (lambda: lf.connect(events=400, days=1).history.bulk_updates(3, 4), "since="),
    ],
)
def test_a_wrong_type_says_what_to_pass(call: Callable[[], object], named: str) -> None:
    with pytest.raises(lf.UsageError, match=named):
        call()


def test_each_layer_is_read_once_and_in_order(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGERFRAMES_PAGE_SIZE", "300")
    layers = setting_layers("local", {"retries": 2})
    assert list(layers) == ["keyword", "environment", "ledgerframes.toml"]
    assert (layers["keyword"], layers["environment"]["page_size"]) == ({"retries": 2}, "300")
    assert layers["ledgerframes.toml"]["max_concurrency"] == 2


def test_paths_stay_the_same_in_another_directory(own_settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {name: f"keys/{name}" for name in ("token_file", "ca_file", "client_cert_file", "client_key_file")}
    net = lf.connect("sandbox", store="data", **files)
    (own_settings / "other").mkdir()
    monkeypatch.chdir(own_settings / "other")
    worker = pickle.loads(pickle.dumps(net))
    assert str(worker.store.location) == f"{own_settings}/data/{net.name}"
    assert {name: getattr(net.settings, name) for name in files} == {name: own_settings / path for name, path in files.items()}


@pytest.mark.parametrize(
    "options",
    [
        "aws_secret_access_key=HIDDEN&region=x",
        "Secret_Key=HIDDEN",
        "session_token=HIDDEN",
        "HIDDEN",
        "endpoint_override=a:HIDDEN@b",
    ],
)
def test_an_address_of_a_store_has_no_keys(options: str) -> None:
    with pytest.raises(
        UsageError, match=r"store= must have no other options than .*, region, .* AWS_SECRET_ACCESS_KEY"
    ) as refused:
        lf.connect(store=f"s3://bucket/prefix?{options}")
    assert "HIDDEN" not in str(refused.value)


def test_the_options_of_a_store_are_those_that_it_reads() -> None:
    assert OPTIONS.keys() == STORE_OPTIONS


@pytest.mark.parametrize("url", ["https://a..b/api", f"https://{'a' * 70}.example/api", "http://[:::::]/x", "http://[::1]x/"])
def test_a_host_that_can_have_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match=r"history_url= must be http\(s\) URLs"):
        lf.connect(history_url=url)


def test_files_that_cannot_be_looked_at_are_named(own_settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = f"/{'x' * 300}"  # like a directory that this user may not enter
    monkeypatch.setenv("XDG_CONFIG_HOME", closed)
    assert lf.connect(events=400, days=1).name
    net = lf.connect(history_url="https://history.example", token_file=closed, transport=httpx.MockTransport(lambda _: None))
    with pytest.raises(UsageError, match="Cannot read token_file /xxx"):
        token_source(net.settings)()
    monkeypatch.setenv("LEDGERFRAMES_CONFIG", closed)
    with pytest.raises(UsageError, match=r"LEDGERFRAMES_CONFIG: /xxx.* is not a file"):
        lf.connect(events=400, days=1)


@pytest.mark.parametrize(("content", "error"), [("", UsageError), ("a text " * 500, StoreError)])
def test_a_file_without_a_catalog_is_no_empty_snapshot(tmp_path: Path, content: str, error: type[Exception]) -> None:
    (tmp_path / "frozen.sqlite").write_text(content)
    step = "must be the path of a frozen catalog" if error is UsageError else "is not a database. Freeze the store again"
    with pytest.raises(error, match=step):
        lf.connect(events=400, days=1, snapshot=tmp_path / "frozen.sqlite")


@pytest.mark.usefixtures("profile")
def test_no_profile_is_read_where_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of a report reads no profile."""
    assert load_settings("local").limits.page_size == 250
    monkeypatch.setenv("LEDGERFRAMES_NO_PROFILES", "1")
    with pytest.raises(UsageError, match="Unknown profile 'local'"):
        load_settings("local")
