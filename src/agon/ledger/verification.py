"""Verify a ledger's directory without a server: every line, the chain, the signatures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from agon.kernel.fingerprints import canonical_json
from agon.ledger.entry import LONGEST_LINE, chain, genesis, is_timestamp, read_line
from agon.ledger.files import CONTEST, HEADS, LEDGER, lines_in, opened, strangers
from agon.ledger.fold import LedgerState, beginning, examine
from agon.ledger.heads import Head, SignedHead
from agon.ledger.issues import InvalidEntry, LedgerIssue
from agon.ledger.kinds import (
    A_CONTEST,
    A_SHA256,
    AN_INSTANT,
    Field,
    is_contest,
    is_count,
    is_sha256,
    misfits,
    shown,
)
from agon.ledger.proofs import VerifiedProof, verify_proof

__all__ = ["Verified", "VerifiedProof", "verify_directory", "verify_proof"]

FORMAT: Final = 1
LARGEST_PAGE: Final = 65_536
"""So many bytes ``contest.json`` may have, and a line of ``heads.ndjson``."""

_AS_EXPORTED = "take the file as it was exported"


@dataclass(frozen=True, kw_only=True)
class Verified:
    """Hold what a ledger's directory is, and everything wrong with it.

    Attributes:
        contest: the contest's name, None where nothing tells it.
        seq, head: the last entry's position and the chain's hash there (32 bytes), as read.
        public_key: whose signatures they are, None where the directory names none.
        heads: the signed heads.
        signed_seq: the position up to which signatures vouch for the entries; 0 for none.
        state: what the entries say.
        issues: everything wrong, by file and line; none when it is what was exported.
    """

    contest: str | None
    seq: int
    head: bytes
    public_key: bytes | None
    heads: tuple[SignedHead, ...]
    signed_seq: int
    state: LedgerState
    issues: tuple[LedgerIssue, ...]


def verify_directory(folder: Path, *, public: bytes | None = None) -> Verified:
    """Verify a ledger's directory, and name every issue.

    The lines have to be entries that can follow each other; the chain over them has to end where
    ``contest.json`` says and to pass through every signed head. What no signature vouches for
    (behind ``signed_seq``) can have been changed together with ``contest.json``; and whoever
    changed all of it can sign it with a key of their own.

    Args:
        folder: the directory.
        public: the public key that has to vouch for every entry; else the signatures are checked
            with the one the directory names, and need not be there.

    Raises:
        InvalidEntry: it is no folder.
    """
    issues = strangers(folder)
    page = _page(folder, issues)
    stated = page.get("public_key")
    named = None if stated is None else bytes.fromhex(stated)
    if public is not None and named != public:
        what = f"public_key is {stated}, expected is {public.hex()}"
        issues.append(LedgerIssue(what, "take the ledger from its owner", CONTEST))
    contest = page.get("id") or _contest_in(folder)
    heads = _heads(folder, contest=contest, public=public or named, issues=issues)
    chained = _Chain(contest, heads)
    state, found = examine(chained.over(folder, issues), start=beginning(contest or ""))
    issues += (issue.at(LEDGER, issue.line) for issue in found)
    issues += chained.issues
    for name, value in (("seq", state.contest.seq), ("head_sha256", state.contest.head.hex())):
        if name in page and page[name] != value:
            what = f"{name} is {shown(page[name])}, the lines of {LEDGER} give {value!r}"
            issues.append(
                LedgerIssue(what, "take the lines as they were exported, all of them", CONTEST)
            )
    if public is not None and chained.signed_seq < state.contest.seq:
        what = f"entry {chained.signed_seq} is the last that {public.hex()} has signed for"
        remedy = f"take the ledger from its owner with a head signed at {state.contest.seq}"
        issues.append(LedgerIssue(what, remedy, HEADS))
    return Verified(
        contest=contest,
        seq=state.contest.seq,
        head=state.contest.head,
        public_key=named,
        heads=tuple(heads.values()),
        signed_seq=chained.signed_seq,
        state=state,
        issues=tuple(issues),
    )


class _Chain:
    """Compare the chain over a file's lines with the signed heads."""

    def __init__(self, contest: str | None, heads: dict[int, SignedHead]) -> None:
        self.contest = contest
        self.wanted: dict[int, list[tuple[int, str]]] = {}
        for number, signed in heads.items():
            self.wanted.setdefault(signed.head.seq, []).append((number, signed.head.head_sha256))
        self.issues: list[LedgerIssue] = []
        self.signed_seq = 0

    def over(self, folder: Path, issues: list[LedgerIssue]) -> Iterator[bytes]:
        """Yield the lines of the ledger."""
        head, seq = genesis(self.contest or ""), 0
        self._compare(seq, head)
        try:
            with opened(folder, LEDGER) as stream:
                for line, ended in lines_in(stream, longest=LONGEST_LINE):
                    seq += 1
                    if not ended:
                        issues.append(LedgerIssue("the line has no end", _AS_EXPORTED, LEDGER, seq))
                    head = chain(head, line)
                    yield line
                    self._compare(seq, head)
        except InvalidEntry as error:
            issues += error.issues
        else:
            if not seq:
                issues.append(
                    LedgerIssue("there is no entry", "begin with contest-created", LEDGER)
                )
        for missing, stated in sorted(self.wanted.items()):
            what = f"entry {missing} was signed, the ledger ends at {seq}"
            self.issues += (
                LedgerIssue(what, "take all entries", HEADS, number) for number, _ in stated
            )

    def _compare(self, seq: int, head: bytes) -> None:
        for number, stated in self.wanted.pop(seq, ()):
            if stated == head.hex():
                self.signed_seq = seq
            else:
                entries = f"the entries {self.signed_seq + 1} to {seq}"
                what = f"the head signed at {seq} is {stated}, {entries} give {head.hex()}"
                remedy = f"take {entries} as they were when it was signed"
                self.issues.append(LedgerIssue(what, remedy, HEADS, number))


