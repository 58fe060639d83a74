"""Check the draws in the ledger of a live arena: each is repeated from its seed and its inputs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from agon.app.access.permissions import SYSTEM
from agon.app.analysis.score import rules_of
from agon.app.arena.network_audit import NetworkCheck
from agon.app.arena.panel_audit import PanelCheck
from agon.app.arena.settled_rounds import DrawnRound
from agon.disciplines.arena.rounds.commitment import drawing_seed, verify_draw
from agon.disciplines.arena.rounds.round import (
    METHOD,
    RoundInputs,
    draw_qualification,
    draw_round,
)
from agon.disciplines.arena.rules import ArenaRules
from agon.errors import AgonError
from agon.kernel.fingerprints import sha256
from agon.ledger.entry import EntryLine, chain, genesis, read_line
from agon.ledger.fold import LedgerState, empty_ledger, fold
from agon.ledger.issues import LedgerIssue

if TYPE_CHECKING:
    from agon.entities.contests import Contest
    from agon.store.session import Session, Store

_KINDS: Final = ("draw-committed", "draw-made", "round-settled", "honeypot-answers-changed")
_DRAW_KINDS: Final = tuple(f'"kind":"{kind}"'.encode() for kind in _KINDS)
_RECORD_KINDS: Final = (b'"kind":"record-added"', b'"kind":"record-replaced"')
_DRAWN_TABLES: Final = {"matches": "id", "votes": "match_id"}
"""The tables that rounds write → the column with the id of the match."""
_OF_OWNER: Final = b'"table":"owners"'
_REMEDY: Final = "ask the operator for the cause; this round's result does not follow from its draw"


@dataclass(frozen=True, kw_only=True)
class DrawReport:
    """What the check of an arena's draws gives.

    Attributes:
        issues: everything in which draws, matches or votes differ from what was committed.
        notes: matches and votes of drawn rounds that others than the rounds recorded. No draw
            follows from them, and none is judged by them; they count until they are voided.
    """

    issues: tuple[LedgerIssue, ...] = ()
    notes: tuple[LedgerIssue, ...] = ()


def check_draws(
    lines: Iterable[bytes], state: LedgerState, *, until: int | None = None
) -> DrawReport:
    """Return everything in which the draws of an arena, or its matches and votes, differ.

    Each draw of a round must have the committed seed, the head before its commitment, the recorded
    inputs, and the pairs, prompts, honeypots, audits, judges and orders that follow from them under
    the rules in force at the commitment. Matches and votes that were recorded for a drawn match
    must be those drawn. So must the reserves that were asked, and the robotic text of each
    honeypot, by what its judges had seen in all rounds before and the lengths of answers that the
    round states. Draws of other methods are not checked.

    A round records its matches and votes directly after it is settled. Records of its matches that
    came otherwise are notes, unless a change set made them or they do not count any more.

    Args:
        lines: the entries' bytes from the first one on, verified before.
        state: the ledger's state after them or later.
        until: the last position to check, None for all; a round that is settled there is read to
            the end of its records.
    """
    check = _DrawCheck(state)
    issues: list[LedgerIssue] = []
    head = genesis(state.contest.id)
    for seq, line in enumerate(lines, start=1):
        if until is not None and seq > until and not check.is_continued_by(line):
            break
        is_draw = any(kind in line for kind in _DRAW_KINDS)
        is_record = check.has_draws and any(kind in line for kind in _RECORD_KINDS)
        if is_draw or is_record or _OF_OWNER in line:
            entry = read_line(line)
            if entry.kind == "round-settled":
                issues += check.panel_issues()
            for difference in check.differences(entry, head=head.hex()):
                issues.append(LedgerIssue(difference, _REMEDY, line=seq))
        elif check.has_draws:
            check.end_records()
        head = chain(head, line)
    issues += check.panel_issues()
    return DrawReport(issues=tuple(issues), notes=tuple(check.notes))


def check_stored_draws(store: "Store") -> DrawReport:
    """Return everything in which the draws of a database's arenas differ, as :func:`check_draws`.

    Each issue and note names its contest and its position. A ledger that cannot be read is left
    out: the verification of the database reports it.

    Args:
        store: the database.
    """
    last, issues, notes = None, list[LedgerIssue](), list[LedgerIssue]()
    while True:
        with store.read() as session:
            page = session.contests.page(after=last, limit=1)
            if not page:
                return DrawReport(issues=tuple(issues), notes=tuple(notes))
            try:
                report = _stored_report(session, page[0])
            except AgonError:
                report = DrawReport()
        last = page[0].id
        issues += (issue.at(f"contest {last}", issue.line) for issue in report.issues)
        notes += (note.at(f"contest {last}", note.line) for note in report.notes)


def _stored_report(session: "Session", contest: "Contest") -> DrawReport:
    if next(session.entries.of_kind(contest.no, _KINDS), None) is None:
        return DrawReport()

    def lines() -> Iterator[bytes]:
        return (entry.line for entry in session.entries.after(contest.no))

    return check_draws(lines(), fold(lines(), start=empty_ledger(contest.id)))


class _DrawCheck:
    """The commitments that were read, and the matches that were drawn from them."""

    def __init__(self, state: LedgerState) -> None:
        self._state = state
        self._commitments: dict[str, tuple[Mapping[str, Any], str, int]] = {}
        self._drawn: dict[str, Mapping[str, Any]] = {}
        self._rounds: dict[str, DrawnRound] = {}
        self._without_panel: set[str] = set()
        self._panels = PanelCheck()
        self._networks = NetworkCheck()
        self._settling = False
        self.notes: list[LedgerIssue] = []

    @property
    def has_draws(self) -> bool:
        """Return whether a draw was read, so that records may follow from it."""
        return bool(self._drawn)

    def panel_issues(self) -> Iterator[LedgerIssue]:
        """Yield what is wrong with the round whose records were read."""
        for seq, difference in self._panels.finish():
            yield LedgerIssue(difference, _REMEDY, line=seq)

    def is_continued_by(self, line: bytes) -> bool:
        """Return whether a line is a record of the settled round whose records are read."""
        return self._settling and _RECORD_KINDS[0] in line and read_line(line).by == SYSTEM.name

    def end_records(self) -> None:
        """Note that an entry follows which is no record: those of the settled round are read."""
        self._settling = False

    def differences(self, entry: EntryLine, *, head: str) -> Iterator[str]:
        """Yield what is wrong with an entry; ``head`` is the hash before it."""
        kind, body = entry.kind, entry.body
        # A round is settled with all of its records at once.
        self._settling = kind == "round-settled" or (
            self._settling and kind == "record-added" and entry.by == SYSTEM.name
        )
        if kind == "draw-committed":
            if body["round"] in self._commitments:
                yield f"round {body['round']} is committed twice"
            self._commitments.setdefault(body["round"], (body, head, entry.seq))
        elif kind == "draw-made" and body["method"] == METHOD:
            try:
                yield from self._draw_differences(body)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                name = str(body["purpose"]).removeprefix("round ")
                yield f"round {name}: the draw cannot be repeated from its inputs ({error!r})"
        elif kind == "round-settled":
            try:
                self._note_replaced(body["outcome"]["matches"])
                if body["round"] in self._rounds:
                    self._panels.settle(self._rounds[body["round"]], body["outcome"], at=entry.seq)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                yield f"round {body['round']}: its matches cannot be repeated ({error!r})"
        elif kind == "honeypot-answers-changed":
            yield from self._panels.bank.change(body, at=entry.seq)
        elif "row" in body:
            yield from self._record_differences(entry, body["table"], body["row"])

    def _record_differences(
        self, entry: EntryLine, table: str, row: Mapping[str, Any]
    ) -> Iterator[str]:
        """Yield what differs between a record of the settled round and its draw; note others."""
        if table == "owners":
            self._networks.add(row, seq=entry.seq)
        if table not in _DRAWN_TABLES:
            return
        if not self._settling:
            if entry.body.get("change") is None:
                self._note(entry)
            return
        differences = self._match_differences if table == "matches" else self._vote_differences
        yield from differences(row)
        self._panels.add_record(table, row)

    def _note(self, entry: EntryLine) -> None:
        """Note a record of a drawn match that its round did not make, if it counts."""
        table, row = entry.body["table"], entry.body["row"]
        match = str(row.get(_DRAWN_TABLES[table]))
        if match not in self._drawn or not self._state.effects.is_visible(entry.seq):
            return
        what = (
            f"{entry.by} recorded a row of {table} for match {match} outside of its round: it is "
            "no part of the draw, and counts until it is voided"
        )
        contest = self._state.contest.id
        remedy = f"void it: agon contest void {contest} --record {entry.seq} --reason TEXT"
        self.notes.append(LedgerIssue(what, remedy, line=entry.seq))

    def _draw_differences(self, body: Mapping[str, Any]) -> Iterator[str]:
        name = str(body["purpose"]).removeprefix("round ")
        committed, head, seq = self._commitments.get(name, (None, "", 0))
        if committed is None:
            yield f"the draw of round {name} has no commitment before it"
            return
        for difference in verify_draw(committed, body, head):
            yield f"round {name}: {difference}"
        result = body["result"]
        if sha256(result["inputs"]) != body["inputs_sha256"]:
            yield f"round {name}: the inputs do not have the recorded SHA-256"
        self._drawn |= {match["match"]: match for match in result["matches"]}
        if result["inputs"]["name"] != name:
            yield f"round {name}: the inputs are those of {result['inputs']['name']}"
        else:
            seed, rules = drawing_seed(str(body["seed"]), head), self._rules_at(seq)
            if rules.network_guard:
                apart = self._networks.differences(result["inputs"], until=result["seq"])
                yield from (f"round {name}: {each}" for each in apart)
            drawn = _draw(result["inputs"], seed=seed, rules=rules)
            matches = {match["match"]: match for match in drawn["matches"]}
            self._rounds[name] = DrawnRound(
                inputs=result["inputs"], matches=matches, seed=seed, rules=rules, committed_at=seq
            )
            yield from (f"round {name}: {each}" for each in _differences(result, drawn))

    def _rules_at(self, seq: int) -> ArenaRules:
        contest = self._state.contest_at(seq)
        rules: Any = rules_of(contest.discipline, contest.edition, contest.overrides)[1]
        return ArenaRules.model_validate(rules.model_dump())

    def _match_differences(self, row: Mapping[str, Any]) -> Iterator[str]:
        """Yield what differs between a recorded match and its draw."""
        match = self._drawn.get(str(row["id"]))
        if match is None:
            return
        name, real = match["match"], match["honeypot_real"]
        for column in ("bot_a", "bot_b", "prompt_id"):
            expected = match["prompt" if column == "prompt_id" else column]
            if row.get(column) not in {expected, None}:
                yield f"match {name}: {column} is {row[column]!r}, drawn was {expected!r}"
        if row["kind"] == "honeypot" and row.get("honeypot_real") != real:
            yield f"match {name} is a honeypot of side {row.get('honeypot_real')}, drawn was {real}"
        if row.get("audit_verdict") is not None and not match["audited"]:
            yield f"match {name} has an audit, which was not drawn"

    def _note_replaced(self, settled: Iterable[Mapping[str, Any]]) -> None:
        """Note the matches in which no judge was left to replace another; models judged them."""
        for match in settled:
            drawn = self._drawn.get(match["match"])
            if drawn is not None and len(match["replaced"]) > len(drawn["reserves"]):
                self._without_panel.add(match["match"])

    def _vote_differences(self, row: Mapping[str, Any]) -> Iterator[str]:
        """Yield what differs between a recorded vote and its draw."""
        match = self._drawn.get(str(row["match_id"]))
        if match is None or match["api"] or match["match"] in self._without_panel:
            return
        judge, name = str(row["judge_id"]), match["match"]
        expected = match["shown_first"].get(judge)
        if expected is None:
            yield f"match {name}: {judge} voted, who was not drawn"
        elif row["shown_first"] != expected:
            yield f"match {name}: {judge} saw {row['shown_first']} first, drawn was {expected}"


def _draw(inputs: Mapping[str, Any], *, seed: str, rules: ArenaRules) -> Mapping[str, Any]:
    """Return what is drawn for a round, or for an attempt to qualify, which has one bot."""
    if "bot" in inputs:
        return draw_qualification(inputs, seed=seed, rules=rules)
    return draw_round(RoundInputs.from_json(inputs), seed=seed, rules=rules)


def _differences(recorded: Mapping[str, Any], drawn: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields in which a recorded draw differs from the repeated one."""
    if list(recorded["waiting"]) != list(drawn["waiting"]):
        yield f"{recorded['waiting']} wait, drawn were {drawn['waiting']}"
    if len(recorded["matches"]) != len(drawn["matches"]):
        yield f"it has {len(recorded['matches'])} matches, drawn were {len(drawn['matches'])}"
    for stated, repeated in zip(recorded["matches"], drawn["matches"], strict=False):
        for field in repeated:
            if stated.get(field) != repeated[field]:
                yield (
                    f"{field} of {repeated['match']} is {stated.get(field)!r}, drawn was "
                    f"{repeated[field]!r}"
                )
