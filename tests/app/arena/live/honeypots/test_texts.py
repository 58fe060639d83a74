"""No judge sees a honeypot's text twice; the text may be the real answer of a weak bot."""

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from agon.app.access.permissions import LOCAL
from agon.app.arena.draw_audit import DrawReport, check_draws
from agon.app.arena.live.beginning import seed_of
from agon.app.arena.live.honeypots import bank
from agon.app.arena.live.honeypots.bank import bank_counts, save_honeypot_answers
from agon.app.arena.live.matches import match_in_work
from agon.app.arena.live.work import HandIn, hand_in, work_of_judge
from agon.app.contests.ingest.records import record
from agon.disciplines.arena.rounds.faults import Fault
from agon.ledger.fold import empty_ledger, fold
from agon.records import InvalidRecords
from agon.store.schema import HONEYPOT_ANSWERS
from app.arena.live.conftest import MakeLeague
from fakes.arena import League, answer
from fakes.service import JUDGE


def played_rounds(league: League) -> list[Any]:
    """Return the matches of all settled rounds, as drawn and as stored."""
    with league.service.store.read() as session:
        rounds = session.arena.rounds(session.contests.get("autumn").no)
    return [
        pair
        for of in reversed(rounds)
        for pair in zip(of.body["draw"]["matches"], of.body["matches"], strict=True)
    ]


def vote_as_judy(league: League) -> None:
    """Cast all votes of the person who judges."""
    while items := work_of_judge(league.service, "autumn", by=JUDGE):
        for item in items:
            hand_in(league.service, league.contest, item["id"], HandIn(vote="A"), by=JUDGE)
        assert league.work() == []


def require_repeatable(league: League) -> None:
    """Require that the ledger alone shows which text each honeypot had to have."""
    lines = league.ledger()
    assert check_draws(lines, fold(lines, start=empty_ledger("autumn"))) == DrawReport()


@pytest.mark.exhaustive
def test_no_judge_sees_a_template_twice(make_league: MakeLeague) -> None:
    """Not in two matches of one round, not as a person, and not in place of another judge."""
    rules = {"judges_per_match": 2, "credibility_honeypot": 0}
    league = make_league(bots=6, honeypot_probability=1.0, **rules)
    record(league.service, "autumn", [("judges", {"id": "judy", "kind": "person"}, None)], by=LOCAL)
    league.fail("b1", only="vote")
    for _ in range(7):
        assert work_of_judge(league.service, "autumn", by=JUDGE) == []
        assert league.play() == []
        vote_as_judy(league)
    seen = defaultdict[str, list[str]](list)
    for drawn, match in played_rounds(league):
        side = "b" if drawn["honeypot_real"] == "a" else "a"
        replaced = [each["judge"] for each in match["replaced"]]
        for judge in [*match["panel"], *replaced]:
            seen[judge] += match["answers"][side]["templates"]
    assert len(played_rounds(league)) == 21
    assert len(seen["judy"]) >= 5
    assert any(match["replaced"] for _, match in played_rounds(league))
    repeated = {judge: names for judge, names in seen.items() if len(names) > len(set(names))}
    assert repeated == {}
    require_repeatable(league)


def robotic_text(drawn: Any, match: Any) -> str:
    """Return the text on the robotic side of a honeypot."""
    text: str = match["answers"]["b" if drawn["honeypot_real"] == "a" else "a"]["text"]
    return text


WEAK: dict[str, Any] = {
    "honeypot_weak_share": 1.0, "honeypot_weak_distance": 30.0, "prompts_unseen": 1,
    "honeypot_probability": 0.4, "judges_per_match": 1,
}  # fmt: skip


def test_a_honeypot_shows_an_answer_of_a_weak_bot_that_was_never_published(
    make_league: MakeLeague,
) -> None:
    """A third bot is asked besides, of no owner concerned; no one can look its answer up."""
    league = make_league(bots=10, **WEAK)
    for _ in range(8):
        assert league.play() == []
    published = set[str]()
    used = []
    for drawn, match in played_rounds(league):
        if "weak" in match:
            bot = match["weak"]["bot"]
            assert match["honeypot_text"]["weak"] == {"bot": bot, "use": "shown"}
            assert robotic_text(drawn, match) not in published
            assert bot not in {drawn["bot_a"], drawn["bot_b"], *match["panel"]}
            used.append(match)
        published |= {answer["text"] for answer in match["answers"].values()}
    assert len(used) > 3
    require_repeatable(league)
    settled = league.entries("round-settled")
    recorded = [one for body in settled for one in body["outcome"]["matches"]
                if "weak" in one.get("honeypot_text", ())]  # fmt: skip
    assert len(recorded) == len(used)
    assert all(row["bot_a"] is None or row["bot_b"] is None
               for row in league.rows("matches") if row["kind"] == "honeypot")  # fmt: skip


def behave(league: League, behavior: Callable[[str, Any], Any]) -> None:
    """Let all bots answer prompts so; they vote as before."""
    for number in range(1, 11):
        url = f"https://b{number}.example/"

        def reply(work: Any, url: str = url) -> Any:
            return behavior(url, work) if work["kind"] == "answer" else answer(url, work)

        league.network.behavior[url] = reply