def _is_format(value: Any) -> bool:
    return type(value) is int and value == FORMAT


def _is_key(value: Any) -> bool:
    return value is None or is_sha256(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_PAGE: Final = (
    Field("format", _is_format, f"{FORMAT}, the only format there is"),
    Field("head_sha256", is_sha256, A_SHA256),
    Field("id", is_contest, A_CONTEST),
    Field("public_key", _is_key, "64 small hex digits, or null for none"),
    Field("seq", is_count, "the position of the last entry"),
)

_HEAD: Final = (
    Field("at", is_timestamp, AN_INSTANT),
    Field("contest", is_contest, A_CONTEST),
    Field("head_sha256", is_sha256, A_SHA256),
    Field("seq", is_count, "the position of an entry"),
    Field("signature", _is_text, "128 small hex digits"),
)


def _page(folder: Path, issues: list[LedgerIssue]) -> dict[str, Any]:
    """Read ``contest.json``: the fields that fit."""
    try:
        with opened(folder, CONTEST) as stream:
            written = stream.read(LARGEST_PAGE + 1)
    except InvalidEntry as error:
        issues += error.issues
        return {}
    page, found = _read(written.removesuffix(b"\n"), _PAGE, of="the page")
    if not found and not written.endswith(b"\n"):
        found = [LedgerIssue("the line has no end", _AS_EXPORTED)]
    issues += (issue.at(CONTEST) for issue in found)
    return page


def _heads(
    folder: Path, *, contest: str | None, public: bytes | None, issues: list[LedgerIssue]
) -> dict[int, SignedHead]:
    """Read ``heads.ndjson``: by line, the heads whose signatures hold."""
    heads: dict[int, SignedHead] = {}
    try:
        with opened(folder, HEADS) as stream:
            for number, (line, ended) in enumerate(lines_in(stream, longest=LARGEST_PAGE), 1):
                value, found = _read(line, _HEAD, of="the head")
                if not ended:
                    found.append(LedgerIssue("the line has no end", _AS_EXPORTED))
                if not found:
                    signature = value.pop("signature")
                    signed = SignedHead(Head(**value), signature)
                    last = next(reversed(heads.values()), None)
                    found = _wrong_in(signed, last, contest=contest, public=public)
                    if not found:
                        heads[number] = signed
                issues += (issue.at(HEADS, number) for issue in found)
    except InvalidEntry as error:
        issues += error.issues
    return heads


def _wrong_in(
    signed: SignedHead, last: SignedHead | None, *, contest: str | None, public: bytes | None
) -> list[LedgerIssue]:
    """List what is wrong with a well-formed head."""
    head = signed.head
    issues = []
    if contest is not None and head.contest != contest:
        what = f"contest is {shown(head.contest)}, this is the ledger of {shown(contest)}"
        issues.append(LedgerIssue(what, "take that contest's heads"))
    if last is not None and (head.seq < last.head.seq or head.at < last.head.at):
        what = f"seq is {head.seq} at {head.at}, before the head above"
        issues.append(LedgerIssue(what, "keep heads in the order they were signed"))
    if public is None:
        issues.append(LedgerIssue("nothing says whose signature it is", "give the public key"))
    elif not signed.is_of(public):
        what = f"the signature is not that of {public.hex()} over this head"
        issues.append(LedgerIssue(what, "take the head as it was signed"))
    return issues


def _read(
    line: bytes, fields: Sequence[Field], *, of: str
) -> tuple[dict[str, Any], list[LedgerIssue]]:
    """Read an object of known fields in canonical JSON: those that fit, and the issues."""
    if len(line) > LARGEST_PAGE:
        return {}, [LedgerIssue(f"{of} is longer than {LARGEST_PAGE:,} bytes", _AS_EXPORTED)]
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return {}, [LedgerIssue(f"{of} is no JSON in UTF-8 ({error})", _AS_EXPORTED)]
    if not isinstance(value, dict):
        return {}, [LedgerIssue(f"{of} is {shown(value)}", "give an object")]
    issues = misfits(value, fields, of=of)
    if not issues and canonical_json(value) != line:
        remedy = "write canonical JSON: sorted keys, each once, no blanks"
        issues.append(LedgerIssue(f"{of} is not in its one form", remedy))
    fits = {
        field.name: value[field.name]
        for field in fields
        if field.name in value and field.holds(value[field.name])
    }
    return fits, issues


def _contest_in(folder: Path) -> str | None:
    """Return the contest the first entry names, if it does."""
    try:
        with opened(folder, LEDGER) as stream:
            for line, _ in lines_in(stream, longest=LONGEST_LINE):
                contest: str | None = read_line(line).body.get("contest")
                return contest
    except InvalidEntry:
        pass
    return None
