"""Text of a network is shown, never interpreted."""

from __future__ import annotations

import pytest

import ledgerframes as lf
from ledgerframes.errors import DecodeError, ServiceError
from ledgerframes.texts.control_characters import escape_control, escape_html

EVIL = "a\x1b[31mred\x07\u202eevil\u2066\x9b\x00\udce9"
SHOWN = "a\\x1b[31mred\\x07\\u202eevil\\u2066\\x9b\\x00\\udce9"


def test_escapes_show_what_was_sent() -> None:
    assert escape_control(EVIL) == SHOWN
    assert escape_control(SHOWN) == SHOWN
    assert escape_control("tab\tline\nüñí 会議 👍") == "tab\tline\nüñí 会議 👍"
    assert escape_html(f"<b>{EVIL}</b>") == f"&lt;b&gt;{SHOWN}&lt;/b&gt;"


@pytest.mark.parametrize("kind", [lf.errors.UsageError, lf.errors.StoreError, DecodeError, ServiceError])
def test_no_error_has_a_control_character(kind: type[Exception]) -> None:
    assert str(kind(f"It failed: {EVIL}.")) == f"It failed: {SHOWN}."
