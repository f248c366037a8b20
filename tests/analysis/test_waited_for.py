"""Parties in slow requests, worked out by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from ledgerframes.analysis import verdict
from ledgerframes.errors import CoverageError, UsageError


def quorums(*pairs):
    return [([], [(threshold, list(parties)) for threshold, parties in pairs])]


@pytest.fixture
def example(build, event):
    """200 requests, 20 of them slow: 10 of 50 that need app, and 10 of 150 that do not name it."""
    with_app = [
        event(f"app-{number}", number / 100, seconds=9.0 if number < 10 else 1.0, views=quorums((1, ["app"])))
        for number in range(50)
    ]
    without = [
        event(f"bank-{number}", number / 100, seconds=9.0 if number < 10 else 1.0, views=quorums((1, ["bank", "eve"])))
        for number in range(150)
    ]
    return build([*with_app, *without])


def test_rates_of_a_party_and_of_the_requests_without_it(example):
    result = verdict.waited_for(example).set_index("party")
    app = result.loc["app"]
    assert (app["required"], app["slow"], app["named"], app["slow_rate"]) == (50, 10, 0, 0.2)
    assert [round(app[name], 3) for name in ("low", "high")] == [0.112, 0.330]
    assert [round(app[name], 4) for name in ("difference", "difference_low", "difference_high")] == [0.1333, 0.0316, 0.2671]
    assert app["median_latency"] == pd.Timedelta(seconds=1)
    p, n, rest = 0.1, 50, 150
    z = (0.2 - 10 / 150) / math.sqrt(p * (1 - p) * (1 / n + 1 / rest))
    w = z - (z * z - 1) * (1 - 2 * p) * math.sqrt(1 / (n * p * (1 - p))) * (1 - n / 200) ** 1.5 / 6
    assert app["p_holm"] == pytest.approx(math.erfc(abs(w) / math.sqrt(2)))  # the only party that is judged
    eve = result.loc["eve"]
    assert (eve["required"], eve["named"]) == (0, 150)
    assert pd.isna(eve["slow_rate"])
    assert pd.isna(eve["difference"])
    assert pd.isna(eve["p_holm"])
    assert (eve["reason"], app["differs"]) == ("no request needs it", True)
    assert pd.isna(app["reason"]) and pd.isna(eve["differs"])


@pytest.mark.parametrize(
    ("pairs", "required"),
    [
        ([(1, ["app"])], True),
        ([(2, ["app", "bank"])], True),
        ([(1, ["app", "bank"])], False),
        ([(2, ["app", "bank", "eve"])], False),
        ([(1, ["app", "bank"]), (3, ["app", "bank", "eve"])], True),
        ([(1, ["app", "app"])], True),  # one party, listed twice
    ],
)
def test_a_party_is_required_if_a_quorum_cannot_do_without_it(build, event, pairs, required):
    result = verdict.waited_for(build([event("a", views=quorums(*pairs))])).set_index("party")
    assert result.loc["app", ["required", "named"]].tolist() == [int(required), int(not required)]


def test_timeouts_are_slow_and_in_no_percentile(build, event):
    views = quorums((1, ["app"]))
    events = [event(str(number), number, seconds=1.0 + number, views=views) for number in range(10)]
    events += [event("late", 11, None, "REJECTED", seconds=30.0, views=views), event("odd", 12, None, "UNSPECIFIED", views=views)]
    (row,) = verdict.waited_for(build(events)).to_dict("records")
    assert (row["required"], row["slow"]) == (11, 2)  # 10 s is above value 9 of 10, and the timeout
    assert pd.isna(row["difference"])  # no request without the party


def test_evidence_comes_before_the_rates_of_few_requests(build, event):
    """60 of 209 come before 3 of 4, which chance can explain, and each row is judged or says why not."""
    slow = {"zoe": (3, 4), "app": (60, 209), "bank": (20, 900), "eve": (0, 4), "dan": (0, 4)}
    events = [
        event(f"{name}-{number}", number / 60, seconds=9.0 if number < hits else 1.0, views=quorums((1, [name])))
        for name, (hits, trials) in slow.items()
        for number in range(trials)
    ]
    result = verdict.waited_for(build(events))
    assert result["party"].tolist() == ["bank", "app", "dan", "eve", "zoe"]
    assert result["differs"].tolist() == [True, True, pd.NA, pd.NA, pd.NA]
    assert result["reason"].fillna("").tolist() == ["", "", *["too few requests"] * 3]
    assert (result["differs"].isna() == result["reason"].notna()).all()


def test_a_median_of_few_requests_has_a_mark(build, event):
    events = [event(str(number), number, seconds=1.0 + number, views=quorums((1, ["app"]))) for number in range(5)]
    (row,) = verdict.waited_for(build(events)).to_dict("records")
    assert pd.isna(row["median_latency"]) and pd.isna(row["few_requests_for"])
    assert row["reason"] == "every request names it"
    (row,) = verdict.waited_for(build(events), min_requests=5).to_dict("records")
    assert (row["median_latency"], row["few_requests_for"]) == (pd.Timedelta(seconds=3), "median_latency")


def test_without_quorums_there_are_no_parties(build, event):
    assert verdict.waited_for(build([event("a")])).empty


def test_committed_updates_are_refused(build, event):
    frames = build([event("a", views=quorums((1, ["app"])))], population="committed")
    with pytest.raises(CoverageError, match="Cannot compute requests that timed out because committed updates have no"):
        verdict.waited_for(frames)
    result = verdict.waited_for(frames, accept_survivorship=True)
    assert result["population"].tolist() == ["committed, accepted"]


NOON = pd.Timestamp("2026-11-08T12:00Z")
START = pd.Timestamp("2026-11-01T00:00Z")


def hosting(*rows):
    return pd.DataFrame(rows, columns=["party", "participant", "from", "until"])


def test_a_participant_is_required_if_it_alone_hosts_a_required_party(build, event):
    """In the morning only p1 hosts app, in the afternoon p2 as well. eve is in no request that needs her."""
    views = quorums((1, ["app"]), (1, ["bank", "eve"]))
    frames = build([event("morning", 1, views=views), event("afternoon", 13, views=views)])
    hosts = hosting(
        ("app", "PAR::p1", START, None),
        ("app", "p2", NOON, None),
        ("eve", "p3", START, None),
        ("bank", "p4", START, pd.Timestamp("2026-11-08T01:00Z")),  # exclusive
    )
    result = verdict.waited_for(frames, by="participant", hosting=hosts).set_index("participant")
    assert result[["required", "named"]].T.to_dict("list") == {"p1": [1, 1], "p2": [0, 1], "p3": [0, 2]}
    assert result["party"].isna().all()
    with pytest.raises(UsageError, match="hosting= must be a DataFrame with the columns party, participant, from, until"):
        verdict.waited_for(frames, by="participant")
    for wrong, text in (
        (("app", 2, START, None), "ids in participant, got 2"),
        (("app", "p", "soon", None), "times in from, got 'soon'"),
    ):
        with pytest.raises(UsageError, match=f"hosting= must have {text}"):
            verdict.waited_for(frames, by="participant", hosting=hosting(wrong))


def test_rates_of_participants_are_those_of_the_parties_that_they_host(example):
    hosts = hosting(("app", "p1", START, None), ("bank", "p2", START, None), ("eve", "p2", START, None))
    by_party, by_host = verdict.waited_for(example), verdict.waited_for(example, by="participant", hosting=hosts)
    columns = ["named", "required", "slow", "slow_rate", "low", "high", "difference", "difference_low", "median_latency"]
    first, second = by_party.set_index("party").loc["app", columns], by_host.set_index("participant").loc["p1", columns]
    assert first.to_list() == second.to_list()
    assert by_host.set_index("participant").loc["p2", ["named", "required"]].tolist() == [150, 0]


def test_no_request_is_slow_where_the_limit_is_doubtful(build, event):
    """More rejections at 25 s than from 29.9 s on: which requests timed out is unknown."""
    events = [event(f"{n}", n / 60, seconds=1.0, views=quorums((1, ["app" if n % 2 else "bank"]))) for n in range(40)]
    rejected = [event(f"r{n}", 2.0, None, "REJECTED", seconds=s, views=quorums((1, ["app"]))) for n, s in enumerate((25, 25, 30))]
    result = verdict.waited_for(build([*events, *rejected])).set_index("party")
    assert result["required"].to_dict() == {"app": 23, "bank": 20}
    figures = ["slow", "slow_rate", "low", "high", "difference", "difference_low", "difference_high", "p_holm", "differs"]
    assert result[figures].isna().all(axis=None)
    assert set(result["reason"]) == {"the limit of this network may not be 30 s"}
    clear = verdict.waited_for(build([*events, *rejected[1:]])).set_index("party")
    assert (clear.loc["app", "slow"], set(clear["reason"])) == (2, {"too few requests"})
