"""One call shows a result: sentence, picture and table, with every text of the network escaped."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.text import Text

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import FIGURES
from ledgerframes.errors import UsageError
from ledgerframes.report.answers import STYLE, Answer
from ledgerframes.report.day_bars import DAY
from ledgerframes.report.page import sanitize
from ledgerframes.values.windows import Window

EVIL = '<img src=x onerror="alert(1)">\u202e\x1b[31m$x$'


@pytest.fixture(scope="module")
def day() -> lf.Frames:
    return lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")


@pytest.fixture(scope="module")
def spent(day: lf.Frames) -> pd.DataFrame:
    return lf.cost.spend(day, by="participant")


def test_an_answer_has_its_sentence_its_picture_and_its_table(spent: pd.DataFrame) -> None:
    answer = lf.show(spent)
    html = answer._repr_html_()
    participants = spent["submitting_participant_uid"].nunique()
    assert answer.statement.startswith(f"{participants} participants submitted requests.")
    assert [html.count(mark) for mark in ('class="statement"', "<svg ", "<table ", "<details ")] == [1, 1, 1, len(spent) > 15]
    assert answer.alt.startswith(answer.statement) and "Traffic cost by submitting participant" in answer.alt
    assert "<script" not in html and "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", html.replace("http://www.w3.org", ""))
    ET.fromstring(re.findall(r"<svg .*?</svg>", html, re.DOTALL)[0])


def test_the_colors_are_those_of_the_page(spent: pd.DataFrame) -> None:
    (svg,) = re.findall(r"<svg .*?</svg>", lf.show(spent)._repr_html_(), re.DOTALL)
    variables = set(re.findall(r"var\(--(\w+)\)", svg))
    assert {"text", "axis"} <= variables
    assert all(f"--{name}:" in STYLE for name in variables)
    assert not re.search(r"#(23272d|3c4148|8a8f98|dfe2e6|ffffff)\b", svg)


def test_text_fits_a_terminal_and_begins_with_the_answer(spent: pd.DataFrame) -> None:
    statement, table = repr(lf.show(spent, max_rows=3)).split("\n\n")
    lines = table.split("\n")
    assert "of the known cost." in statement
    assert max(map(len, lines)) <= 100
    assert re.split("  +", lines[0])[:2] == ["submitting participant uid", "total traffic cost (bytes)"]
    assert len(lines) == 5 and lines[-1].startswith(f"3 of {len(spent)} rows")


def test_rows_after_the_first_ones_open_without_a_script(spent: pd.DataFrame) -> None:
    html = lf.show(spent, max_rows=2)._repr_html_()
    assert html.count('<tr class="more">') == len(spent) - 2
    assert f"<summary>{len(spent) - 2} more rows</summary>" in html
    many = pd.concat([spent] * 9, ignore_index=True)
    assert "<summary>First 100 rows</summary>" in lf.show(many, max_rows=2)._repr_html_()
    assert ":has(.rest[open])" in STYLE and "@supports selector(:has(a))" in STYLE


def test_bars_are_of_the_first_number_on_one_scale(spent: pd.DataFrame) -> None:
    html = lf.show(spent)._repr_html_()
    widths = [float(width) for width in re.findall(r'class="cell-bar"><span style="margin-left:0.0%;width:([\d.]+)%', html)]
    costs = spent["total_traffic_cost"].dropna().astype("int64")
    assert widths == [round(100 * cost / costs.max(), 1) for cost in costs]


def test_bars_of_falls_end_where_those_of_rises_begin(day: lf.Frames) -> None:
    changes = lf.cost.compare(day, day)
    changes["change"] = pd.array([-100, 300, *[0] * (len(changes) - 2)], "Int64")
    bars = re.findall(
        r'"margin-left:([\d.]+)%;width:([\d.]+)%', lf.show(changes, columns=["change"], picture=False)._repr_html_()
    )
    assert bars[:3] == [("0.0", "25.0"), ("25.0", "75.0"), ("25.0", "0.0")]


def test_chosen_rows_and_columns_are_shown_as_they_are(spent: pd.DataFrame) -> None:
    answer = lf.show(spent.loc[spent["requests"] > 0, ["submitting_participant_uid", "requests", "rejected", "share"]])
    heads = re.findall(r"<th [^>]*>([^<]*)", answer._repr_html_())
    assert [head.strip() for head in heads] == ["submitting participant uid", "requests", "rejected", "share"]
    assert "<svg" not in answer._repr_html_(), "a picture needs all columns"


def test_no_rows_of_a_result_say_nothing(day: lf.Frames) -> None:
    nothing = lf.verdict.rejections(day).head(0)
    answer = lf.show(nothing)
    assert answer.statement == ""
    assert "No rows." in answer._repr_html_() and "No rows." in repr(answer)
    assert "<svg" not in answer._repr_html_()


def test_names_that_differ_come_first_and_days_stay_in_their_order(day: lf.Frames) -> None:
    result = lf.verdict.outcomes(day, by="participant").dropna(subset="submitting_participant_uid")
    result["differs"] = pd.array([number == 3 for number in range(len(result))], "boolean")
    result.loc[result.index[5], "differs"] = pd.NA
    names = result["submitting_participant_uid"].tolist()
    shown = lf.show(result, picture=False).table
    assert shown is not None
    assert shown.frame["submitting_participant_uid"].tolist() == [names[3], *names[:3], *names[4:]]
    hours = lf.verdict.outcomes(day, every="1h")
    shown = lf.show(hours, picture=False).table
    assert shown is not None and shown.frame["period_start"].tolist() == hours["period_start"].tolist()


def test_an_answer_says_how_much_of_its_window_is_final(day: lf.Frames) -> None:
    """Nobody bought traffic in the part that is there."""
    time = pd.Timestamp("2026-11-08", tz="UTC")
    segment = {"migration_id": 4, "since": time, "until": time + pd.Timedelta("6h"), "status": "final"}
    window = Window(time.to_pydatetime(), (time + pd.Timedelta("1D")).to_pydatetime())
    cut = testing.frames_of(window=window, coverage=[segment])
    answer = lf.show(lf.economy.purchases(cut), picture=False)
    assert answer.statement == "Nobody bought traffic in this window. Of the window, 25.0 % is final."
    assert "is final" not in lf.show(lf.cost.spend(day), picture=False).statement


def test_some_rows_do_not_speak_for_all(day: lf.Frames) -> None:
    by_hour = lf.cost.spend(day, every="1h")
    assert lf.show(by_hour, picture=False).statement.startswith("Of 24 periods, ")
    twice = pd.concat([by_hour.head(3), by_hour.tail(3)], ignore_index=True)
    for some in (by_hour.head(3), by_hour.tail(3).reset_index(drop=True), twice):
        number = len(some)
        assert lf.show(some, picture=False).statement == f"{number} of 24 rows of the result."


def test_periods_with_gaps_are_a_table_without_a_picture(day: lf.Frames) -> None:
    by_hour = lf.cost.spend(day, every="1h")
    answer = lf.show(by_hour.drop(index=[2, 3]))
    assert answer.statement == "22 of 24 rows of the result."
    assert answer.draw is None and "<table" in answer._repr_html_()
    assert lf.show(by_hour.tail(3)).draw is not None


def test_what_is_no_row_of_a_result_is_refused(day: lf.Frames) -> None:
    by_hour = lf.cost.spend(day, by="participant", every="1h")
    with pytest.raises(UsageError, match=r"index submitting_participant_uid\. Call reset_index\(\) first"):
        lf.show(by_hour.set_index("submitting_participant_uid"))
    sums = by_hour.groupby("submitting_participant_uid", as_index=False).sum(numeric_only=True)
    with pytest.raises(UsageError, match="sums of its column coverage"):
        lf.show(sums)


def test_times_are_shown_in_utc(day: lf.Frames) -> None:
    by_hour = lf.cost.spend(day, every="1h")
    columns = ["period_start", "period_end"]
    there = by_hour.assign(**{name: by_hour[name].dt.tz_convert("Europe/Zurich") for name in columns})
    assert repr(lf.show(there, picture=False)) == repr(lf.show(by_hour, picture=False))
    without = by_hour.assign(period_start=by_hour["period_start"].dt.tz_localize(None))
    for use in (lf.show, lf.plot):
        with pytest.raises(lf.errors.UsageError, match="times without a time zone in column 'period_start'"):
            use(without)


def test_rows_of_several_networks_name_them(day: lf.Frames) -> None:
    other = lf.load_events(lf.connect("sandbox", events=400, days=1, seed=2), since="2026-11-08", until="2026-11-09")
    both = lf.show(pd.concat([lf.cost.spend(day), lf.cost.spend(other)]))
    assert both.statement == "" and day.network in repr(both) and other.network in repr(both)


def test_text_of_the_network_stays_text(spent: pd.DataFrame) -> None:
    outcomes = spent.copy()
    outcomes["submitting_participant_uid"] = [EVIL, *outcomes["submitting_participant_uid"][1:]]
    answer = lf.show(outcomes)
    for html in (answer._repr_html_(), answer.table._repr_html_()):
        assert "<img" not in html and "onerror=" in html and "\u202e" not in html and "\x1b" not in html
    assert "\u202e" not in repr(answer) and "\x1b" not in repr(answer)
    assert "\x1b" not in answer.statement


def test_a_hostile_name_in_a_sentence_stays_text(day: lf.Frames) -> None:
    parties = lf.verdict.waited_for(day)
    names = [EVIL, *parties["party"].iloc[1:]]
    answer = lf.show(
        parties.assign(party=pd.Series(names, dtype="str"), differs=[True, *[False] * (len(names) - 1)], difference=0.5)
    )
    assert "onerror" in answer.statement and "\x1b" not in answer.statement
    assert "<img" not in answer._repr_html_()


@pytest.mark.parametrize("value", [pd.DataFrame({"a": [1]}), None, 7, "cost.spend"])
def test_what_is_no_result_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match=r"Pass the result of an analysis to lf.show, such as that of lf.cost.spend"):
        lf.show(value)  # type: ignore[arg-type]


def test_an_unknown_column_is_refused(spent: pd.DataFrame) -> None:
    with pytest.raises(UsageError, match="without column 'price'"):
        lf.show(spent, columns=["price"])


@pytest.mark.parametrize("name", [name for name, figure in FIGURES.items() if figure.main_columns])
def test_main_columns_are_columns_of_the_figure(name: str) -> None:
    figure = FIGURES[name]
    assert set(figure.main_columns) <= {column.name for column in figure.columns}


def test_files_have_the_name_of_the_analysis_and_its_groups(day: lf.Frames) -> None:
    results = {
        "cost_spend": lf.cost.spend(day),
        "cost_spend_over_time": lf.cost.spend(day, every="6h"),
        "cost_spend_by_template": lf.cost.spend(day, by="template"),
        "cost_spend_by_participant_over_time": lf.cost.spend(day, by="participant", every="6h"),
        "verdict_latency_by_size": lf.verdict.latency(day, by="size"),
    }
    assert [lf.show(result, picture=False).table.name for result in results.values()] == list(results)


def test_a_plot_is_shown_in_the_colors_of_the_page_and_only_once(day: lf.Frames) -> None:
    from matplotlib import pyplot

    pyplot.close("all")  # of tests before
    answer = lf.show(lf.plot(lf.verdict.outcomes(day, by="participant", every="1d")))
    html = answer._repr_html_()
    assert html.count("<svg ") == 1 and "<table" not in html and "var(--text)" in html
    assert html.count('<div class="picture" tabindex="0"') == 1, "a narrow page scrolls it by the keyboard, too"
    assert repr(answer) == answer.alt and answer.alt.startswith("Rejection rate")
    assert pyplot.get_fignums() == []


def test_pictures_are_not_shown_a_second_time(spent: pd.DataFrame) -> None:
    from matplotlib import pyplot

    pyplot.close("all")  # of tests before
    assert "<svg" in lf.show(spent)._repr_html_()
    assert pyplot.get_fignums() == []


def test_a_group_without_a_name_is_unknown_as_in_the_picture(day: lf.Frames) -> None:
    sizes = lf.verdict.latency(day, by="size")
    assert sizes["size"].isna().any(), "a request without a known cost"
    table = lf.show(sizes, picture=False).table
    assert table is not None
    assert ">unknown<" in table._repr_html_() and "\nunknown " in repr(table)


def test_every_table_has_a_caption_in_words(day: lf.Frames) -> None:
    assert [name for name, figure in FIGURES.items() if not figure.caption] == [], "declare caption="
    tables = [lf.show(result, picture=False).table for result in (lf.cost.spend(day, by="party"), lf.verdict.waited_for(day))]
    assert [table.caption for table in tables if table] == [
        "Traffic cost by party, highest first",
        "Slow requests among those that need a party",
    ]


def test_names_stand_for_the_ids_that_they_name(spent: pd.DataFrame) -> None:
    first, second, third = spent["submitting_participant_uid"].dropna().head(3)
    known = pd.DataFrame({"id": [first, second, third], "name": ["Bank", "Twin", "Twin"], "group": ["banks", "twins", "twins"]})
    labeled = lf.labels.apply(spent, known)
    text = repr(lf.show(labeled, picture=False))
    assert "Bank" in text and first not in text and "Twin" not in text, "two ids with one name keep their ids"
    figure = lf.plot(labeled).figure
    plt.close(figure)
    assert "Bank" in {each.get_text() for each in figure.findobj(Text)}


def parts_of(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of outputs of an answer on the page of a report."""
    parts: list[object] = []
    monkeypatch.setattr("IPython.display.display", parts.append)
    answer.display_parts()
    plt.close("all")
    return [type(part).__name__ for part in parts]


