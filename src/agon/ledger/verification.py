"""Verify a ledger's directory without a server: every line, the chain, the signatures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from agon.kernel.fingerprints import canonical_json
from agon.ledger.attachments import attachment_issues
from agon.ledger.entry import MAX_LINE_BYTES, chain, genesis, read_line
from agon.ledger.files import CONTEST, HEADS, LEDGER, open_file, read_lines, unknown_files
from agon.ledger.fold import LedgerState, check_lines, empty_ledger
from agon.ledger.heads import Head, SignedHead
from agon.ledger.issues import InvalidEntry, LedgerIssue
from agon.ledger.kinds import (
    A_CONTEST,
    A_SHA256,
    AN_INSTANT,
    BodyField,
    field_issues,
    is_contest,
    is_count,
    is_sha256,
    is_timestamp,
    preview,
)
from agon.ledger.proofs import ProofVerification, verify_proof

__all__ = ["DirectoryVerification", "ProofVerification", "verify_directory", "verify_proof"]

FORMAT: Final = 1
MAX_PAGE_BYTES: Final = 65_536
"""Maximum length of ``contest.json`` and of a line of ``heads.ndjson``."""

_AS_EXPORTED = "use the file as it was exported"


@dataclass(frozen=True, kw_only=True)
class DirectoryVerification:
    """The result of verifying a ledger's directory.

    Attributes:
        contest: the contest's id; None if no file has it.
        seq, head: the last entry's position and the chain's hash there (32 bytes), as read.
        public_key: the key of the signatures as the directory names it; None for none.
        heads: the signed heads.
        signed_seq: the last position that a valid signature covers; 0 for none.
        state: the state after the entries.
        issues: everything that is wrong, by file and line.
    """

    contest: str | None
    seq: int
    head: bytes
    public_key: bytes | None
    heads: tuple[SignedHead, ...]
    signed_seq: int
    state: LedgerState
    issues: tuple[LedgerIssue, ...]


def verify_directory(folder: Path, *, public: bytes | None = None) -> DirectoryVerification:
    """Verify a ledger's directory and return every issue.

    The lines must be entries that can follow each other; the chain over them must end at the head
    in ``contest.json`` and pass through every signed head; attachments must have their hashes.
    Entries after ``signed_seq`` could have been changed together with ``contest.json``, and a
    ledger that was rewritten as a whole could have been signed with another key.

    Args:
        folder: the directory.
        public: the public key that must have signed every entry. Without it the signatures are
            verified with the key that the directory names, and may be missing.

    Raises:
        InvalidEntry: it is not a folder.
    """
    issues = unknown_files(folder)
    page = _page(folder, issues)
    stated = page.get("public_key")
    public_stated = None if stated is None else bytes.fromhex(stated)
    if public is not None and public_stated != public:
        fact = f"expected public_key {public.hex()}, got {stated}"
        issues.append(LedgerIssue(fact, "get the ledger from its owner", CONTEST))
    contest = page.get("id") or _contest_in(folder)
    heads = _heads(folder, contest=contest, public=public or public_stated, issues=issues)
    chained = _Chain(contest, heads)
    state, line_issues = check_lines(
        chained.over(folder, issues), start=empty_ledger(contest or "")
    )
    issues += (issue.at(LEDGER, issue.line) for issue in line_issues)
    issues += chained.issues
    for name, value in (("seq", state.contest.seq), ("head_sha256", state.contest.head.hex())):
        if name in page and page[name] != value:
            fact = f"{name} is {preview(page[name])}, the lines of {LEDGER} give {value!r}"
            issues.append(LedgerIssue(fact, "use all lines as they were exported", CONTEST))
    if public is not None and chained.signed_seq < state.contest.seq:
        fact = f"entry {chained.signed_seq} is the last one signed by {public.hex()}"
        remedy = f"get the ledger from its owner with a head signed at {state.contest.seq}"
        issues.append(LedgerIssue(fact, remedy, HEADS))
    issues += attachment_issues(folder)
    return DirectoryVerification(
        contest=contest,
        seq=state.contest.seq,
        head=state.contest.head,
        public_key=public_stated,
        heads=tuple(heads.values()),
        signed_seq=chained.signed_seq,
        state=state,
        issues=tuple(issues),
    )


class _Chain:
    """The comparison of the chain over a file's lines with the signed heads."""

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
            with open_file(folder, LEDGER) as stream:
                for line, ended in read_lines(stream, max_bytes=MAX_LINE_BYTES):
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
            fact = f"entry {missing} was signed, the ledger ends at {seq}"
            self.issues += (
                LedgerIssue(fact, "use all entries", HEADS, number) for number, _ in stated
            )

    def _compare(self, seq: int, head: bytes) -> None:
        for number, stated in self.wanted.pop(seq, ()):
            if stated == head.hex():
                self.signed_seq = seq
            else:
                entries = f"the entries {self.signed_seq + 1} to {seq}"
                fact = f"the head signed at {seq} is {stated}, {entries} give {head.hex()}"
                remedy = f"use {entries} as they were when it was signed"
                self.issues.append(LedgerIssue(fact, remedy, HEADS, number))


