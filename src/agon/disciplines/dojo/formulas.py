"""Compute points from the facts of a submission: gates, brevity, diversity (document 002, 2 to 7).

One function per formula, plain numbers or arrays in and out. The numbers of the season (200, 1000,
1/800, …) are rules and come in as arguments.
"""

import math
import re
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from agon.disciplines.dojo.pairs import first_of_each, number_pairs

UNSPECIFIED: Final = "unspecified"

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_TAG_SEPARATORS: Final = re.compile(r"[\s_-]+")
_Truth = TypeVar("_Truth", bool, Bools)


@dataclass(frozen=True)
class Gates(Generic[_Truth]):
    """Return which gates were passed, for one submission or for an array of them.

    Attributes:
        stage_pass: the first half of the terms is right.
        reward_correct: all terms are right.
    """

    stage_pass: _Truth
    reward_correct: _Truth


@overload
def brevity(l_chars: int, *, b_max: float, beta: float) -> int: ...
@overload
def brevity(l_chars: Ints, *, b_max: float, beta: float) -> Ints: ...
def brevity(l_chars: int | Ints, *, b_max: float, beta: float) -> int | Ints:
    """Return the brevity bonus ``floor(b_max · e^(−beta · L))`` (document 002, 5 Brevity Bonus).

    Args:
        l_chars: canonical length L in bytes, 0 or more; one length or an array.
        b_max: largest bonus in points.
        beta: decay per byte.

    Returns:
        Points, in the shape of ``l_chars``. An array's values equal those of its elements:
        both go through the same ``exp``, so that no vector instruction moves a point.

    Raises:
        ValueError: when a length is negative.

    Example:
        >>> [brevity(length, b_max=200, beta=1 / 800) for length in (0, 800, 4238, 4239)]
        [200, 73, 1, 0]
    """
    if isinstance(l_chars, np.ndarray):
        lengths, where = np.unique(l_chars, return_inverse=True)
        points = [_brevity(int(length), b_max, beta) for length in lengths]
        return np.array(points, dtype=np.int64)[where].reshape(l_chars.shape)
    return _brevity(l_chars, b_max, beta)


def _brevity(length: int, b_max: float, beta: float) -> int:
    if length < 0:
        raise ValueError(f"a length is never negative, got {length}")
    return math.floor(b_max * math.exp(-beta * length))


def stage_length(n_check: int) -> int:
    """Count the terms of the stage gate: half of ``n_check``, rounded down (document 002, 2.1).

    Raises:
        ValueError: when ``n_check`` is below 2, so that half of it would be no gate.

    Example:
        >>> stage_length(200), stage_length(51)
        (100, 25)
    """
    if n_check < 2:  # noqa: PLR2004 - the smallest number whose half is a gate
        raise ValueError(f"n_check must be at least 2, got {n_check}")
    return n_check // 2


@overload
def gates(terms_matched: int, *, n_check: int) -> Gates[bool]: ...
@overload
def gates(terms_matched: Ints, *, n_check: int) -> Gates[Bools]: ...
def gates(terms_matched: Any, *, n_check: int) -> Gates[Any]:
    """Judge both gates from the length of the equal prefix (document 002, 2 Correctness Gates).

    Args:
        terms_matched: how many first terms are right; one number or an array.
        n_check: terms of the problem. Further terms do not count.

    Example:
        >>> gates(150, n_check=200)
        Gates(stage_pass=True, reward_correct=False)
    """
    stage = stage_length(n_check)
    return Gates(terms_matched >= stage, terms_matched >= n_check)


def gate_text(passed: Gates[bool], *, n_check: int) -> str:
    """Return which gates were passed in words, without the number of matched terms.

    Example:
        >>> gate_text(gates(150, n_check=200), n_check=200)
        'stage pass: the first 100 terms are right, not all 200'
        >>> gate_text(gates(57, n_check=200), n_check=200)
        'no stage pass: not all of the first 100 terms are right'
    """
    stage = stage_length(n_check)
    if passed.reward_correct:
        return f"reward correct: all {n_check} terms are right"
    if passed.stage_pass:
        return f"stage pass: the first {stage} terms are right, not all {n_check}"
    return f"no stage pass: not all of the first {stage} terms are right"