def test_a_page_does_not_draw_the_bars_of_a_table_again(day: lf.Frames, monkeypatch: pytest.MonkeyPatch) -> None:
    rankings = [
        lf.cost.spend(day, by="participant"),
        lf.cost.requests(day),
        lf.cost.overhead(day),
        lf.cost.wasted(day, by="participant", every=None),
        lf.verdict.quorums(day),
        lf.activity.weights(day, every=None),
    ]
    for result in rankings:
        answer = lf.show(result)
        assert answer.table is not None and answer.table.bars, "the bars are in the table"
        assert parts_of(answer, monkeypatch) == ["TextOutput", "TableOutput"], result.attrs["figure"]
        assert "<svg" in answer._repr_html_(), "a notebook has the picture, too"
    for result in (lf.cost.spend(day, every="1h"), lf.verdict.outcomes(day, by="participant")):
        assert parts_of(lf.show(result), monkeypatch) == ["TextOutput", "Figure", "TableOutput"]


def test_exceeded_limits_come_first(day: lf.Frames) -> None:
    kinds = lf.cost.spend(day, by="template").dropna(subset=["template_name", "median"])
    names = [f"{row.template_name}/{row.choice}" for row in kinds.itertuples() if isinstance(row.choice, str)]
    limits = {name: 1_000_000 if number % 2 else 1 for number, name in enumerate(names)}
    budget = lf.cost.budget(day, limits, statistic="max", network=day.network)
    assert {True, False} <= {*budget["is_within"].dropna()}
    shown = lf.show(budget, picture=False).table
    assert shown is not None
    order = [pd.isna(value) or bool(value) for value in shown.frame["is_within"]]
    assert order == sorted(order) and order[0] is False