@pytest.mark.exhaustive
def test_a_weak_bot_that_repeats_a_published_answer_is_not_shown(make_league: MakeLeague) -> None:
    """It could be looked up; a template is shown instead."""
    league = make_league(bots=10, **{**WEAK, "prompts_unseen": 0})
    behave(league, lambda url, work: answer(url, {**work, "match": work["prompt"]}))
    for _ in range(6):
        assert league.play() == []
    published, uses = set[str](), list[str]()
    for drawn, match in played_rounds(league):
        if "weak" in match:
            uses.append(match["honeypot_text"]["weak"]["use"])
            assert robotic_text(drawn, match) not in published
            assert ("seen" in match["honeypot_text"]) == (uses[-1] == "copy")
        published |= {each["text"] for each in match["answers"].values()}
    assert set(uses) == {"copy", "shown"}
    require_repeatable(league)


@pytest.mark.exhaustive
def test_a_weak_bot_that_is_asked_besides_and_fails_forfeits_nothing(
    make_league: MakeLeague,
) -> None:
    """It is not its match; the honeypot shows a template."""
    league = make_league(bots=10, forfeits_paused=1, **WEAK)

    def fail(url: str, work: Any) -> Any:
        with league.service.store.read() as session:
            contest = session.contests.get("autumn")
            (of,) = session.arena.rounds(contest.no, limit=1)
        seed = seed_of(league.service, contest, of)
        besides = {
            match_in_work(seed, match["match"], match["weak"]["bot"])
            for match in of.body["matches"]
            if "weak" in match
        }
        return Fault("bot", "status-500") if work["match"] in besides else answer(url, work)

    behave(league, fail)
    for _ in range(4):
        assert league.play() == []
    stated = [match["honeypot_text"] for _, match in played_rounds(league) if "weak" in match]
    assert {text["weak"]["use"] for text in stated} == {"fault"}
    assert all(text["seen"] is not None for text in stated)
    assert all(league.bot(f"b{number}").paused is None for number in range(1, 11))
    require_repeatable(league)


def add_bank(league: League, *rows: dict[str, Any]) -> int:
    """Add answers for honeypots."""
    records = [("honeypot_answers", row, None) for row in rows]
    return save_honeypot_answers(league.service, "autumn", records, by="local")


def retire(league: League, *rows: dict[str, Any]) -> int:
    """Retire answers for honeypots."""
    return add_bank(league, *({**row, "retired": True} for row in rows))


def rows_of_bank(count: int) -> list[dict[str, Any]]:
    """Return answers for honeypots that fit any prompt."""
    return [{"id": f"k{number}", "text": f"private words {number:02}"} for number in range(count)]


def test_each_text_of_the_contest_is_shown_once_and_templates_only_without_any(
    make_league: MakeLeague,
) -> None:
    """A judge that collects what it saw, with all its friends, recognizes none of them."""
    league = make_league(bots=6, honeypot_probability=1.0)
    bound = {"id": "bound", "text": "only to the third prompt", "prompt_id": "p2"}
    assert add_bank(league, *rows_of_bank(5), bound) == 6
    for _ in range(3):
        assert league.play() == []
    shown = [robotic_text(*pair) for pair in played_rounds(league)]
    private = [text for text in shown if "private words" in text or text == bound["text"]]
    assert len(private) == len(set(private)) >= 5
    for drawn, match in played_rounds(league):
        text = robotic_text(drawn, match)
        assert ("bank" in match["honeypot_text"]) == (text in private)
        assert text != bound["text"] or drawn["prompt"] == "p2"
        assert text == bound["text"] or drawn["prompt"] != "p2" or bound["text"] in private
    require_repeatable(league)
    counts = bank_counts(league.service, league.contest)
    assert (counts.used, counts.unused + counts.used, counts.retired) == (len(private), 6, 0)


def test_the_ledger_has_only_salted_hashes_of_texts_until_they_are_shown(
    make_league: MakeLeague,
) -> None:
    """Who reads it, or guesses texts, learns nothing; a retired text is never published."""
    league = make_league(bots=6, honeypot_probability=0.3)
    league.service = replace(league.service, random=Random(1).randbytes)
    rows = rows_of_bank(12)
    add_bank(league, *rows)
    retire(league, rows[0], rows[1])
    (added, retired) = league.entries("honeypot-answers-changed")
    assert len({each["sha256"] for each in added["added"]}) == 12
    assert set(retired["retired"]) < {each["sha256"] for each in added["added"]}
    for _ in range(4):
        assert league.play() == []
    used = {robotic_text(*pair) for pair in played_rounds(league) if "honeypot_text" in pair[1]}
    assert 1 <= len(used) < 10
    ledger = b"".join(league.ledger()).decode()
    assert {row["text"] for row in rows if row["text"] in ledger} == used
    assert not used & {rows[0]["text"], rows[1]["text"]}
    assert add_bank(league, *rows) == 12  # the same rows again change nothing
    assert len(league.entries("honeypot-answers-changed")) == 2
    require_repeatable(league)


