"""Name the formats that can be imported, and import one."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from agon.app.importers.imported import Imported
from agon.errors import Conflict, NotFound, did_you_mean


@dataclass(frozen=True)
class Format:
    """One format that can be imported.

    Attributes:
        name: its name, also that of its module.
        discipline: whose records come out.
        what: what is read, in one sentence.
    """

    name: str
    discipline: str
    what: str


FORMATS: Mapping[str, Format] = {
    one.name: one
    for one in (
        Format(
            "arena-battles",
            "arena",
            "Battles as Chatbot Arena publishes them: model_a, model_b, winner.",
        ),
        Format(
            "comparisons",
            "arena",
            "Comparisons of two answers: left, right, winner and, if known, worker and pair id.",
        ),
        Format(
            "peerbench",
            "community",
            "PeerBench's own tables: a folder, an SQLite or DuckDB file, or postgresql://….",
        ),
        Format(
            "bittensor-evaluations",
            "challenge",
            "Evaluations by a subnet's validators: uid or hotkey, validator, score, stake, epoch.",
        ),
        Format(
            "challenge-runs",
            "challenge",
            "Runs of agon challenge run: one run's folder, or a folder of several.",
        ),
        Format(
            "harbor",
            "challenge",
            "Results of Harbor: the folder of a job, or of several, with a result.json per trial.",
        ),
    )
}


def import_records(
    name: str, source: str | Path, *, audit: Path | None = None, unit: str | None = None
) -> Imported:
    """Return the records of a source in a named format; nothing is written.

    Args:
        name: one of :data:`FORMATS`.
        source: a file, a folder or an address, as the format has it.
        audit: of ``comparisons``: a file of verdicts on the pairs.
        unit: of ``comparisons``: whether a match is one of the ``pairs`` or of the ``votes``.

    Raises:
        NotFound: there is no such format or source.
        Conflict: a choice that the format does not have.
        InvalidRecords: with everything that is wrong, at once.
        Unreadable: the source is not in that format.

    Example:
        >>> votes = "src/agon/examples/llmfao/crowd-comparisons.csv"
        >>> made = import_records("comparisons", votes, unit="votes")
        >>> made.discipline, made.tables["bots"].num_rows, made.tables["matches"].num_rows
        ('arena', 59, 8931)
    """
    if name not in FORMATS:
        raise NotFound(f"there is no format {name!r}: {did_you_mean(name, FORMATS)}")
    choices = {
        key: value for key, value in {"audit": audit, "unit": unit}.items() if value is not None
    }
    if choices and name != "comparisons":
        raise Conflict(f"{name} has no {' or '.join(choices)}; only comparisons does")
    module = import_module(f"agon.app.importers.{name.replace('-', '_')}")
    imported: Imported = module.read(str(source), **choices)
    return imported
