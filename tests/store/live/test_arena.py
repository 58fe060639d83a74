"""Bots, prompts, rounds and work in a database."""

from dataclasses import replace

import pytest

from agon.entities.arena import ArenaRound, HumanAnswer, LiveBot, Presence, Prompt, Work
from agon.entities.contests import Contest
from agon.errors import NotFound
from agon.store.live.arena_work import StoredResult
from agon.store.session import Store
from store.factories import later

pytestmark = pytest.mark.one_database


def _bot(contest_no: int, name: str = "b1") -> LiveBot:
    return LiveBot(
        contest_no=contest_no, id=name, user="ada", owner_id="ada", name="Ada's",
        registered_at=later(0), version_at=later(0), secret=b"\x00s", judges=True,
    )  # fmt: skip


def _round(contest_no: int, number: int) -> ArenaRound:
    return ArenaRound(
        contest_no=contest_no, id=f"r{number}", number=number, kind="round", phase="committed",
        seed=b"s", body={"at": 1}, began_at=later(number),
    )  # fmt: skip


def _work(contest_no: int, name: str, *, assignee: str = "b1", match: str = "r1-1") -> Work:
    return Work(
        id=name, contest_no=contest_no, round="r1", match=match, kind="answer",
        assignee=assignee, pushed=False, body={"prompt": "Why?"}, deadline=later(30),
        created_at=later(0),
    )  # fmt: skip


def test_a_bot_is_stored_with_all_its_fields(store: Store, spring: Contest) -> None:
    """A secret or a pause that is lost makes a bot unreachable."""
    bot = _bot(spring.no)
    changed = replace(
        bot, endpoint="https://b.example", paused="three", old_secret=b"o", forfeits=2,
        old_secret_until=later(9), latency_ms=1.5, recent_prompts=("p1", "p2"),
        attempted_at=later(3),
    )  # fmt: skip
    with store.write() as session:
        session.arena.save_bot(bot)
        session.arena.save_bot(_bot(spring.no, "b2"))
        assert session.arena.bot(spring.no, "b1") == bot
        session.arena.save_bot(changed)
    with store.read() as session:
        assert session.arena.bot(spring.no, "b1") == changed
        assert [bot.id for bot in session.arena.bots(spring.no)] == ["b1", "b2"]
        assert [bot.id for bot in session.arena.bots(spring.no, after="b1", limit=1)] == ["b2"]
        with pytest.raises(NotFound):
            session.arena.bot(spring.no + 1, "b1")
    assert "\\x00s" not in repr(changed)


def test_prompts_answers_and_presence_are_stored(store: Store, spring: Contest) -> None:
    """A prompt that is sent again replaces the earlier one."""
    with store.write() as session:
        session.arena.save_prompts(
            spring.no, [Prompt(id="p2", text="B"), Prompt(id="p1", text="A")]
        )
        session.arena.save_prompts(spring.no, [Prompt(id="p2", text="C", retired=True)])
        session.arena.save_human_answers(spring.no, [HumanAnswer(id="h", prompt_id="p1", text="x")])
        asking = Presence(id="judy", network="n1", as_judge=True)
        session.arena.record_presence(spring.no, Presence(id="judy"), later(1))
        session.arena.record_presence(spring.no, asking, later(5))
    with store.read() as session:
        assert session.arena.prompts(spring.no) == [
            Prompt(id="p1", text="A"), Prompt(id="p2", text="C", retired=True)
        ]  # fmt: skip
        (answer,) = session.arena.human_answers(spring.no)
        assert answer.prompt_id == "p1"
        assert session.arena.present(spring.no, since=later(5), until=later(9)) == [asking]
        assert session.arena.present(spring.no, since=later(6), until=later(9)) == []
        assert session.arena.present(spring.no, since=later(0), until=later(4)) == []


def test_rounds_are_listed_newest_first(store: Store, spring: Contest) -> None:
    """A reader wants the round that is played now."""
    with store.write() as session:
        assert session.arena.last_number(spring.no, prefix="r") == 0
        for number in (1, 2, 3):
            session.arena.save_round(_round(spring.no, number))
        locked = session.arena.lock_round(spring.no, "r2")
        session.arena.save_round(replace(locked, phase="settled", settled_seq=9))
    with store.read() as session:
        assert session.arena.last_number(spring.no, prefix="r") == 3
        assert [one.number for one in session.arena.rounds(spring.no, before=3)] == [2, 1]
        assert session.arena.round(spring.no, "r2").settled_seq == 9
        states = session.arena.round_states(spring.no, before=3)
        assert [one.number for one in states] == [2, 1]
        assert session.arena.round_state(spring.no, 2) == states[0]
        assert (states[0].settled_seq, states[0].phase) == (9, "settled")
        with pytest.raises(NotFound):
            session.arena.round_state(spring.no, 9)
        with pytest.raises(NotFound):
            session.arena.round(spring.no, "r9")


def test_the_first_result_of_work_is_kept(store: Store, spring: Contest) -> None:
    """A retry, a late reply and a deadline compete; one of them counts."""
    with store.write() as session:
        session.arena.add_work([_work(spring.no, "w1"), _work(spring.no, "w2", assignee="b2")])
        session.arena.add_work([_work(spring.no, "w3")])  # assigned already
        waiting = session.arena.waiting_work(spring.no, "b1", now=later(29))
        assert [item.id for item in waiting] == ["w1"]
        assert session.arena.waiting_work(spring.no, "b1", now=later(30)) == []
        assignees = {(spring.no, "b1"), (spring.no, "b2")}
        assert session.arena.assignees(now=later(29)) == assignees
        assert session.arena.assignees(now=later(30)) == set()
        done = replace(waiting[0], result={"text": "x"}, result_at=later(1), handed_in="{}")
        assert session.arena.set_results([done]) == [done]
        assert session.arena.set_result(done) == StoredResult(is_stored=False, is_last=False)
        assert session.arena.set_results([replace(done, result={"text": "y"})]) == []
        assert session.arena.work("w1") == done
        assert session.arena.waiting_count(spring.no, "r1") == 1
        assert session.arena.assignees(now=later(29)) == {(spring.no, "b2")}
        results = session.arena.results_of(spring.no, "r1", "answer")
        assert [(item.id, item.result) for item in results] == [("w1", {"text": "x"}), ("w2", None)]
        with pytest.raises(NotFound):
            session.arena.work("w3")
        session.arena.add_work([_work(spring.no, "w4", assignee="b4")])
        for name, is_last in (("w2", False), ("w4", True)):
            ended = replace(session.arena.work(name), result={"text": "z"}, result_at=later(1))
            stored = session.arena.set_result(ended)
            assert stored == StoredResult(is_stored=True, is_last=is_last)
            assert session.arena.work(name) == ended
        assert session.arena.waiting_count(spring.no, "r1") == 0