def test_a_name_is_the_caption_of_some_rows_alone(spent: pd.DataFrame) -> None:
    whole, part = (lf.show(rows, name="cost_of_few", picture=False).table for rows in (spent, spent[spent["requests"] > 10]))
    assert whole is not None and part is not None
    assert (whole.name, whole.caption) == ("cost_of_few", "Traffic cost by participant, highest first")
    assert (part.name, part.caption) == ("cost_of_few", "Cost of few")


def bill_of(day: lf.Frames, **options: object) -> pd.DataFrame:
    price, rate = lf.TrafficPrice("50", "USD/MB"), lf.NetworkRate("0.161406", "USD/coin")
    return lf.cost.statement(day, by="participant", price=price, rate=rate, accept_price=True, min_coverage=0, **options)


def test_a_bill_ends_with_the_sums_of_its_lines(day: lf.Frames) -> None:
    bill = bill_of(day, every=None)
    answer = lf.show(bill, max_rows=3)
    size, amount, coin = (sum(bill[name].dropna()) for name in ("bytes", "currency", "coin"))
    sums = [f"{size:,}", f"{amount:,.2f}", f"{coin:,.2f}"]
    (foot,) = re.findall(r"<tfoot><tr>(.*?)</tr></tfoot>", answer._repr_html_())
    assert re.findall(r">([^<>]+)</t[hd]>", foot) == [f"All {len(bill)} rows", *sums]
    assert foot.count("<td") + foot.count("<th") == answer._repr_html_().count('<th scope="col"')
    assert sanitize(answer._repr_html_()).count("<tfoot>") == 1, "a page has them, too"
    assert f"{amount:,.2f} USD" in answer.statement, "the sentence has the same sum"
    assert f"3 of {len(bill)} rows. All rows: {sums[0]} bytes, {sums[1]} USD, {sums[2]} coin" in repr(answer)