@overload
def base_score(passed: Gates[bool], *, stage_base: int, reward_base: int) -> int: ...
@overload
def base_score(passed: Gates[Bools], *, stage_base: int, reward_base: int) -> Ints: ...
def base_score(
    passed: Gates[bool] | Gates[Bools], *, stage_base: int, reward_base: int
) -> int | Ints:
    """Return the points of the gates: 0, ``stage_base`` or ``reward_base`` (document 002, 4).

    Example:
        >>> base_score(gates(150, n_check=200), stage_base=200, reward_base=1000)
        200
    """
    reward, stage = passed.reward_correct, passed.stage_pass
    if isinstance(reward, np.ndarray):
        return np.where(reward, reward_base, np.where(stage, stage_base, 0)).astype(np.int64)
    if reward:
        return reward_base
    return stage_base if stage else 0


def normal_tag(tag: object, notes: object, *, require_notes: bool, max_length: int) -> str:
    """Return the declared tag, or ``unspecified`` without a usable declaration (document 002, 6.1).

    Nothing usable is: missing, not a string, empty or only blanks, more than ``max_length``
    characters, or, with ``require_notes``, without a non-blank text in ``notes``. A usable tag
    stays as it was written.

    Example:
        >>> normal_tag("closed_form", None, require_notes=False, max_length=64)
        'closed_form'
        >>> normal_tag("closed_form", " ", require_notes=True, max_length=64)
        'unspecified'
    """
    if not isinstance(tag, str) or not tag.strip() or len(tag) > max_length:
        return UNSPECIFIED
    if require_notes and not (isinstance(notes, str) and notes.strip()):
        return UNSPECIFIED
    return tag


def folded_tag(tag: str) -> str:
    """Return a tag without case, outer blanks, and differences between ``-``, ``_`` and blanks.

    Source: records page, 9.

    Example:
        >>> {folded_tag(tag) for tag in ("closed_form", "Closed-Form", " closed  form ")}
        {'closed_form'}
    """
    return _TAG_SEPARATORS.sub("_", tag.strip()).casefold()


@dataclass(frozen=True)
class Diversity:
    """The diversity points of one submission.

    Attributes:
        first_tag: points for the first submission of its tag.
        shared: points each entry gets once enough tags agree.
        bonus: their sum, capped.
    """

    first_tag: int
    shared: int
    bonus: int


@dataclass(frozen=True)
class Families:
    """The two facts that decide diversity points.

    Attributes:
        first_of_tag: per entry, whether it is the first of its tag on its problem.
        distinct_tags: per problem, how many tags its entries have.
    """

    first_of_tag: Bools
    distinct_tags: Ints


def families(problem: Ints, tag: Ints, *, problems: int, tags: int) -> Families:
    """Return each tag's first entry per problem, and the number of tags (document 002, 6.2, 6.4).

    An entry is a reward-correct submission created no later than the freeze. Entries are in the
    order of arrival: created_at, source hash, id. Of each user and tag only the earliest counts,
    and the first of a tag is the first of its user's as well: who sent an entry need not be known.

    Args:
        problem: the problem of each entry, numbered from 0.
        tag: the tag of each entry after :func:`normal_tag`, numbered from 0.
        problems: how many problems there are.
        tags: how many tags there are.

    Example:
        >>> result = families(np.array([0, 0, 0, 1]), np.array([5, 5, 2, 5]), problems=2, tags=6)
        >>> result.first_of_tag.tolist(), result.distinct_tags.tolist()
        ([True, False, True, True], [2, 1])
    """
    pairs, bound = number_pairs(problem, tag, rights=tags)
    first = first_of_each(pairs, bound=bound)
    return Families(first, np.bincount(problem[first], minlength=problems))


def diversity_points(
    *,
    first_of_tag: bool,
    distinct_tags: int,
    first_tag_bonus: int,
    shared_bonus_each: int,
    shared_repeats: int,
    cap: int,
) -> Diversity:
    """Return one submission's diversity points (document 002, 6 Diversity).

    The first submission of each distinct tag gets ``first_tag_bonus``. With at least two distinct
    tags on a problem every entry gets ``shared_repeats · shared_bonus_each``. The sum is capped.

    Args:
        first_of_tag: whether it is the first of its tag, see :func:`families`.
        distinct_tags: tags on the problem.
        first_tag_bonus: points for the first of a tag.
        shared_bonus_each: points of one shared bonus.
        shared_repeats: number of shared bonuses.
        cap: maximum points of a submission.

    Example:
        >>> diversity_points(first_of_tag=True, distinct_tags=2, first_tag_bonus=30,
        ...                  shared_bonus_each=10, shared_repeats=2, cap=50)
        Diversity(first_tag=30, shared=20, bonus=50)
    """
    one_family = 1
    first = first_tag_bonus if first_of_tag else 0
    shared = shared_bonus_each * shared_repeats if distinct_tags > one_family else 0
    return Diversity(first, shared, min(first + shared, cap))
