"""One suite for the local and the remote client: equal results and errors."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from agon.api.models.access import TokenCreate, UserCreate, UserUpdate
from agon.api.models.base import ReasonRequest
from agon.api.models.changes import ChangeSetCreate
from agon.api.models.contests import ContestCreate, SeasonCreate
from agon.api.models.jobs import QueueUpdate
from agon.api.models.submissions import ProblemCreate, SubmissionCreate
from agon.api.models.webhooks import WebhookCreate, WebhookUpdate
from agon.client import Api
from agon.client.local import Local
from agon.errors import AgonError, Conflict, NotFound, Unreadable
from agon.records import InvalidRecords
from client.conftest import client_of, work
from fakes.autumn import CUBES, RIGHT, autumn, judged, publish
from fakes.instance import Instance

pytestmark = pytest.mark.sample(1)
"""Each test runs with one kind of database, client or source; `make test-all` tries all."""

PEOPLE = ("ada", "bob", "cy")


def lines(*people: str, table: bool = True) -> Iterator[bytes]:
    """Yield users as NDJSON in chunks that split lines."""
    rows = [{"id": name, "affiliation": "org"} for name in people]
    text = b"".join(
        orjson.dumps({"table": "users", "row": row} if table else row) + b"\n" for row in rows
    )
    yield text[:7]
    yield text[7:]


@pytest.fixture
def spring(api: Api, instance: Instance) -> str:
    """Open a contest with three participants and publish it."""
    api.contests.create(ContestCreate(id="spring", discipline="community", title="Spring"))
    api.contests.open("spring")
    api.records.add("spring", lines(*PEOPLE))
    work(instance)
    return "spring"


@pytest.mark.exhaustive
def test_a_contest_passes_through_its_states(api: Api, spring: str) -> None:
    """Each transition returns the new state."""
    assert api.contests.get(spring).state == "open"
    assert api.contests.freeze(spring).state == "frozen"
    assert api.contests.get(spring).frozen_at == 6
    assert api.contests.unfreeze(spring, ReasonRequest(reason="go on")).state == "open"
    assert api.contests.finalize(spring).state == "final"
    assert api.contests.next_season(spring, SeasonCreate(id="autumn")).season == 2
    assert [item.id for item in api.contests.list()] == ["autumn", "spring"]
    assert [item.id for item in api.contests.list(series="spring")] == ["autumn"]


@pytest.mark.exhaustive
def test_both_clients_raise_the_same_errors(api: Api, spring: str) -> None:
    """A command then has the same exit code locally and remotely."""
    with pytest.raises(NotFound, match="no contest 'none'"):
        api.contests.get("none")
    with pytest.raises(Conflict):
        api.contests.create(ContestCreate(id=spring, discipline="community", title="Again"))
    with pytest.raises(NotFound, match="did you mean community"):
        api.contests.create(ContestCreate(id="x1", discipline="comunity", title="X"))
    with pytest.raises(NotFound):
        api.boards.page(spring, "no-such-board")
    with pytest.raises(Conflict):
        api.contests.open(spring)
    with pytest.raises(Unreadable):
        api.changes.propose(spring, ChangeSetCreate(kind="void", params={}, reason="none is named"))


def test_all_invalid_records_are_reported_and_none_is_added(api: Api, spring: str) -> None:
    """Each error names its line."""
    wrong = b'{"table":"users","row":{"id":"dan"}}\n{"table":"userz","row":{}}\nno json\n'
    with pytest.raises((InvalidRecords, Unreadable)) as error:
        api.records.add(spring, [wrong])
    assert error.value.exit_code == 2
    assert "userz" in str(error.value)
    assert "is not JSON" in str(error.value)
    assert api.contests.get(spring).seq == 5


@pytest.mark.exhaustive
def test_repeated_records_are_added_once(api: Api, spring: str) -> None:
    """This includes bare rows of a table; a dry run adds nothing."""
    again = api.records.add(spring, lines(*PEOPLE, table=False), table="users")
    assert (again.added, again.repeated) == (0, 3)
    dry = api.records.add(spring, lines("dan"), dry_run=True)
    assert (dry.added, api.contests.get(spring).seq) == (1, 5)
    with pytest.raises(Conflict):
        api.records.add(spring, [b'{"table":"users","row":{"id":"ada","handle":"x"}}'])
    replaced = api.records.add(
        spring, [b'{"table":"users","row":{"id":"ada","handle":"other"}}'], replace=True
    )
    assert replaced.replaced == 1


def test_records_may_be_dicts(api: Api, spring: str) -> None:
    """They are in envelopes, or rows of one table; both are the records of the same NDJSON."""
    rows: list[dict[str, object]] = [{"id": name, "affiliation": "org"} for name in PEOPLE]
    enveloped = [{"table": "users", "row": row, "external_id": None} for row in rows]
    assert api.records.add(spring, enveloped).repeated == len(rows)
    summary = api.records.add(spring, [*rows, {"id": "dan"}], table="users")
    assert (summary.added, summary.repeated) == (1, 3)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"id": "eve"}, "eve"], "record 2: expected a dict or bytes, got str"),
        ([{"id": object()}], "record 1 has a value that JSON cannot hold"),
        ([{"id": "eve", "weight": math.nan}], "record 1 has a number that is not finite"),
        ({"id": "eve"}, "expected a list of dicts or of bytes, got dict"),
        (b"{}", "expected a list of dicts or of bytes, got bytes"),
    ],
)
def test_what_is_no_record_is_named(api: Api, spring: str, records: Any, message: str) -> None:
    """Nothing of it is added, and no value is replaced by null."""
    with pytest.raises(Unreadable, match=message):
        api.records.add(spring, records, table="users")
    assert api.contests.get(spring).seq == 5


def test_boards_have_pages_proofs_explanations_and_histories(api: Api, spring: str) -> None:
    """Both clients offer all views of a board."""
    first = api.boards.page(spring, limit=2)
    assert (first.board, first.rows_total, len(first.rows)) == ("user-score", 3, 2)
    assert first.next is not None
    rest = api.boards.page(spring, first.board, cursor=first.next, limit=2)
    assert {row["id"] for row in (*first.rows, *rest.rows)} == set(PEOPLE)
    around = api.boards.page(spring, around="cy", limit=1)
    assert around.rows[0]["id"] == "cy"
    assert [row["id"] for row in api.boards.search(spring, "a").rows] == ["ada"]
    assert api.boards.search(spring, "A", board="user-score", as_of="5", limit=1).rows == ()
    assert api.boards.unscored(spring).unscored == ()
    assert next(item.board for item in api.boards.list(spring).items) == "user-score"
    result = api.boards.explain(spring, "ada")
    assert result.score == pytest.approx(sum(part.points for part in result.parts))
    assert [step.id for step in api.boards.history(spring, "ada")] == ["ada"]
    assert api.boards.proof(spring, "ada").manifest["board_sha256"] == first.board_sha256
    assert api.boards.page(spring, as_of="5").snapshot == first.snapshot
    with pytest.raises(NotFound):
        api.boards.page(spring, as_of="2")


@pytest.mark.exhaustive
def test_a_change_set_is_dry_run_applied_and_rolled_back(
    api: Api, instance: Instance, spring: str
) -> None:
    """A change takes effect only after its dry run was reviewed."""
    before = api.boards.page(spring)
    proposed = api.changes.propose(
        spring,
        ChangeSetCreate(kind="void", params={"records": ["users/bob"]}, reason="left"),
    )
    tried = api.changes.dry_run(spring, proposed.id)
    assert tried.dry_run_at == 5
    assert [item["id"] for item in (tried.report or {})["boards"]["user-score"]["dropped"]] == [
        "bob"
    ]
    assert api.boards.page(spring).board_sha256 == before.board_sha256
    assert api.changes.apply(spring, proposed.id).state == "applied"
    work(instance)
    assert "bob" not in {row["id"] for row in api.boards.page(spring).rows}
    assert (
        api.changes.roll_back(spring, proposed.id, ReasonRequest(reason="back")).state
        == "rolled-back"
    )
    work(instance)
    assert api.boards.page(spring).board_sha256 == before.board_sha256
    assert [item.state for item in api.changes.list(spring)] == ["rolled-back"]
    other = api.changes.propose(
        spring,
        ChangeSetCreate(
            kind="rules", params={"overrides": {"self_feedback": "ignore"}}, reason="x"
        ),
    )
    assert api.changes.cancel(spring, other.id).state == "cancelled"
    assert api.changes.get(spring, other.id).state == "cancelled"


def test_a_change_whose_dry_run_fails_is_rejected_immediately(api: Api, spring: str) -> None:
    """The client must not wait five minutes for a failed dry run, and reports its cause."""
    proposed = api.changes.propose(
        spring,
        ChangeSetCreate(kind="void", params={"people": ["nobody"]}, reason="left"),
    )
    with pytest.raises(Conflict, match="no record about 'nobody' counts"):
        api.changes.dry_run(spring, proposed.id)
    assert api.changes.cancel(spring, proposed.id).state == "cancelled"


def test_a_ledger_is_exported_and_imported_unchanged(api: Api, spring: str, tmp_path: Path) -> None:
    """The bytes are equal; damaged ledgers and those of other contests are rejected."""
    api.ledgers.export(spring, tmp_path / "out")
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "out").iterdir()} == {0o600}
    head = api.ledgers.head(spring)
    page = orjson.loads((tmp_path / "out" / "contest.json").read_bytes())
    assert (head.seq, head.head_sha256, head.public_key) == (
        page["seq"], page["head_sha256"], page["public_key"],
    )  # fmt: skip
    with pytest.raises(Conflict, match="exists; name a new folder"):
        api.ledgers.export(spring, tmp_path / "out")
    with pytest.raises(Conflict, match="the ledger of spring, not of autumn"):
        api.ledgers.import_(tmp_path / "out", id="autumn")
    with pytest.raises(Conflict, match="nothing new"):
        api.ledgers.import_(tmp_path / "out")
    entries = tmp_path / "out" / "ledger.ndjson"
    entries.write_bytes(entries.read_bytes().replace(b'"ada"', b'"eve"'))
    with pytest.raises(Unreadable, match=r"ledger\.ndjson"):
        api.ledgers.import_(tmp_path / "out")


@pytest.mark.exhaustive
def test_the_log_is_read_by_several_kinds(api: Api, spring: str) -> None:
    """A parameter that repeats passes through both clients; no kind means all."""
    every = [entry.kind for entry in api.ledgers.log(spring)]
    chosen = [entry.kind for entry in api.ledgers.log(spring, kind=("contest-created", every[0]))]
    assert len({every[0], "contest-created"}) == 2
    assert chosen == [kind for kind in every if kind in {"contest-created", every[0]}]


@pytest.mark.exhaustive
def test_a_ledger_can_be_moved_to_another_instance(api: Api, spring: str, tmp_path: Path) -> None:
    """Exporting it again from the new instance gives the same bytes."""
    from fakes.service import service_at

    api.ledgers.export(spring, tmp_path / "one")
    (tmp_path / "elsewhere").mkdir()
    with Local(service_at(tmp_path / "elsewhere")) as other:
        taken = other.ledgers.import_(tmp_path / "one", id=spring)
        assert (taken.id, taken.seq) == (spring, 5)
        other.ledgers.export(spring, tmp_path / "two")
        assert other.boards.page(spring).board_sha256 == api.boards.page(spring).board_sha256
    for name in ("contest.json", "ledger.ndjson", "heads.ndjson"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.exhaustive
def test_users_and_tokens_are_managed(api: Api, instance: Instance) -> None:
    """A token is shown once and valid until it is revoked."""
    made = api.access.create_user(
        UserCreate(id="ida", name="Ida", password="long enough for anybody")  # noqa: S106 (of a test)
    )
    assert (made.name, made.disabled) == ("Ida", False)
    token = api.access.create_token(TokenCreate(user="ida", role="viewer", days=1))
    text = token.token
    assert text not in str([item.model_dump() for item in api.access.tokens(user="ida")])
    instance.tokens["ida"] = text
    with client_of(instance, "ida") as client:
        assert list(client.contests.list()) == []
        api.access.revoke_token(token.id)
        with pytest.raises(AgonError, match="not valid"):
            list(client.contests.list())
    assert api.access.update_user("ida", UserUpdate(disabled=True)).disabled
    assert not api.access.update_user("ida", UserUpdate(disabled=False)).disabled
    assert "ida" in [item.id for item in api.access.users()]


@pytest.mark.exhaustive
def test_jobs_are_listed_and_the_queue_paused(api: Api) -> None:
    """Operators need both to maintain an instance."""
    api.contests.create(ContestCreate(id="spring", discipline="community", title="Spring"))
    api.contests.open("spring")
    assert api.jobs.set_queue(QueueUpdate(paused=True)).paused
    assert not api.jobs.set_queue(QueueUpdate(paused=False)).paused
    api.changes.propose("spring", ChangeSetCreate(kind="rules", params={}, reason="look"))
    [job] = [item for item in api.jobs.list(contest="spring") if item.kind == "dry-run"]
    assert api.jobs.get(job.id).state == "queued"
    assert api.jobs.cancel(job.id).state == "cancelled"
    assert api.jobs.retry(job.id).state == "queued"
    assert api.jobs.queue().leased == 0


def test_findings_are_those_of_the_last_scan(api: Api, spring: str) -> None:
    """Position 0 means that no scan has run."""
    assert api.integrity.findings(spring).seq == 0
    assert api.integrity.scan(spring).seq == 5
    assert api.integrity.findings(spring).seq == 5


def test_anonymous_callers_see_only_the_frozen_board(instance: Instance) -> None:
    """A client without a configured token sends none."""
    instance.contest("spring")
    with client_of(instance) as staff, client_of(instance, None) as public:
        staff.contests.freeze("spring")
        seen = public.boards.page("spring").board_sha256
        instance.people("spring", 2, begin=10)
        assert public.boards.page("spring").board_sha256 == seen
        assert staff.boards.page("spring").board_sha256 != seen
        with pytest.raises(AgonError, match="needs a token"):
            public.contests.open("spring")


def test_problems_are_published_and_programs_submitted(api: Api, instance: Instance) -> None:
    """Setters and solvers can use either client."""
    squares = autumn(instance.service)
    cubes = publish(instance.service, CUBES, freeze_started_at="2026-01-01T00:00:00.000000Z")
    listed = list(api.problems.list("autumn"))
    assert [item.id for item in listed] == [squares, cubes]
    assert listed[0].disclosed[1].model_dump() == {"n": 3, "a": "9"}
    package = {"title": "Doubles", "N_check": 9, "source": "def seq(n):\n    return 2 * n\n"}
    queued = api.problems.publish("autumn", ProblemCreate(package=package))
    job = queued.job
    assert (len(queued.id), job.kind, job.contest) == (64, "gate", "autumn")
    with pytest.raises(Unreadable):
        api.problems.publish("autumn", ProblemCreate(package={"source": "x = ("}))
    with pytest.raises(Conflict, match="still takes submissions"):
        api.problems.reveal("autumn", squares)
    assert api.problems.reveal("autumn", cubes).id == "autumn"
    assert api.problems.get("autumn", cubes).source == CUBES
    assert api.problems.get("autumn", squares).terms is None
    sent = api.submissions.create(
        "autumn", SubmissionCreate(content={"source": RIGHT}, problem=squares, user="ada")
    )
    again = api.submissions.create(
        "autumn",
        SubmissionCreate(
            content={"source": RIGHT}, problem=squares, user="ada", external_id="mine"
        ),
    )
    judged(instance.service, sent.id, squares)
    assert [item.id for item in api.submissions.list("autumn")] == [sent.id, again.id]
    [row] = api.submissions.get("autumn", sent.id).records
    assert row["verdict"] == "ok"
    assert api.submissions.get("autumn", again.id).records == ()
    with pytest.raises(NotFound):
        api.submissions.get("autumn", "none")


def test_webhooks_are_added_tested_and_removed(api: Api, instance: Instance, spring: str) -> None:
    """A redelivery is a separate delivery; an inactive webhook gets none."""
    request = WebhookCreate(
        url="https://hooks.example/agon", events=("contest-frozen",), staff=False
    )
    made = api.webhooks.create(spring, request)
    assert made.secret.startswith("whsec_")
    assert [item.id for item in api.webhooks.list(spring).items] == [made.id]
    assert (made.events, made.staff, made.active) == (("contest-frozen",), False, True)
    tested = api.webhooks.send_test(spring, made.id)
    with pytest.raises(Conflict, match="is not finished"):
        api.webhooks.redeliver(spring, made.id, tested.id)
    with instance.service.store.write() as session:
        log = session.webhooks.delivery(tested.id)
        session.webhooks.log(replace(log, state="given-up"))
        queued = session.queue.page(kinds=["deliver"])
    assert [job.payload["delivery"] for job in queued] == [tested.id]
    again = api.webhooks.redeliver(spring, made.id, tested.id)
    assert (again.event_no, again.attempts) == (tested.event_no, ())
    assert [item.id for item in api.webhooks.deliveries(spring, made.id)] == [
        again.id,
        tested.id,
    ]
    with pytest.raises(NotFound):
        api.webhooks.redeliver(spring, made.id, "none")
    off = api.webhooks.update(spring, made.id, WebhookUpdate(active=False))
    assert (off.active, off.events) == (False, ("contest-frozen",))
    assert api.webhooks.update(spring, made.id, WebhookUpdate(events=())).events == ()
    with pytest.raises(Conflict, match="switched off"):
        api.webhooks.send_test(spring, made.id)
    api.webhooks.delete(spring, made.id)
    assert api.webhooks.list(spring).items == ()


def test_prompts_and_human_answers_are_added_and_the_use_of_models_is_shown(
    api: Api, instance: Instance
) -> None:
    """As dicts or as NDJSON; an answer to an unknown prompt is rejected, and nothing is stored."""
    api.contests.create(ContestCreate(id="arena", discipline="arena", title="A"))
    prompts: list[dict[str, Any]] = [{"id": "p1", "text": "Why?"}, {"id": "p2", "text": "Where?"}]
    assert api.prompts.add("arena", prompts).saved == 2
    lines = b'{"id": "h1", "prompt_id": "p1", "text": "Because."}\n'
    assert api.prompts.add_human_answers("arena", [lines[:9], lines[9:]]).saved == 1
    wrong = {"id": "h2", "prompt_id": "p9", "text": "x"}
    with pytest.raises(AgonError, match="is no prompt"):
        api.prompts.add_human_answers("arena", [{**wrong, "prompt_id": "p1"}, wrong])
    robotic = [{"id": f"k{at}", "text": f"As requested: {at}."} for at in range(3)]
    assert api.prompts.add_honeypot_answers("arena", robotic).saved == 3
    assert api.prompts.add_honeypot_answers("arena", [{**robotic[0], "retired": True}]).saved == 1
    bank = api.prompts.honeypot_bank("arena")
    assert (bank.unused, bank.used, bank.retired) == (2, 0, 1)
    api.contests.create(ContestCreate(id="spring", discipline="community", title="S"))
    with pytest.raises(Conflict, match="has no bots and no rounds"):
        api.prompts.add("spring", prompts)
    with pytest.raises(Conflict, match="has no bots and no rounds"):
        api.prompts.honeypot_bank("spring")
    with instance.service.store.read() as session:
        no = session.contests.get("arena").no
        assert [prompt.id for prompt in session.arena.prompts(no)] == ["p1", "p2"]
        assert [answer.id for answer in session.arena.human_answers(no)] == ["h1"]
    with instance.service.store.write() as session:
        session.judging.add_count("openai/m", "flip", successes=8, trials=10)
        session.judging.lock_usage("judge")
    models = api.judges.models()
    (measured,) = models.measurements
    assert (measured.judge, measured.share, measured.trials) == ("openai/m", 0.8, 10)
    assert (round(measured.low, 4), round(measured.high, 4)) == (0.4902, 0.9433)
    assert [usage.judge for usage in models.usage] == ["judge"]


@pytest.mark.parametrize("table", ["quick_feedbacks", None])
def test_equal_rows_of_a_long_stream_are_counted_across_requests(
    instance: Instance, api: Api, table: str | None
) -> None:
    """Ten equal rows are ten records, in one request or in several, and again none."""
    api.contests.create(ContestCreate(id="long", discipline="community", title="Long"))
    api.contests.open("long")
    api.records.add("long", lines("ada"))
    api.records.add("long", [{"id": 1, "uploader_id": "ada"}], table="prompts")
    row = {"user_id": "ada", "prompt_id": 1, "opinion": "positive", "created_at": "2026-01-20"}
    spelled = {**row, "created_at": "2026-01-20T01:00:00+01:00"}
    rows = [row, spelled] * 5
    with client_of(instance, chunk=300) as client:
        for added in (10, 0):
            sent = [row if table else {"table": "quick_feedbacks", "row": row} for row in rows]
            summary = client.records.add("long", sent, table=table)
            assert (summary.added, summary.repeated) == (added, 10 - added)
    again = api.records.add("long", rows, table="quick_feedbacks")
    assert (again.added, again.repeated) == (0, 10)
