"""Reveal a problem's answer, and verify a source against the published hash."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agon.app.analysis.score import score
from agon.app.dojo.hidden_answer import HiddenAnswer
from agon.app.dojo.season import SeasonFolder, is_season
from agon.app.files import MAX_SOURCE_FILE, read_bytes, read_object
from agon.disciplines.dojo.canonical import canonicalize, source_hash
from agon.errors import NotFound, Unreadable
from agon.records.writing import write_atomically

_MAX_FILE_BYTES = 1 << 30


def reveal(answer: HiddenAnswer, out: Path, *, season: Path | None = None) -> None:
    """Write a problem's source, all its terms and its ``P_hash`` for everyone.

    Args:
        answer: the problem with its terms.
        out: the file to write.
        season: records with the problem's submissions; the distribution of their method tags is
            added then (document 002, 6.3). In a season that was judged here the reveal is entered.

    Raises:
        NotFound: the season has no such problem.
    """
    more = {}
    if season is not None:
        more = {"method_tags": method_tags(answer.problem.id, season)}
        if is_season(season):
            with SeasonFolder.open(season, new=False) as judged:
                judged.reveal(answer.problem.id)
    write_atomically(out, answer.to_bytes(**more))


def published_package(season: Path, problem_id: str) -> Mapping[str, Any] | None:
    """Return what a judged season published under a problem's id; None where there is nothing."""
    if not is_season(season):
        return None
    with SeasonFolder.open(season, new=False) as judged:
        published = judged.problems.get(problem_id)
    return None if published is None else published.package


def method_tags(problem_id: str, season: Path) -> dict[str, int]:
    """Count the method tags of a problem's submissions that count for diversity.

    Raises:
        NotFound: the season has no such problem.
    """
    scored: Any = score("dojo", season).scored
    judgement = scored.judgement
    ids = judgement.facts.problems.ids
    if problem_id not in ids:
        raise NotFound(f"{season} has no problem {problem_id}")
    rows = judgement.in_window & (judgement.facts.submissions.problem == ids.index(problem_id))
    counted = Counter(tag for tag, counts in zip(judgement.tags, rows, strict=True) if counts)
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True)
class HashVerification:
    """The published hash and the hash of a source."""

    promised: str
    computed: str

    @property
    def holds(self) -> bool:
        """Whether the source has the hash that was published."""
        return self.promised == self.computed


def verify(file: Path, promised: str | None = None) -> HashVerification:
    """Compute ``P_hash`` from a source, or from the source in a revealed file.

    P_hash = SHA-256 of the canonical bytes (document 002, 1.3).

    Args:
        file: a ``.json`` file is a revealed one, any other is a setter's source.
        promised: the published hash; None: the one a revealed file names.

    Raises:
        Unreadable: the file cannot be read, or there is no hash to compare with.
    """
    where = str(file)
    if file.suffix.lower() == ".json":
        content = read_object(file, where=where, most=_MAX_FILE_BYTES)
        source, stated = content.get("source"), content.get("problem_id")
        if not isinstance(source, str) or not isinstance(stated, str):
            raise Unreadable(f"{file}: has no source and problem_id; name a revealed file")
        raw, promised = source.encode("utf-8", "replace"), promised or stated
    else:
        raw = read_bytes(file, most=MAX_SOURCE_FILE, where=where)
    if promised is None:
        raise Unreadable(f"{file}: nothing to compare with; give the published hash with --hash")
    return HashVerification(promised.strip().lower(), source_hash(canonicalize(raw)))
