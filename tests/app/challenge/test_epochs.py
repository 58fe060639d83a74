"""Weights of all epochs and forecasts: what single epochs give, and what then really happens."""

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from agon.app.analysis.score import Result, score
from agon.app.challenge.epochs import (
    MAX_WEIGHTS,
    Forecast,
    forecast,
    payload_of,
    span,
    weigh_epochs,
)
from agon.app.challenge.figures import KINDS, epochs_to_draw, picture
from agon.app.challenge.weight_setting import order_of
from agon.errors import NotFound, NotScorable, Unreadable
from disciplines.challenge.networks import RULES, Tables, networks, records_of, tables_of
from sizes import size

laws = settings(max_examples=size(15), deadline=None, suppress_health_check=list(HealthCheck))

FIVE = {
    "s1": (1, {(v, e): 0.8 for v in ("v1", "v2", "v3") for e in (0,)}),
    "s2": (2, {(v, e): 0.4 for v in ("v1", "v2", "v3") for e in (0, 3)}),
    "s3": (0, {(v, 3): 0.4 for v in ("v1", "v2", "v3")}),
}


def scored(tables: Tables, **overrides: Any) -> Result:
    """Score tables as the use case does."""
    return score("challenge", records_of(tables), overrides=overrides)


def scorable(tables: Tables, overrides: dict[str, Any]) -> Result:
    """Score drawn tables, or pass them over where there is no stake."""
    try:
        return scored(tables, **overrides)
    except NotScorable:
        assume(condition=False)
        raise


