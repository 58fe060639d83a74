"""``agon replay``: compute a board from the ledger only, to the same hash."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agon.cli.shared import parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver
from agon.cli.shared.tables import echo
from agon.cli.shared.target import Target, target

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agon.api.models.boards import BoardProof
    from agon.app.replay.replay import Replay
    from agon.ledger.issues import LedgerIssue
    from agon.ledger.proofs import Proof
    from agon.ledger.verification import DirectoryVerification

_SHOWN: Final = 50


@dataclass(frozen=True)
class _Request:
    """The board to compute."""

    at: str | None
    board: str | None
    edition: str | None


@click.command("replay", cls=Command)
@click.argument("source", metavar="CONTEST|DIR", required=False)
@option("--at", metavar="T", help="Up to this position of the ledger, or ISO 8601 time.")
@parameters.board
@option("--check", metavar="HASH", help="The expected board_sha256; exit code 1 for another.")
@option("--edition", metavar="E", help="Score under this edition's own rules instead.")
@option(
    "--proof",
    "proof_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Verify this proof, and with a source also the board it is about.",
)
@option(
    "--public-key",
    metavar="HEX",
    help="The service's key (64 hex digits), which must have signed every entry.",
)
@parameters.printing
@target
def command(  # noqa: PLR0913 (one parameter for each option)
    source: str | None,
    *,
    at: str | None,
    board: str | None,
    check: str | None,
    edition: str | None,
    proof_file: Path | None,
    public_key: str | None,
    printing: parameters.OutputOptions,
    target: Target,
) -> None:
    """Compute a board from a ledger alone, to the same hash.

    The ledger is that of a contest in the database (or at --server), or an exported folder, for
    which no service is needed. First every line, the chain and the signatures are verified, and
    the recorded rules are compared with those of their edition; the draws of a live arena are
    repeated. All issues are listed, with exit code 1; records of a round that the round did not
    make are noted. Without --public-key the key in the folder is
    used, so that a folder that was rewritten and signed with another key passes. Take the key from
    the service itself or from an earlier export, never from the folder.

      agon replay spring-ledger/ --at 1200
      agon replay spring --check 3fb1…
      agon replay spring-ledger/ --proof ada.json
      agon replay --proof ada.json --public-key 9c1e…
    """
    public = _key(public_key)
    proof = None if proof_file is None else _verify_proof_file(proof_file, public)
    if source is None:
        if proof is None:
            raise click.UsageError("name a contest, an exported folder, or --proof FILE")
        return
    if proof is not None:
        at, board = str(proof.manifest.seq), proof.manifest.board
        check = check or proof.manifest.board_sha256
    from agon.cli.shared.output import working

    with open_ledger(source, target, check_rules=edition is None) as folder:
        with working("verifying"):
            verified = _verify(folder, public, proof)
        replayed = _replay(folder, verified, _Request(at, board, edition))
        try:
            _require_draws(folder, replayed)
            _print(replayed, verified, printing, public=public)
            if proof is not None:
                _require_head(replayed, proof)
            if check is not None:
                _require_hash(replayed, verified, check)
        finally:
            replayed.live.close()


@contextmanager
def open_ledger(source: str, target: Target, *, check_rules: bool) -> Iterator[Path]:
    """Open the folder of a ledger: an exported one, or a new export of a contest."""
    if Path(source).is_dir() and not target.typed:
        yield Path(source)
        return
    if Path(source).name != source and not target.typed:
        from agon.errors import NotFound

        raise NotFound(f"there is no folder {source}; agon contest export writes one")
    with (
        tempfile.TemporaryDirectory(prefix="agon-replay-") as folder,
        target.open(create=False) as service,
    ):
        if check_rules:
            _require_published_rules(service.boards.list(source).items)
        service.ledgers.export(source, Path(folder) / "ledger")
        yield Path(folder) / "ledger"


def _require_published_rules(boards: "Iterable[BoardProof]") -> None:
    """Compare the rules that published boards record with those of their editions.

    Raises:
        CheckFailed: they differ; the rules that do are named.
        NotFound: this agon has no such edition.
    """
    from agon.ledger.rules_comparison import check_rules

    issues = (check_rules(board.edition, board.overrides, board.rules_sha256) for board in boards)
    # Boards of one contest have one edition: each issue is reported once.
    _require_none(list(dict.fromkeys(issue for issue in issues if issue is not None)))


def _verify(folder: Path, public: bytes | None, proof: "Proof | None") -> "DirectoryVerification":
    """Verify a ledger, and that a proof belongs to it.

    Raises:
        CheckFailed: with all issues.
    """
    from agon.errors import CheckFailed
    from agon.ledger.verification import verify_directory

    verified = verify_directory(folder, public=public)
    _require_none(verified.issues)
    if proof is not None and proof.manifest.contest != verified.contest:
        raise CheckFailed(
            f"the proof is about {proof.manifest.contest}, the ledger is that of "
            f"{verified.contest}; give the ledger it belongs to"
        )
    if proof is not None and verified.public_key not in (None, proof.public_key):
        raise CheckFailed(
            f"the proof is signed by {proof.public_key.hex()}, the ledger by "
            f"{(verified.public_key or b'').hex()}; take both from the contest's owner"
        )
    return verified


def _replay(folder: Path, verified: "DirectoryVerification", request: _Request) -> "Replay":
    from agon.app.replay.replay import replay
    from agon.cli.shared.output import working
    from agon.ledger.entry import MAX_LINE_BYTES
    from agon.ledger.files import LEDGER, open_file, read_lines

    contest = verified.contest or ""
    with working(f"replaying {contest}"), open_file(folder, LEDGER) as stream:
        lines = (line for line, _ in read_lines(stream, max_bytes=MAX_LINE_BYTES))
        return replay(
            lines, contest=contest, at=request.at, board=request.board, edition=request.edition
        )


def _require_draws(folder: Path, replayed: "Replay") -> None:
    """Repeat the draws of rounds that were played live; print what others added to rounds.

    Raises:
        CheckFailed: with everything in which they differ.
    """
    from agon.app.arena.draw_audit import check_draws
    from agon.ledger.entry import MAX_LINE_BYTES
    from agon.ledger.files import LEDGER, open_file, read_lines

    with open_file(folder, LEDGER) as stream:
        lines = (line for line, _ in read_lines(stream, max_bytes=MAX_LINE_BYTES))
        report = check_draws(lines, replayed.live.state, until=replayed.seq)
    _require_none(report.issues)
    for note in report.notes:
        echo(f"note: {note}", err=True)


def _print(
    replayed: "Replay",
    verified: "DirectoryVerification",
    printing: parameters.OutputOptions,
    *,
    public: bytes | None,
) -> None:
    """Print the board as agon score does, with its position, hashes and signatures."""
    from agon.cli.score import show

    if printing.form == "json":
        from agon.cli.shared.formats import json_chunks

        value = {
            "contest": verified.contest,
            "seq": replayed.seq,
            "head_sha256": replayed.head.hex(),
            "signed_seq": verified.signed_seq,
            "public_key": None if verified.public_key is None else verified.public_key.hex(),
            **replayed.result.to_dict(replayed.board, top=printing.top),
        }
        deliver(json_chunks(value), printing.output)
        return
    show(replayed.result, replayed.board, printing)
    result = f"{verified.contest} at {replayed.seq} of {verified.seq}: ledger verified"
    click.echo(f"{result}, {_signatures(verified, public)}", err=True)
    if printing.form == TABLE and printing.output is None:
        click.echo(f"board_sha256 {replayed.board_sha256}")


def _signatures(verified: "DirectoryVerification", public: bytes | None) -> str:
    """Return up to where a ledger is signed, and by which key."""
    if not verified.signed_seq:
        return "not signed: its author is unknown"
    signed = f"signed up to {verified.signed_seq}"
    if public is not None:
        return signed
    key = (verified.public_key or b"").hex()
    return f"{signed} by {key}; give --public-key to check that this is the service's key"


def _require_head(replayed: "Replay", proof: "Proof") -> None:
    """Compare the chain's hash with the one that was signed with a proof.

    Raises:
        CheckFailed: entries were changed since the proof was made.
    """
    from agon.errors import CheckFailed

    manifest = proof.manifest
    if replayed.head.hex() != manifest.head_sha256:
        raise CheckFailed(
            f"the head at {manifest.seq} is {replayed.head.hex()}, in the proof it is "
            f"{manifest.head_sha256}: entries were changed since; keep both, and ask the owner"
        )


def _require_hash(replayed: "Replay", verified: "DirectoryVerification", check: str) -> None:
    """Compare the board's hash with the expected one.

    Raises:
        CheckFailed: they differ.
    """
    from agon.errors import CheckFailed

    if replayed.board_sha256 != check.strip().lower():
        raise CheckFailed(
            f"{verified.contest}/{replayed.board.name} at {replayed.seq}: expected board_sha256 "
            f"{check}, got {replayed.board_sha256}; compare --at, --board and the edition"
        )
    click.echo(f"hash matches: {check}", err=True)


def _verify_proof_file(file: Path, public: bytes | None) -> "Proof":
    """Verify a proof file and print what it proves.

    Raises:
        CheckFailed: with all its issues.
    """
    from agon.ledger.proofs import verify_proof

    verified = verify_proof(file.read_bytes(), public=public)
    _require_none(verified.issues)
    assert verified.proof is not None  # noqa: S101 - without issues there is one
    manifest = verified.proof.manifest
    click.echo(verified.proof.line.decode())
    click.echo(
        f"proved: line {verified.proof.index + 1} of {manifest.size} of {manifest.contest}/"
        f"{manifest.board} at entry {manifest.seq}, signed by {verified.proof.public_key.hex()}"
        + ("" if public is not None else "; check that this is the service's key"),
        err=True,
    )
    return verified.proof


def _require_none(issues: "Sequence[LedgerIssue]") -> None:
    from agon.errors import CheckFailed

    if issues:
        listed = [str(issue) for issue in issues[:_SHOWN]]
        if len(issues) > _SHOWN:
            listed.append(f"… and {len(issues) - _SHOWN:,} more")
        raise CheckFailed("\n".join(listed))


def _key(text: str | None) -> bytes | None:
    if text is None:
        return None
    from agon.errors import Unreadable

    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != 32:  # noqa: PLR2004 (bytes of an Ed25519 key)
        raise Unreadable(
            "expected a public key of 64 hex digits; the service returns its key at …/ledger/head"
        )
    return key
