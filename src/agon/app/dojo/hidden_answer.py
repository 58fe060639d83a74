"""The hidden answer of a problem: its source and terms, in the organizer's and the revealed file.

Both files have the same form. The organizer's file is readable by its owner alone; a revealed one
is for everyone to compare with the ``P_hash`` that was published first.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from agon.app.dojo.problems import Problem, first_index_of, problem_of
from agon.app.files import FileIssue, InvalidPackage, json_page, read_object

_MAX_FILE_BYTES: Final = 1 << 30
_TERM: Final = re.compile(r"0|-?[1-9][0-9]*")


@dataclass(frozen=True)
class HiddenAnswer:
    """A problem with its terms (decimal text, from its first index on)."""

    problem: Problem
    terms: tuple[str, ...] = field(repr=False)

    @property
    def package(self) -> dict[str, Any]:
        """Return the content of a ``problem-published`` entry: declaration, source and terms."""
        return {
            **self.problem.declaration(),
            "first_index": self.problem.first_index,
            "source": self.problem.source.decode(),
            "terms": list(self.terms),
        }

    def to_bytes(self, **more: Any) -> bytes:
        """Return it as a JSON file, with further keys at its end."""
        return json_page({"problem_id": self.problem.id, **self.package, **more})


def read_answer(file: Path) -> HiddenAnswer:
    """Read an organizer's or a revealed file, and check that its source has its ``P_hash``.

    Raises:
        InvalidPackage: with everything that is wrong with it.
    """
    where = str(file)
    content = read_object(file, where=where, most=_MAX_FILE_BYTES)
    issues: list[FileIssue] = []
    source = content.get("source")
    if not isinstance(source, str):
        raise InvalidPackage(FileIssue(where, "has no source", "name a sealed or a revealed file"))
    declared = {key: content.get(key) for key in _DECLARED}
    declared["first_index"] = content.get("first_index", first_index_of({}))
    problem = problem_of(
        declared, source.encode("utf-8", "replace"), issues=issues, declaration=where, setter=where
    )
    terms = _terms(content.get("terms"))
    if problem is not None and len(terms) != problem.n_check:
        issues.append(
            FileIssue(where, "terms are not N_check decimal integers", "use the complete file")
        )
    if problem is not None and content.get("problem_id") != problem.id:
        fact = f"problem_id is {content.get('problem_id')!r}, its source has {problem.id}"
        issues.append(FileIssue(where, fact, "use the file as it was written"))
    if issues or problem is None:
        raise InvalidPackage(*issues)
    return HiddenAnswer(problem, terms)


_DECLARED: Final = ("title", "interface", "N_check", "setter_user_id", "freeze_started_at", "slug")


def _terms(value: Any) -> tuple[str, ...]:
    """Return the terms; none when any of them is not a decimal integer."""
    terms = value if isinstance(value, list) else []
    valid = all(isinstance(term, str) and _TERM.fullmatch(term) for term in terms)
    return tuple(terms) if valid else ()