@laws
@given(networks(), RULES)
def test_the_rows_of_an_epoch_are_its_board(tables: Tables, rules: dict[str, Any]) -> None:
    """Many epochs in one walk give what each gives alone, weight, u16, burn and all."""
    rules = {**rules, "emission_total": 7200}
    weighed = weigh_epochs(scorable(tables, rules))
    rows = list(weighed.rows())
    for epoch in (weighed.epochs[0], weighed.epochs[len(weighed.epochs) // 2], weighed.epochs[-1]):
        mine = {row["uid"]: row for row in rows if row["epoch"] == epoch}
        try:
            board = scored(tables, **{**rules, "epoch": epoch}).board("weights")
        except NotScorable:
            assert {uid: row["weight"] for uid, row in mine.items()} == {0: 1.0}
            continue
        expected = {int(row["id"]): row for row in board.rows() if row["id"] == "0" or row["score"]}
        assert set(mine) == set(expected)
        for uid, row in mine.items():
            for column in ("weight", "u16", "amount"):
                assert row[column] == expected[uid][column]
            assert row["burn"] == expected[0]["weight"]


def test_every_epoch_is_there_and_in_order() -> None:
    """Epochs without records stand between those with, by epoch, then uid."""
    weighed = weigh_epochs(scored(tables_of(FIVE)))
    assert [(row["epoch"], row["uid"]) for row in weighed.rows()] == [
        (epoch, uid) for epoch in range(4) for uid in (0, 1, 2)
    ]
    assert weighed.table.column_names == ["epoch", "uid", "weight", "u16", "burn"]
    assert [row["epoch"] for row in weighed.rows(since=3)] == [3, 3, 3]
    first = next(weighed.rows())
    assert first == {"epoch": 0, "uid": 0, "weight": 0.0, "u16": 0, "burn": 0.0}


def test_what_uid_0_earned_burns() -> None:
    """A quarter of the scores is its own in epoch 3: .8, .4 and .4."""
    rows = [row for row in weigh_epochs(scored(tables_of(FIVE))).rows() if row["epoch"] == 3]
    assert {row["uid"]: row["weight"] for row in rows} == pytest.approx({0: 0.25, 1: 0.375,
                                                                         2: 0.375})  # fmt: skip
    assert {row["burn"] for row in rows} == {0.25}


def test_all_epochs_end_at_the_scored_one() -> None:
    """``epoch`` says how far, also beyond the records; before them there is one epoch."""
    assert span(scored(tables_of(FIVE), epoch=2)) == range(3)
    assert span(scored(tables_of(FIVE), epoch=6)) == range(7)
    timeless = tables_of({"s1": (1, [0.5, 0.5, 0.5])})
    for row in timeless["evaluations"]:
        row["epoch"] = 7
    assert span(scored(timeless)) == range(7, 8)
    assert span(scored(timeless, epoch=4)) == range(4, 5)


def test_the_hashes_prove_what_it_rests_on() -> None:
    """The same weights have the same hash; other rules or epochs have another."""
    one, same = weigh_epochs(scored(tables_of(FIVE))), weigh_epochs(scored(tables_of(FIVE)))
    assert one.to_dict() == same.to_dict()
    assert one.to_dict()["board_sha256"] != weigh_epochs(scored(tables_of(FIVE), epoch=2)).sha256
    told = one.to_dict()
    assert {"rules_sha256", "records_sha256", "edition", "as_of"} <= set(told)
    assert told["epochs"] == {"first": 0, "last": 3}
    assert told["rows"] == one.table.to_pylist()


def test_epochs_without_number_are_refused_not_computed() -> None:
    """An epoch that is a time in milliseconds must not take all memory."""
    tables = tables_of(FIVE)
    tables["evaluations"][-1]["epoch"] = 1_767_225_600_000
    result = scored(tables)
    with pytest.raises(Unreadable, match="1,767,225,600,001 epochs"):
        weigh_epochs(result)
    assert len(span(result)) > MAX_WEIGHTS
    for kind in KINDS:
        assert picture(result, kind).panels


@laws
@given(networks(), RULES, st.integers(1, 60))
def test_the_forecast_is_what_happens_if_nothing_happens(
    tables: Tables, rules: dict[str, Any], ahead: int
) -> None:
    """Scored at a later epoch without new records, a network is where it was foretold to be."""
    last = max(row["epoch"] or 0 for row in tables["evaluations"] + tables["validators"])
    rules = {**rules, "epoch": last, "evaluation_window": None}
    for row in tables.get("competitions", ()):
        row.pop("evaluation_window", None)
    made = forecast(scorable(tables, rules), ahead=ahead)
    later = scored(tables, **{**rules, "epoch": last + ahead})
    boards = {row["id"]: row for row in later.board("competitions").rows()}
    assert {one.competition for one in made.decays if one.begins_in is not None} <= set(boards)
    for one in made.decays:
        if one.competition in boards:
            assert one.burning[-1] == boards[one.competition]["burn_percent"]
            assert one.stale[-1] == boards[one.competition]["stale"]
    burned = next(row for row in later.board("weights").rows() if row["id"] == "0")
    assert made.burn[-1] == burned["weight"]


@laws
@given(networks(), RULES)
def test_decay_begins_and_ends_where_it_is_said_to(tables: Tables, rules: dict[str, Any]) -> None:
    """The first epoch above 0 and the first at the maximum, counted one by one."""
    made = forecast(scorable(tables, rules), ahead=80)
    for one in made.decays:
        pairs = list(zip(one.epochs, one.burning, strict=True))
        if one.begins_in is None:
            assert not any(one.burning)
            continue
        assert all((percent > 0) == (epoch >= one.begins_in) for epoch, percent in pairs)
        reached = [epoch for epoch, percent in pairs if percent == one.rules.max_burn]
        if one.rules.max_burn == 100 and one.rules.decay_curve == "exponential":
            continue  # it comes within a millionth, which is published as 100, and much later
        full = None if one.full_in is None else max(one.full_in, one.epochs[0])
        assert reached[:1] == [epoch for epoch in one.epochs if epoch == full]


def small(**competition: Any) -> Forecast:
    """Foretell one competition whose only improvement was in epoch 0."""
    tables = tables_of({"s1": (1, [0.5, 0.5, 0.5])})
    return forecast(scored(tables, **competition))


def test_the_page_numbers_are_foretold() -> None:
    """Linear: 40 % after 8 stale epochs, 80 % after 16; exponential: 9.75 % after 2, 80 % at 32."""
    (one,) = small().decays
    assert (one.begins_in, one.full_in, one.stale[0]) == (11, 26, 0)
    assert (one.burning[18], one.burning[26], one.burning[10]) == (40.0, 80.0, 0.0)
    assert one.curves["exponential"][12] == 9.75
    assert one.improves_at == 0.51
    (other,) = small(decay_curve="exponential").decays
    assert (other.begins_in, other.full_in) == (11, 42)
    assert other.curves["linear"][:30] == one.curves["linear"]


def test_one_looks_ahead_a_little_beyond_the_maximum_unless_told_how_far() -> None:
    """26 + 3 here; at least 10, at most 100, where nothing ends or it takes forever."""
    assert small().epochs == range(30)
    assert small(decay_rate=0).epochs == range(11)
    assert small(decay_rate=0.001).epochs == range(101)


@pytest.mark.parametrize("rules", [{"decay_rate": 0}, {"max_burn": 0}])
def test_what_cannot_burn_never_begins(rules: dict[str, Any]) -> None:
    """No epoch is named for what does not happen."""
    (one,) = small(**rules).decays
    assert (one.begins_in, one.full_in, set(one.burning)) == (None, None, {0.0})


def test_a_competition_without_scores_burns_whole_and_does_not_decay() -> None:
    """Its share burns for want of miners; decay waits for the first score."""
    tables = tables_of({"s1": (1, [0.5])})
    made = forecast(scored(tables), ahead=20)
    told = made.to_dict()["competitions"][0]
    assert (told["top"], told["last_improvement"], told["burn_percent"]) == (None, None, 0.0)
    assert set(made.burn) == {1.0}
    with pytest.raises(NotScorable, match="nothing decays"):
        picture(made.result, "forecast")


def several(count: int) -> Tables:
    """Make competitions c1, c2, … of falling shares, each with one miner."""
    return tables_of(
        {f"s{at}": (at, [0.5, 0.5, 0.5]) for at in range(1, count + 1)},
        competitions=[
            {"id": f"c{at}", "emission_share": (2 * count - at) / (3 * count**2)}
            for at in range(1, count + 1)
        ],
        competition={f"s{at}": f"c{at}" for at in range(1, count + 1)},
    )


def test_one_competition_can_be_asked_for() -> None:
    """A misspelt one is refused with the closest there is; the network's burn stays the whole."""
    result = scored(several(3))
    alone = forecast(result, competition="c2")
    assert [one.competition for one in alone.decays] == ["c2"]
    assert alone.burn == forecast(result).burn[: len(alone.burn)]
    with pytest.raises(NotFound, match=r"did you mean c1\?"):
        forecast(result, competition="c_1")


def test_the_table_of_a_forecast_holds_every_competition_and_epoch() -> None:
    """Both curves stand beside the one in force."""
    rows = forecast(scored(several(2)), ahead=12).table().to_pylist()
    assert [(row["competition"], row["epoch"]) for row in rows] == [
        (name, epoch) for name in ("c1", "c2") for epoch in range(13)
    ]
    assert rows[12]["burn_percent"] == rows[12]["linear"] == 10.0
    assert rows[12]["exponential"] == 9.75


def test_other_disciplines_have_no_epochs() -> None:
    """A bug of the caller is told at once."""
    from agon.app.analysis.simulate import simulate
    from agon.disciplines import discipline
    from agon.records import read_rows

    records = read_rows(discipline("arena").schema, simulate("arena", size=40).tables)
    with pytest.raises(TypeError, match="arena has no epochs"):
        span(score("arena", records))


def test_a_picture_shows_the_weights_there_are() -> None:
    """Six uids, the others and the burn stack up to 100 in every epoch."""
    tables = tables_of({f"s{at}": (at, [at / 10] * 3) for at in range(1, 10)})
    result = scored(tables)
    (panel,) = picture(result, "weights").panels
    assert [one.name for one in panel.series] == [
        "20.0 % uid 9", "17.8 % uid 8", "15.6 % uid 7", "13.3 % uid 6", "11.1 % uid 5",
        "8.9 % uid 4", "13.3 % all 3 others", "0.0 % burned (uid 0)",
    ]  # fmt: skip
    for values in zip(*(one.values for one in panel.series), strict=True):
        assert sum(values) == pytest.approx(100)


def test_a_picture_says_in_words_what_it_shows() -> None:
    """And what it leaves out."""
    assert (
        "In epoch 3: 37.5 % uid 1, 37.5 % uid 2, 25.0 % burned (uid 0)."
        in picture(scored(tables_of(FIVE)), "weights").description
    )
    many = scored(several(8))
    for kind in ("burn", "forecast"):
        assert "2 smaller competitions are not drawn." in picture(many, kind).description
    assert "c1 burns 0.0 % in epoch 0 and reaches its maximum of 80 % in epoch 26 (linear)." in (
        picture(many, "forecast").description
    )
    assert len(picture(many, "forecast").panels) == 6
    never = scored(tables_of({"s1": (1, [0.5] * 3)}), decay_curve="exponential", max_burn=100,
                   decay_rate=0.0000001)  # fmt: skip
    assert "80 %" not in picture(never, "forecast").description
    with pytest.raises(ValueError, match=r"did you mean burn\?"):
        picture(many, "burns")


def test_a_long_season_is_drawn_with_both_its_ends() -> None:
    """As many epochs as a screen has room for."""
    chosen = epochs_to_draw(range(5, 5000))
    assert (len(chosen), chosen[0], chosen[-1]) == (300, 5, 4999)
    assert chosen == sorted(set(chosen))
    result = scored(tables_of(FIVE), epoch=4000)
    assert "(300 of 4001 drawn)" in picture(result, "burn").description


def test_a_grace_longer_than_the_picture_has_no_mark() -> None:
    """Nothing is drawn beside the axes."""
    result = scored(tables_of(FIVE), grace_epochs=10_000)
    (panel,) = picture(result, "forecast").panels
    assert panel.marks == ()
    (panel,) = picture(scored(tables_of(FIVE)), "forecast").panels
    assert [(mark.x, mark.text) for mark in panel.marks] == [
        (11, "begins in 11"), (26, "80 % in 26"),
    ]  # fmt: skip


def test_an_order_is_the_payload_and_where_it_goes() -> None:
    """What is shown is what would be sent."""
    result = scored(tables_of(FIVE))
    order = order_of(result, netuid=5, network="test", wallet="w", hotkey="h")
    assert order.to_dict() == {
        "netuid": 5, "network": "test", "wallet": "w", "hotkey": "h", "epoch": 3,
        "uids": [0, 1, 2], "weights": [43690, 65535, 65535],
    }  # fmt: skip
    assert order.payload == payload_of(result)


def test_a_uid_no_chain_knows_is_refused() -> None:
    """UIDs have 16 bits there."""
    result = scored(tables_of({"s1": (70_000, [0.5] * 3)}))
    with pytest.raises(NotScorable, match="uid 70000 is not on a Bittensor network"):
        order_of(result, netuid=5, network="test", wallet="w", hotkey="h")
