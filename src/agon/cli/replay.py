"""``agon replay``: a board rebuilt from the ledger alone, to the same hash."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from agon.cli import parameters
from agon.cli.helping import Command, option
from agon.cli.output import TABLE, deliver
from agon.cli.places import Place, place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agon.app.replay.replay import Replayed
    from agon.ledger.issues import LedgerIssue
    from agon.ledger.proofs import Proof
    from agon.ledger.verification import Verified

_SHOWN: Final = 50


@dataclass(frozen=True)
class _Wanted:
    """Hold what is to be rebuilt."""

    at: str | None
    board: str | None
    edition: str | None


@click.command("replay", cls=Command)
@click.argument("source", metavar="CONTEST|DIR", required=False)
@option("--at", metavar="T", help="How far: a position of the ledger, or an ISO 8601 time.")
@parameters.board
@option("--check", metavar="HASH", help="The board_sha256 it has to have; else exit code 1.")
@option("--edition", metavar="E", help="Score under this edition's own rules instead.")
@option(
    "--proof",
    "proof_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Check this proof, and (with a source) the board it speaks of.",
)
@option(
    "--public-key",
    metavar="HEX",
    help="The house's key (64 digits), which has to have signed for every entry.",
)
@parameters.printing
@place
def command(  # noqa: PLR0913 (one parameter for each option)
    source: str | None,
    *,
    at: str | None,
    board: str | None,
    check: str | None,
    edition: str | None,
    proof_file: Path | None,
    public_key: str | None,
    printing: parameters.Printing,
    place: Place,
) -> None:
    """Rebuild a board from a ledger alone, to the same hash.

    The ledger is that of a contest in the database (or at --server), or an exported folder, for
    which no house is needed. First every line, the chain and the signatures are verified; all
    issues are told, with exit code 1. Without --public-key a folder is believed about whose
    signatures it holds: whoever rewrote all of it can have signed it anew. Take the key from the
    house itself or from an earlier export, never from the folder.

      agon replay spring-ledger/ --at 1200
      agon replay spring --check 3fb1…
      agon replay spring-ledger/ --proof ada.json
      agon replay --proof ada.json --public-key 9c1e…
    """
    public = _key(public_key)
    proof = None if proof_file is None else _proved(proof_file, public)
    if source is None:
        if proof is None:
            raise click.UsageError("name a contest, a folder that was exported, or --proof FILE")
        return
    if proof is not None:
        at, board = str(proof.manifest.seq), proof.manifest.board
        check = check or proof.manifest.board_sha256
    with _ledger(source, place) as folder:
        verified = _verified(folder, public, proof)
        replayed = _replayed(folder, verified, _Wanted(at, board, edition))
        try:
            _print(replayed, verified, printing, known=public)
            if proof is not None:
                _expect_head(replayed, proof)
            if check is not None:
                _expect(replayed, verified, check)
        finally:
            replayed.live.close()


@contextmanager
def _ledger(source: str, place: Place) -> Iterator[Path]:
    """Give the folder of a ledger: the one that is named, or a contest's export."""
    if Path(source).is_dir() and not place.typed:
        yield Path(source)
        return
    with (
        tempfile.TemporaryDirectory(prefix="agon-replay-") as folder,
        place.open(create=False) as house,
    ):
        house.ledgers.export(source, Path(folder) / "ledger")
        yield Path(folder) / "ledger"


def _verified(folder: Path, public: bytes | None, proof: "Proof | None") -> "Verified":
    """Verify a ledger; of a proof, that it speaks of this one.

    Raises:
        CheckFailed: with everything that is wrong.
    """
    from agon.errors import CheckFailed
    from agon.ledger.verification import verify_directory

    verified = verify_directory(folder, public=public)
    _expect_none(verified.issues)
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


def _replayed(folder: Path, verified: "Verified", wanted: _Wanted) -> "Replayed":
    from agon.app.replay.replay import replay
    from agon.cli.progress import working
    from agon.ledger.entry import LONGEST_LINE
    from agon.ledger.files import LEDGER, lines_in, opened

    contest = verified.contest or ""
    with working(f"replaying {contest}"), opened(folder, LEDGER) as stream:
        lines = (line for line, _ in lines_in(stream, longest=LONGEST_LINE))
        return replay(
            lines, contest=contest, at=wanted.at, board=wanted.board, edition=wanted.edition
        )