def test_sums_stand_below_their_columns_beside_bars_of_days(day: lf.Frames) -> None:
    whole = day.between("2026-11-08", "2026-11-09")
    first = bill_of(whole, every="1d")
    second = first.assign(period_start=first["period_start"] + DAY, period_end=first["period_end"] + DAY)
    days = pd.concat([first, second], ignore_index=True)
    days.attrs = first.attrs
    html = lf.show(bill_of(whole, every=None), days=days)._repr_html_()
    (foot,) = re.findall(r"<tfoot><tr>(.*?)</tr></tfoot>", html)
    heads = re.findall(r'<th scope="col"[^>]*>([a-z ]+)', html)
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", foot)
    assert len(heads) == len(cells) and cells[heads.index("by day")] == ""
    assert cells[heads.index("bytes")] and cells[heads.index("currency ")]


def test_only_lines_of_one_unit_have_sums(day: lf.Frames, spent: pd.DataFrame) -> None:
    bill = bill_of(day, every=None)
    mixed = bill.assign(currency_code=pd.Categorical(["EUR", *["USD"] * (len(bill) - 1)]))
    for rows in (bill.head(1), mixed, bill[["submitting_participant_uid", "requests"]], bill[["bytes", "coin"]], spent):
        assert "<tfoot>" not in lf.show(rows, picture=False)._repr_html_()
