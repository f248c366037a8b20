"""The network's own words: the same world, told with them."""

from __future__ import annotations

import pytest

from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.sandbox import WORLD_VERSION

from .conftest import DAYS, EVENTS, client_of


@pytest.fixture(scope="module")
def canton() -> Sandbox:
    return Sandbox(1, EVENTS, DAYS, vocabulary="canton")


def test_only_the_words_differ(box: Sandbox, canton: Sandbox) -> None:
    for number in (0, 20, 40):
        for neutral, branded in zip(box.world.slice(number), canton.world.slice(number), strict=True):
            translated = branded.item().replace(b"Amulet", b"Coin").replace(b"amulet", b"coin")
            assert translated == neutral.item()


def test_no_neutral_word_is_left(canton: Sandbox) -> None:
    text = b"".join(event.item() for event in canton.world.slice(30))
    assert b"Splice.Amulet:Amulet" in text
    assert b"AmuletRules_Transfer" in text
    assert b"coin" not in text.lower()


def test_the_encodings_key_has_the_networks_name(canton: Sandbox) -> None:
    client, body = client_of(canton), {"page_size": 1}
    typed = client.post("/v2/updates", json={**body, "daml_value_encoding": "protobuf_json"})
    assert '"record":{"fields"' in typed.text
    ignored = client.post("/v2/updates", json={**body, "lang_value_encoding": "protobuf_json"})
    assert '"record":{"fields"' not in ignored.text


def test_the_name_tells_the_vocabulary() -> None:
    assert Sandbox(vocabulary="canton").name == f"sandbox-v{WORLD_VERSION}-seed1-events52000-days52-canton"
    own = Sandbox(vocabulary={"coin": "shell", "lang": "pidgin"})
    assert own.name.endswith("-shell-pidgin")
    assert any(b"Splice.Shell:Shell" in event.update for event in own.world.slice(3))


def test_an_unknown_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match="canton"):
        Sandbox(vocabulary="elvish")