@pytest.mark.exhaustive
def test_a_text_that_is_added_or_retired_during_a_round_changes_the_next_one(
    make_league: MakeLeague,
) -> None:
    """The seed is fixed by then: the operator could otherwise choose the text of a honeypot."""
    names = tuple(f"b{number}" for number in range(1, 7))
    league = make_league(bots=6, pulling=names, honeypot_probability=1.0)
    early, late = rows_of_bank(4)[:3], rows_of_bank(4)[3:]
    add_bank(league, *early)
    league.start()
    assert league.work() == []
    retire(league, *early)
    add_bank(league, *late)
    before = bank_counts(league.service, league.contest)
    while items := waiting(league):
        for item in items:
            done = HandIn(text=item.id) if item.kind == "answer" else HandIn(vote="A")
            hand_in(league.service, league.contest, item.id, done, by=LOCAL)
        counts = bank_counts(league.service, league.contest)
        assert counts == before or waiting(league) == []  # it would show the honeypots of the round
        assert league.work() == []
    shown = {robotic_text(*pair) for pair in played_rounds(league)}
    assert shown == {row["text"] for row in early}
    require_repeatable(league)


def waiting(league: League) -> list[Any]:
    """Return all work that waits."""
    with league.service.store.read() as session:
        contest = session.contests.get("autumn")
        return [
            item
            for bot in session.arena.bots(contest.no)
            for item in session.arena.waiting_work(contest.no, bot.id, now=league.clock.at)
        ]


@pytest.mark.exhaustive
def test_a_long_bank_is_added_before_it_is_retired(
    make_league: MakeLeague, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In entries of bounded length, whose order decides what replay knows of a text."""
    monkeypatch.setattr(bank, "_MAX_CHANGES", 3)
    league = make_league(bots=6, honeypot_probability=1.0)
    rows = rows_of_bank(8)
    add_bank(league, *rows[:7], {**rows[7], "retired": True})
    assert [len(body["added"]) for body in league.entries("honeypot-answers-changed")] == [
        3, 3, 2, 0,
    ]  # fmt: skip
    assert league.play() == []
    require_repeatable(league)
    assert bank_counts(league.service, league.contest).used == 3


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("is no prompt", {"id": "k9", "text": "x", "prompt_id": "p77"}),
    ("has 401 characters", {"id": "k9", "text": "x" * 401}),
    ("differs from the text of k0", {"id": "k0", "text": "other words"}),
    ("differs from the text of k0", {"id": "k0", "text": "private words 00", "prompt_id": "p1"}),
    ("is the text of k0, too", {"id": "k9", "text": "private words 00"}),
    ("is empty", {"id": "k9", "text": ""}),
]


def test_wrong_rows_are_named_and_none_is_stored(make_league: MakeLeague) -> None:
    """A file with one wrong line must not be half of a bank."""
    league = make_league(bots=2)
    add_bank(league, *rows_of_bank(1))
    for cause, row in WRONG:
        with pytest.raises(InvalidRecords, match=cause):
            add_bank(league, {"id": "new", "text": "new words"}, row)
    with pytest.raises(InvalidRecords, match="occurs twice"):
        add_bank(league, *[{"id": "new", "text": "new words"}] * 2)
    assert bank_counts(league.service, league.contest).unused == 1


def test_texts_that_an_imported_ledger_does_not_have_are_retired(make_league: MakeLeague) -> None:
    """Another server has the hashes only; what it draws must still follow from the ledger."""
    league = make_league(bots=6, honeypot_probability=1.0)
    add_bank(league, *rows_of_bank(3))
    with league.service.store.write() as session:
        session.transaction.change(HONEYPOT_ANSWERS.delete())
    assert league.play() == []
    assert len(league.entries("honeypot-answers-changed")[-1]["retired"]) == 3
    require_repeatable(league)


EDITS: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("does not have the hash", lambda bank: bank.update(salt="00")),
    ("shows the answer None of the contest, drawn was", lambda bank: bank.clear()),
    ("drawn was", lambda bank: bank.update(sha256="00" * 32)),
]


def test_every_change_of_a_shown_text_is_named(make_league: MakeLeague) -> None:
    """An operator could otherwise show a friend a text that both know."""
    league = make_league(bots=6, honeypot_probability=1.0)
    add_bank(league, *rows_of_bank(9))
    assert league.play() == []
    lines = league.ledger()
    state = fold(lines, start=empty_ledger("autumn"))
    at = next(at for at, line in enumerate(lines) if b'"kind":"round-settled"' in line)
    for difference, edit in EDITS:
        value = json.loads(lines[at])
        stated = value["body"]["outcome"]["matches"][0]["honeypot_text"]
        edit(stated["bank"])
        stated.setdefault("seen", [])
        changed = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
        reported = [
            issue.what
            for issue in check_draws([*lines[:at], changed, *lines[at + 1 :]], state).issues
        ]
        assert any(difference in what for what in reported), reported
