"""Score a source that may be the exported ledger of a contest."""

from pathlib import Path
from typing import Any, Final, Unpack

from agon.app.analysis.options import ReadingOptions, ScoringOptions
from agon.app.analysis.records import RecordsSource, other_discipline
from agon.app.analysis.score import Result, score
from agon.app.replay.replay import replay
from agon.errors import Conflict
from agon.ledger.directory import import_directory
from agon.ledger.entry import MAX_LINE_BYTES
from agon.ledger.files import LEDGER, open_file, read_lines

_OF_TABLES: Final = tuple(ReadingOptions.__annotations__)


def score_source(
    discipline_name: str, source: RecordsSource, **options: Unpack[ScoringOptions]
) -> Result:
    """Score records, or the folder of an exported ledger as its contest does.

    A ledger is scored under the rules in force at its end, or at ``as_of``; ``edition`` and
    ``overrides`` replace them. It is verified before.

    Args:
        discipline_name: the name of the discipline.
        source: what :func:`agon.score` takes, or the folder of a ledger.
        options: as :func:`agon.score` takes them.

    Raises:
        Conflict: the ledger is of another discipline, or an option is about tables.
        InvalidEntry: with all that is wrong with the ledger.
        NotFound, InvalidRule, InvalidRecords, NotScorable, Unreadable: as ``score`` does.
    """
    if not isinstance(source, str | Path) or not (Path(source) / LEDGER).is_file():
        return score(discipline_name, source, **options)
    stated = [name for name in _OF_TABLES if options.get(name)]
    if stated:
        raise Conflict(
            f"{source} is an exported ledger, whose tables have the names of the schema: leave "
            f"out {', '.join(stated)}"
        )
    return _score_ledger(
        discipline_name,
        Path(source),
        edition=options.get("edition"),
        overrides=options.get("overrides"),
        as_of=options.get("as_of"),
    )


def _score_ledger(
    discipline_name: str, folder: Path, *, edition: str | None, overrides: Any, as_of: Any
) -> Result:
    """Return what the contest of a ledger shows, or would show under other rules."""
    verified = import_directory(folder)
    if verified.state.contest.discipline != discipline_name:
        raise other_discipline(discipline_name, verified.state.contest.discipline)
    with open_file(folder, LEDGER) as stream:
        lines = (line for line, _ in read_lines(stream, max_bytes=MAX_LINE_BYTES))
        live = replay(lines, contest=verified.contest, at=as_of, edition=edition).live
    kept = live.state.adoptions[-1].overrides if edition is None else {}
    stated = None if edition is None and not overrides else {**kept, **(overrides or {})}
    return live.result(edition=edition, overrides=stated)
