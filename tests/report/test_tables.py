"""What notebooks show, and what they leave in files."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes import decimals
from ledgerframes.errors import UsageError
from ledgerframes.report import show_table, show_text
from ledgerframes.report.tables import TABLES_VARIABLE

FRAME = pd.DataFrame(
    {
        "party": ["<b>bold</b>", "p" * 99],
        "requests": pd.array([1234567, 2**60 + 1], dtype="Int64"),
        "share": [0.25, float("nan")],
        "p50": pd.to_timedelta([1.5, 0.25], unit="s").astype("timedelta64[us]"),
        "period_start": pd.to_datetime(["2026-11-08T01:00Z", "2026-11-08T02:00Z"]),
        "is_outside": pd.array([True, None], dtype="boolean"),
    }
)


def test_numbers_read_well_and_text_is_escaped() -> None:
    html = show_table("t", FRAME)._repr_html_()
    assert "<b>" not in html and "&lt;b&gt;bold" in html
    for cell in ("1,234,567", "1,152,921,504,606,846,977", ">25.0<", ">1.50<", ">2026-11-08 01:00<", ">yes<", ">–<"):
        assert cell in html
    assert "…" in html and f'title="{"p" * 99}"' in html


def test_ends_of_an_interval_are_rounded_as_in_sentences() -> None:
    ends = pd.DataFrame({"rejection_rate": [0.12955], "low": [0.12172], "high": [0.13742], "timeout_high": [0.0004]})
    html = show_table("t", ends)._repr_html_()
    assert [cell in html for cell in (">13.0<", ">12.1<", ">13.8<", ">&lt; 0.1<")] == [True] * 4


@pytest.mark.parametrize(
    ("durations", "head", "cells"),
    [
        (["250ms", "1500ms", "10min"], "s", ["0.250", "1.50", "600"]),
        (["2min", "90s", "3h"], "min", ["2.00", "1.50", "180"]),
        (["0s", "5h", "36h"], "h", ["0", "5.00", "36.0"]),
        (["36h", "10D 6h", "-400D"], "days", ["1.50", "10.3", "−400"]),
    ],
)
def test_a_column_of_durations_has_the_unit_of_a_usual_one(durations: list[str], head: str, cells: list[str]) -> None:
    frame = pd.DataFrame({"wait": pd.to_timedelta([*durations, None]).astype("timedelta64[us]")})
    html = show_table("t", frame)._repr_html_()
    assert f"<small>{head}</small>" in html
    assert re.findall(r"<td[^>]*>([^<]*)</td>", html) == [*cells, "–"]
    assert "<small>s</small>" in show_table("t", frame.tail(1))._repr_html_()


def test_amounts_have_no_exponent_and_a_unit_is_not_repeated() -> None:
    amounts = pd.array(["0", "108", "0.17849"], dtype=pd.ArrowDtype(pa.decimal128(38, 10)))
    html = show_table("amounts", pd.DataFrame({"amount": amounts, "bytes": pd.array([1, 2, 3], "Int64")}))._repr_html_()
    assert re.findall(r"<td[^>]*>(\d+\.\d+)<", html) == ["0.00", "108.00", "0.18"]
    assert ">bytes</th>" in html


@pytest.mark.parametrize(
    ("amounts", "cells"),
    [
        (
            ["3513.0274000000", "-4.2500000000", "0.0012500000"],
            [' title="3,513.0274">3,513.03', ">−4.25", ' title="0.00125">0.0012'],
        ),
        (["0.5000000000", "-0.1784900000", "9.9999000000"], [">0.5000", ' title="−0.17849">−0.1785', ">9.9999"]),
        (["1200.0000000000", "0.0000000001"], [">1,200.00", ' title="0.0000000001">&lt; 0.0001']),
    ],
    ids=["large", "small", "tiny"],
)
def test_a_large_amount_has_two_decimals_and_a_title_with_all(amounts: list[str], cells: list[str]) -> None:
    frame = pd.DataFrame({"amount": pd.array([Decimal(amount) for amount in amounts], dtype=decimals.DTYPE)})
    html = show_table("amounts", frame)._repr_html_()
    assert re.findall(r'<td class="number"(.*?)</td>', html) == cells


def test_a_large_ratio_has_fewer_decimals() -> None:
    ratios = pd.DataFrame({"times_median": [103.538, 15.8749, 1.0849, 0.66667]})
    html = show_table("t", ratios)._repr_html_()
    assert re.findall(r'<td class="number">(.*?)</td>', html) == ["103.5", "15.87", "1.085", "0.667"]


@pytest.mark.parametrize(
    ("columns", "units"),
    [
        (["weight", "burn_bytes"], ["weighted bytes"]),
        (["weight_before", "weight_after", "difference"], ["weighted bytes"] * 3),
        (["median_after", "difference", "change"], ["bytes"] * 3),
    ],
)
def test_a_column_has_the_unit_of_its_result(columns: list[str], units: list[str]) -> None:
    """A weight is no number of bytes, and columns of two results can have one name and two units.

    A unit that the name says is not said again.
    """
    html = show_table("t", pd.DataFrame({name: pd.array([1200], "Int64") for name in columns}))._repr_html_()
    assert re.findall(r"<small>(.*?)</small>", html) == units


def test_ids_have_no_separators_and_no_number_but_0_shows_as_0() -> None:
    numbers = pd.DataFrame(
        {"round_number": pd.array([48488], "Int64"), "p_holm": [0.00002], "victims": [-1200.5], "expected": [0.0]}
    )
    html = show_table("t", numbers)._repr_html_()
    assert [cell in html for cell in (">48488<", ">&lt; 0.001<", ">−1,200.5<", ">0<")] == [True] * 4
    assert "1220abcdabcd…abcd" in show_table("t", pd.DataFrame({"update_id": ["1220" + "abcd" * 16]}))._repr_html_()


def test_nothing_is_written_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "2 rows" in show_table("t", FRAME)._repr_html_()
    assert list(tmp_path.iterdir()) == []


def test_files_hold_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TABLES_VARIABLE, str(tmp_path))
    assert "1 of 2 rows" in show_table("t", FRAME, max_rows=1)._repr_html_()
    table = pq.read_table(tmp_path / "t.parquet")
    assert table.schema.metadata is None
    assert table.column("requests").to_pylist() == [1234567, 2**60 + 1]
    csv = pd.read_csv(tmp_path / "t.csv")
    assert csv["p50_seconds"].tolist() == [1.5, 0.25]
    assert csv["requests"].tolist() == [1234567, 2**60 + 1]
    assert csv["period_start"].tolist() == ["2026-11-08T01:00:00.000000Z", "2026-11-08T02:00:00.000000Z"]


def test_a_file_has_amounts_without_exponent_and_no_formula(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TABLES_VARIABLE, str(tmp_path))
    amounts = pd.array([Decimal("0E-10"), Decimal("-1.5000000000")], dtype=decimals.DTYPE)
    show_table("t", pd.DataFrame({"party": ["=1+1", "-alice"], "amount": amounts}))
    lines = (tmp_path / "t.csv").read_text(encoding="utf-8").replace('"', "").splitlines()
    assert lines == ["party,amount", "'=1+1,0.0000000000", "'-alice,-1.5000000000"]


def test_other_rows_can_be_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TABLES_VARIABLE, str(tmp_path))
    shown = show_table("t", FRAME, display=FRAME.tail(1))
    assert "1,234,567" not in shown._repr_html_()
    assert len(pq.read_table(tmp_path / "t.parquet")) == 2


def test_a_sentence_in_the_last_column_is_whole_in_several_lines() -> None:
    sentence = (
        "Wednesday 2026-11-04 has the highest rejection rate of these weeks, and its rejections cost 919 kB in all of them."
    )
    lines = repr(show_table("findings", pd.DataFrame({"day": ["today", "then"], "sentence": [sentence, "Usual."]}))).split("\n")
    assert " ".join(" ".join(lines[1:3]).split()) == f"today {sentence}"
    assert lines[2].startswith(" " * len("today  ")) and lines[3] == "then   Usual."
    assert max(map(len, lines)) <= 100


def test_an_empty_table_says_so() -> None:
    assert "No rows." in show_table("t", FRAME.head(0))._repr_html_()


@pytest.mark.parametrize("name", ["../up", "", "A", "a b", "a/b"])
def test_a_name_that_is_no_file_name(name: str) -> None:
    with pytest.raises(UsageError):
        show_table(name, FRAME)


def test_texts_are_plain_text() -> None:
    shown = show_text("<i>50%</i>")
    assert shown._repr_html_().endswith('</style><p class="statement">&lt;i&gt;50%&lt;/i&gt;</p></div>')
    assert repr(shown) == "<i>50%</i>"


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> lf.Network:
    return lf.connect("sandbox", events=400, days=1, store=tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def frames(net: lf.Network) -> lf.Frames:
    return lf.load_events(net, since="2026-11-08")


def test_a_weight_is_headed_weighted_bytes(frames: lf.Frames) -> None:
    weights = lf.activity.weights(frames, by="party")
    assert "<small>weighted bytes</small>" in show_table("weights", weights)._repr_html_()


def test_no_fingerprint_is_cut_twice_and_a_memo_keeps_its_quantity() -> None:
    names = [f"{name}::1220{'ab' * 32}" for name in ("brightwater-exchange", "chiara-043-the-second", "dmitri-124")]
    memo = f"traffic 2026-11-02T00:00Z/2026-11-09T00:00Z, {names[0]}: 4276146 bytes"
    frame = pd.DataFrame({"parties": [", ".join(names[:2]), ", ".join(names), memo, f"{'x' * 99}{names[0]}"]})
    table = show_table("t", frame)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", re.sub(r"<wbr>|</?span[^>]*>", "", table._repr_html_()))
    two = "brightwater-exchange::1220ab…abab, chiara-043-the-second::1220ab…abab"
    long = "traffic 2026-11-02T00:00Z/2026-11-09T00:00Z, brightwater-exchange::1220ab…abab: 4276146 bytes"
    assert cells == [two, f"{two}, dmitri-124::1220ab…abab", long, f"{'x' * 21}…xbrightwater-exchange::1220ab…abab"]
    end = "xxxxxxxxxx…r-exchange::1220ab…abab"
    assert str(table).splitlines()[1:5] == [*cells[:3], end]
    narrow = str(show_table("n", frame.assign(number=1))).splitlines()  # whose last column is another one
    assert [line.removesuffix("1").strip() for line in narrow[1:5]] == [
        "brightwa…exchange::1220ab…abab + 1",
        "brightwa…exchange::1220ab…abab + 2",
        "traffic 2026-11-0…e: 4276146 bytes",
        end,
    ]


def test_amounts_have_their_unit_in_the_head(net: lf.Network, frames: lf.Frames) -> None:
    bill = lf.cost.statement(
        frames, by="participant", price=lf.TrafficPrice("50", "EUR/MB"), rate=lf.NetworkRate("0.16", "EUR/coin"), min_coverage=0
    )
    heads = re.findall(r"<th[^>]*>(.*?)</th>", show_table("t", bill)._repr_html_())
    units = {head.split(" <small>")[0]: head.split("<small>")[-1].removesuffix("</small>") for head in heads if "<small>" in head}
    assert [units.get(each) for each in ("currency", "currency exact", "rounding difference", "price", "rate")] == [
        "EUR",
        "EUR",
        "EUR",
        "EUR per MB",
        "EUR per coin",
    ]
    assert [units.get(each) for each in ("bytes", "coin", "market value", "requests")] == [None] * 4
    rounds = show_table("t", lf.votes.price(lf.load_price_votes(net)))
    assert "median <small>USD per coin</small>" in rounds._repr_html_()
    assert "byte price <small>coin per MB</small>" in rounds._repr_html_()


def test_a_difference_of_shares_is_in_points(frames: lf.Frames) -> None:
    html = show_table("t", lf.verdict.outcomes(frames, by="participant"))._repr_html_()
    assert "difference <small>points</small>" in html and "rejection rate <small>%</small>" in html


def test_a_sum_of_weights_has_no_decimals(frames: lf.Frames) -> None:
    result = lf.activity.concentration(frames)
    assert f">{int(result['total'].iloc[0]):,}<" in show_table("t", result)._repr_html_()


def test_two_tables_of_one_name_have_files_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TABLES_VARIABLE, str(tmp_path))
    morning, evening = (pd.DataFrame({"requests": [count, None]}) for count in (1, 2))
    tables = [show_table("spend", frame, caption="Cost") for frame in (morning, evening, morning)]
    assert [table.name for table in tables] == ["spend", "spend_2", "spend"]
    assert [table.caption for table in tables] == ["Cost", "Cost (2)", "Cost"]
    assert pd.read_parquet(tmp_path / "spend.parquet").equals(morning)
    assert pd.read_csv(tmp_path / "spend_2.csv").equals(evening)
    assert len(show_table("x" * 64, morning).name) == len(show_table("x" * 64, evening).name) == 64