def _is_format(value: Any) -> bool:
    return type(value) is int and value == FORMAT


def _is_key(value: Any) -> bool:
    return value is None or is_sha256(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_PAGE: Final = (
    BodyField("format", _is_format, f"{FORMAT}, the only format there is"),
    BodyField("head_sha256", is_sha256, A_SHA256),
    BodyField("id", is_contest, A_CONTEST),
    BodyField("public_key", _is_key, "64 lowercase hex digits, or null for none"),
    BodyField("seq", is_count, "the position of the last entry"),
)

_HEAD: Final = (
    BodyField("at", is_timestamp, AN_INSTANT),
    BodyField("contest", is_contest, A_CONTEST),
    BodyField("head_sha256", is_sha256, A_SHA256),
    BodyField("seq", is_count, "the position of an entry"),
    BodyField("signature", _is_text, "128 lowercase hex digits"),
)


def _page(folder: Path, issues: list[LedgerIssue]) -> dict[str, Any]:
    """Return the valid fields of ``contest.json``."""
    try:
        with open_file(folder, CONTEST) as stream:
            content = stream.read(MAX_PAGE_BYTES + 1)
    except InvalidEntry as error:
        issues += error.issues
        return {}
    page, page_issues = _read(content.removesuffix(b"\n"), _PAGE, subject="the page")
    if not page_issues and not content.endswith(b"\n"):
        page_issues = [LedgerIssue("the line has no end", _AS_EXPORTED)]
    issues += (issue.at(CONTEST) for issue in page_issues)
    return page


def _heads(
    folder: Path, *, contest: str | None, public: bytes | None, issues: list[LedgerIssue]
) -> dict[int, SignedHead]:
    """Return the heads of ``heads.ndjson`` with valid signatures, by line."""
    heads: dict[int, SignedHead] = {}
    try:
        with open_file(folder, HEADS) as stream:
            for number, (line, ended) in enumerate(read_lines(stream, max_bytes=MAX_PAGE_BYTES), 1):
                value, head_issues = _read(line, _HEAD, subject="the head")
                if not ended:
                    head_issues.append(LedgerIssue("the line has no end", _AS_EXPORTED))
                if not head_issues:
                    signature = value.pop("signature")
                    signed = SignedHead(Head(**value), signature)
                    last = next(reversed(heads.values()), None)
                    head_issues = _head_issues(signed, last, contest=contest, public=public)
                    if not head_issues:
                        heads[number] = signed
                issues += (issue.at(HEADS, number) for issue in head_issues)
    except InvalidEntry as error:
        issues += error.issues
    return heads


def _head_issues(
    signed: SignedHead, last: SignedHead | None, *, contest: str | None, public: bytes | None
) -> list[LedgerIssue]:
    """Return what is wrong with a well-formed head."""
    head = signed.head
    issues = []
    if contest is not None and head.contest != contest:
        fact = f"contest is {preview(head.contest)}, this is the ledger of {preview(contest)}"
        issues.append(LedgerIssue(fact, "use that contest's heads"))
    if last is not None and (head.seq < last.head.seq or head.at < last.head.at):
        fact = f"seq is {head.seq} at {head.at}, before the head above"
        issues.append(LedgerIssue(fact, "put heads in the order they were signed"))
    if public is None:
        issues.append(
            LedgerIssue("there is no public key for its signature", "give the public key")
        )
    elif not signed.is_of(public):
        fact = f"the signature is not that of {public.hex()} over this head"
        issues.append(LedgerIssue(fact, "use the head as it was signed"))
    return issues


def _read(
    line: bytes, fields: Sequence[BodyField], *, subject: str
) -> tuple[dict[str, Any], list[LedgerIssue]]:
    """Return the valid fields of an object in canonical JSON, and the issues."""
    if len(line) > MAX_PAGE_BYTES:
        return {}, [LedgerIssue(f"{subject} is longer than {MAX_PAGE_BYTES:,} bytes", _AS_EXPORTED)]
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return {}, [LedgerIssue(f"{subject} is not JSON in UTF-8 ({error})", _AS_EXPORTED)]
    if not isinstance(value, dict):
        return {}, [LedgerIssue(f"{subject} is {preview(value)}", "give an object")]
    issues = field_issues(value, fields, subject=subject)
    if not issues and canonical_json(value) != line:
        remedy = "write canonical JSON: sorted keys, each once, no blanks"
        issues.append(LedgerIssue(f"{subject} is not in canonical form", remedy))
    fits = {
        field.name: value[field.name]
        for field in fields
        if field.name in value and field.holds(value[field.name])
    }
    return fits, issues


def _contest_in(folder: Path) -> str | None:
    """Return the contest that the first entry names, if any."""
    try:
        with open_file(folder, LEDGER) as stream:
            for line, _ in read_lines(stream, max_bytes=MAX_LINE_BYTES):
                contest: str | None = read_line(line).body.get("contest")
                return contest
    except InvalidEntry:
        pass
    return None