def _print(
    replayed: "Replayed",
    verified: "Verified",
    printing: parameters.Printing,
    *,
    known: bytes | None,
) -> None:
    """Print the board as agon score does, with position, hashes and who vouches for them."""
    from agon.cli.score import show

    if printing.form == "json":
        from agon.cli.formats import json_chunks

        told = {
            "contest": verified.contest,
            "seq": replayed.seq,
            "head_sha256": replayed.head.hex(),
            "signed_seq": verified.signed_seq,
            "public_key": None if verified.public_key is None else verified.public_key.hex(),
            **replayed.result.to_dict(replayed.board, top=printing.top),
        }
        deliver(json_chunks(told), printing.output)
        return
    show(replayed.result, replayed.board, printing)
    said = f"{verified.contest} at {replayed.seq} of {verified.seq}: the ledger is whole"
    click.echo(f"{said}, {_vouched(verified, known)}", err=True)
    if printing.form == TABLE and printing.output is None:
        click.echo(f"board_sha256 {replayed.board_sha256}")


def _vouched(verified: "Verified", known: bytes | None) -> str:
    """Say who vouches for a ledger, and what that is worth."""
    if not verified.signed_seq:
        return "not signed: anybody can have written it"
    signed = f"signed up to {verified.signed_seq}"
    if known is not None:
        return signed
    key = (verified.public_key or b"").hex()
    return f"{signed} by {key}; whether that key is the house's, only --public-key can tell"


def _expect_head(replayed: "Replayed", proof: "Proof") -> None:
    """Compare the chain's hash with the one that was signed with a proof.

    Raises:
        CheckFailed: the entries are others than they were when the proof was given.
    """
    from agon.errors import CheckFailed

    manifest = proof.manifest
    if replayed.head.hex() != manifest.head_sha256:
        raise CheckFailed(
            f"the head at {manifest.seq} is {replayed.head.hex()}, in the proof it is "
            f"{manifest.head_sha256}: entries were changed since; keep both, and ask the owner"
        )


def _expect(replayed: "Replayed", verified: "Verified", check: str) -> None:
    """Compare the board's hash with the one that was published.

    Raises:
        CheckFailed: it is another one; both are named.
    """
    from agon.errors import CheckFailed

    if replayed.board_sha256 != check.strip().lower():
        raise CheckFailed(
            f"{verified.contest}/{replayed.board.name} at {replayed.seq} is "
            f"{replayed.board_sha256}, expected is {check}; compare --at, --board and the edition"
        )
    click.echo(f"the same: {check}", err=True)


def _proved(file: Path, public: bytes | None) -> "Proof":
    """Check a proof file and tell what it proves.

    Raises:
        CheckFailed: with everything that is wrong with it.
    """
    from agon.ledger.proofs import verify_proof

    found = verify_proof(file.read_bytes(), public=public)
    _expect_none(found.issues)
    assert found.proof is not None  # noqa: S101 - without issues there is one
    manifest = found.proof.manifest
    click.echo(found.proof.line.decode())
    click.echo(
        f"proved: line {found.proof.index + 1} of {manifest.size} of {manifest.contest}/"
        f"{manifest.board} at entry {manifest.seq}, signed by {found.proof.public_key.hex()}"
        + ("" if public is not None else "; whether that key is the house's, only you can tell"),
        err=True,
    )
    return found.proof


def _expect_none(issues: "Sequence[LedgerIssue]") -> None:
    from agon.errors import CheckFailed

    if issues:
        shown = [str(issue) for issue in issues[:_SHOWN]]
        if len(issues) > _SHOWN:
            shown.append(f"… and {len(issues) - _SHOWN:,} more")
        raise CheckFailed("\n".join(shown))


def _key(text: str | None) -> bytes | None:
    if text is None:
        return None
    from agon.errors import Unreadable

    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != 32:  # noqa: PLR2004 (bytes of an Ed25519 key)
        raise Unreadable("a public key has 64 hex digits; the house tells it: …/ledger/head")
    return key
