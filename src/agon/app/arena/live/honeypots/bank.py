"""Hold an arena's own robotic answers: private, shown in one honeypot each, hashed in the ledger.

The ledger has the hash of salt and text from the time an answer is added; salt and text follow in
the entry of the round that shows it, which ends its use. An answer that no honeypot shows is never
published.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from agon.app.access.permissions import SYSTEM
from agon.app.arena.live.prompts import raise_issues, valid_rows
from agon.app.arena.live.scored import live_rules
from agon.app.contests.ledgers.append import append
from agon.app.service import Service
from agon.disciplines.arena.rounds.bank import Bank, answer_sha256
from agon.entities.arena import HoneypotAnswer
from agon.entities.arena_reports import BankCounts
from agon.entities.contests import Contest
from agon.ledger.entry import Draft, read_line
from agon.ledger.transitions import require_not_over
from agon.records import Column, Kind, RowIssue, Table
from agon.store.session import Session

T = TypeVar("T")

SALT_BYTES: Final = 16
_KIND: Final = "honeypot-answers-changed"
_MAX_CHANGES: Final = 10_000

HONEYPOT_ANSWERS: Final = Table(
    "honeypot_answers",
    (
        Column("id", Kind.ID),
        Column("text", Kind.TEXT),
        Column("prompt_id", Kind.ID, required=False),
        Column("retired", Kind.BOOLEAN, required=False),
    ),
    key=("id",),
)


def bank_counts(service: Service, contest: Contest) -> BankCounts:
    """Return how many texts of its own an arena has for honeypots, as of the last settled round.

    Raises:
        Conflict: the contest is not an arena.
    """
    live_rules(contest)
    with service.store.read() as session:
        return count_bank(session, contest)


def count_bank(session: Session, contest: Contest) -> BankCounts:
    """Return how many texts of its own an arena has for honeypots, as of the last settled round."""
    answers = session.arena.honeypot_answers(contest.no)
    newest = session.arena.round_states(contest.no, limit=1)
    # While a round is played, no number may show how many honeypots it has.
    hidden = {f"{draft.id}-" for draft in newest if draft.phase != "settled"}
    shown = [answer.match for answer in answers if answer.match is not None]
    used = sum(match[: match.rfind("-") + 1] not in hidden for match in shown)
    unused = sum(answer.is_unused for answer in answers) + len(shown) - used
    return BankCounts(unused=unused, used=used, retired=len(answers) - used - unused)


def save_honeypot_answers(
    service: Service, contest_id: str, rows: Iterable[Sequence[Any]], *, by: str
) -> int:
    """Add robotic answers, or retire those with the same id; return how many rows there were.

    The same rows again change nothing. A text never changes, because the ledger has its hash.

    Raises:
        InvalidRecords: with everything that is wrong; then none is stored.
        Conflict: the contest is not an arena, or over.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        limit = live_rules(contest).max_answer_chars
        require_not_over(contest, remedy="no more honeypots are drawn")
        values = valid_rows(HONEYPOT_ANSWERS, rows)
        stored = {answer.id: answer for answer in session.arena.honeypot_answers(contest.no)}
        prompts = {prompt.id for prompt in session.arena.prompts(contest.no)}
        raise_issues(list(_issues(values, stored=stored, prompts=prompts, limit=limit)))
        added, retired = [], []
        for _, row in values:
            name, retire = str(row["id"]), bool(row.get("retired"))
            if name not in stored:
                added.append(_answer(service, row))
            if retire:
                retired.append(added[-1] if name not in stored else stored[name])
        _change(service, session, contest, added=added, retired=retired, by=by)
    return len(values)


def retire_missing(service: Service, session: Session, contest: Contest) -> Contest:
    """Retire the answers that the ledger has and this database does not; return the contest.

    A ledger that was imported has only the hashes: their texts cannot be shown.
    """
    bank, seq = Bank(), contest.seq + 1
    for stored in session.entries.of_kind(contest.no, (_KIND,)):
        entry = read_line(stored.line)
        for _ in bank.change(entry.body, at=entry.seq):
            pass
    names = {answer.sha256 for answer in session.arena.honeypot_answers(contest.no)}
    missing = sorted(bank.open_answers(at=seq).keys() - names)
    if not missing:
        return contest
    drafts = _drafts(service, added=[], retired=missing, by=SYSTEM.name)
    return append(service, session, contest, drafts)


def unused_answers(
    session: Session, contest: Contest, *, committed_seq: int
) -> dict[str, HoneypotAnswer]:
    """Return by their hashes the answers that a round committed at a position may show."""
    return {
        answer.sha256: answer
        for answer in session.arena.honeypot_answers(contest.no)
        if answer.seq < committed_seq
        and (answer.retired_seq is None or answer.retired_seq > committed_seq)
        and answer.match is None
    }


def _change(
    service: Service,
    session: Session,
    contest: Contest,
    *,
    added: Sequence[HoneypotAnswer],
    retired: Sequence[HoneypotAnswer],
    by: str,
) -> None:
    """Append the hashes of answers that were added and retired, and store the answers."""
    ending = [answer for answer in retired if answer.is_unused]
    if not added and not ending:
        return
    drafts = _drafts(service, added=added, retired=[each.sha256 for each in ending], by=by)
    seq = append(service, session, contest, drafts).seq
    changed = {answer.id: replace(answer, seq=seq) for answer in added}
    for answer in ending:
        changed[answer.id] = replace(changed.get(answer.id, answer), retired_seq=seq)
    session.arena.save_honeypot_answers(contest.no, changed.values())


def _drafts(
    service: Service, *, added: Sequence[HoneypotAnswer], retired: Sequence[str], by: str
) -> list[Draft]:
    """Return entries of bounded length; an answer is added before it is retired."""
    changes: list[tuple[list[dict[str, Any]], Sequence[str]]] = [
        ([{"prompt_id": each.prompt_id, "sha256": each.sha256} for each in part], ())
        for part in _parts(added)
    ]
    changes += [([], part) for part in _parts(retired)]
    if len(added) + len(retired) <= _MAX_CHANGES:  # one entry has both
        changes = [([each for new, _ in changes for each in new], retired)]
    return [
        Draft(kind=_KIND, body={"added": new, "retired": list(old)}, at=service.clock(), by=by)
        for new, old in changes
    ]


def _parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), _MAX_CHANGES):
        yield values[start : start + _MAX_CHANGES]


def _answer(service: Service, row: Mapping[str, Any]) -> HoneypotAnswer:
    salt = service.random(SALT_BYTES).hex()
    prompt = row.get("prompt_id")
    return HoneypotAnswer(
        id=str(row["id"]),
        text=row["text"],
        prompt_id=None if prompt is None else str(prompt),
        salt=salt,
        sha256=answer_sha256(row["text"], salt=salt),
        seq=0,
    )


def _issues(
    values: Iterable[tuple[int, Mapping[str, Any]]],
    *,
    stored: Mapping[str, HoneypotAnswer],
    prompts: set[str],
    limit: int,
) -> Iterator[RowIssue]:
    """Yield what is wrong with valid rows, by the prompts and the answers that exist."""
    texts = {
        each.text: each.id for each in stored.values() if each.is_unused or each.match is not None
    }
    names = set[str]()
    for line, row in values:
        name, text, prompt = str(row["id"]), row["text"], row.get("prompt_id")
        prompt = None if prompt is None else str(prompt)

        def issue(code: str, column: str, what: str, remedy: str, line: int = line) -> RowIssue:
            return RowIssue(
                code, "honeypot_answers", "honeypot_answers", line, column, None, what, remedy
            )

        if name in names:
            yield issue("duplicate-key", "id", "occurs twice", "leave one of both out")
        names.add(name)
        if name in stored:
            if (stored[name].text, stored[name].prompt_id) != (text, prompt):
                yield issue(
                    "changed-answer", "text", f"differs from the text of {name} that is stored",
                    "the ledger has its hash; retire it, and add the new text with another id",
                )  # fmt: skip
            continue
        if prompt is not None and prompt not in prompts:
            yield issue("unknown-reference", "prompt_id", "is no prompt", "add the prompt first")
        if not text.strip():
            yield issue("empty-text", "text", "is empty", "write an answer")
        if len(text) > limit:
            yield issue(
                "too-long", "text", f"has {len(text):,} characters", f"write {limit:,} at most"
            )
        if texts.setdefault(text, name) != name:
            yield issue(
                "duplicate-text", "text", f"is the text of {texts[text]}, too",
                "write another one; each text is shown once",
            )  # fmt: skip
