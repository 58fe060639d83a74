"""Explain dojo scores: gates, brevity and diversity of a submission; problems of a season."""

import math
from typing import Any

import numpy as np

from agon.disciplines.dojo import formulas
from agon.disciplines.dojo.facts import NEVER, Problems
from agon.disciplines.dojo.judgement import JUDGED, Judgement, diversity_of, utc_text
from agon.errors import NotFound
from agon.kernel.boards import Board
from agon.kernel.explanations import (
    Explanation,
    NextStep,
    Part,
    scored_explanation,
    unscored_explanation,
)
from agon.kernel.findings import RecordRefs


def season(j: Judgement, user: int, board: Board) -> Explanation:
    """Explain a season's total: one part per problem, made of the best submission there."""
    s, problems = j.facts.submissions, j.facts.problems
    rows = [int(row) for row in j.best if s.user[row] == user]
    name = s.users[user]
    parts = tuple(
        Part(
            name=_problem_name(problems, int(s.problem[row])),
            points=float(j.scores[row]),
            inputs={"problem": problems.ids[s.problem[row]], "submission": s.ids[row],
                    "base": int(j.base[row]), "brevity": int(j.brevity[row]),
                    "diversity": int(j.diversity[row])},
            rules={},
            text=f"best submission {s.ids[row]}: {_verdict(j, row)}, {s.l_chars[row]} bytes",
            missing=_missing_terms(j, row),
            records=(_all_of(j, user, int(s.problem[row])),),
        )
        for row in sorted(rows, key=lambda row: s.problem[row])
    )  # fmt: skip
    if not rows:
        return _explain_unscored(j, user, board, np.flatnonzero(s.user == user))
    row = board.row(name)
    notes = _not_counted(j, np.flatnonzero(s.user == user))
    return scored_explanation(board, row, parts, notes=notes)


def _problem_name(problems: Problems, place: int) -> str:
    """Return a problem's title, with its id where the title is not unique; else its id."""
    title, name = problems.titles[place], f"problem:{problems.ids[place]}"
    if not title:
        return name
    return title if problems.titles.count(title) == 1 else f"{title} ({name})"


def problem(j: Judgement, user: int, place: int, board: Board) -> Explanation:
    """Explain the best submission of a user on one problem.

    Raises:
        NotFound: the user has no submission to this problem.
    """
    s = j.facts.submissions
    name = s.users[user]
    own = np.flatnonzero((s.user == user) & (s.problem == place))
    if not len(own):
        raise NotFound(f"{name} has no submission on {board.name}")
    best = [int(row) for row in j.best if s.user[row] == user and s.problem[row] == place]
    if not best:
        return _explain_unscored(j, user, board, own)
    row = board.row(name)
    return scored_explanation(
        board, row, _parts(j, best[0]),
        notes=(*_not_counted(j, own), *_others(j, own, best[0])),
        context={**({"title": title} if (title := j.facts.problems.titles[place]) else {}),
                 "submission": s.ids[best[0]], "source_hash": s.hashes[best[0]],
                 "created_at": utc_text(s.created[best[0]])},
    )  # fmt: skip


def _parts(j: Judgement, row: int) -> tuple[Part, ...]:
    return (_base(j, row), _brevity(j, row), _diversity(j, row))


def _base(j: Judgement, row: int) -> Part:
    s, rules = j.facts.submissions, j.rules
    terms = int(j.n_check[s.problem[row]])
    stage = formulas.stage_length(terms)
    missing = _missing_terms(j, row)
    matched = min(int(s.matched[row]), terms) if j.verdicts[row] in JUDGED else 0
    known = {} if _is_withheld(j, row) else {"terms_matched": matched}
    return Part(
        name="base",
        points=float(j.base[row]),
        inputs={"verdict": str(j.verdicts[row]), **known, "n_check": terms,
                "stage_length": stage},
        rules={"stage_base": rules.stage_base, "reward_base": rules.reward_base},
        threshold=float(terms if j.stage[row] else stage),
        text=_verdict(j, row),
        missing=missing,
        step={} if missing is None else {"more": 1},
        records=(RecordRefs("submissions", (s.ids[row],), 1),),
    )  # fmt: skip


def _verdict(j: Judgement, row: int) -> str:
    s = j.facts.submissions
    terms = int(j.n_check[s.problem[row]])
    if j.reward[row]:
        return f"reward correct: all {terms} terms are right"
    if j.verdicts[row] in JUDGED and _is_withheld(j, row):
        passed = formulas.Gates(bool(j.stage[row]), bool(j.reward[row]))
        return formulas.gate_text(passed, n_check=terms)
    matched = int(s.matched[row])
    if j.verdicts[row] in JUDGED:
        gate = "stage pass" if j.stage[row] else "no stage pass"
        return f"{gate}: the first {matched} of {terms} terms are right"
    violations = j.violations.get(int(s.source[row]), ())
    why = "; ".join(f"line {violation.line}: {violation.what}" for violation in violations[:3])
    return f"{j.verdicts[row]}" + (f" ({why})" if why else "")


def _missing_terms(j: Judgement, row: int) -> str | None:
    s = j.facts.submissions
    if j.reward[row]:
        return None
    if j.verdicts[row] not in JUDGED:
        return f"a program that is not refused ({j.verdicts[row]})"
    terms = int(j.n_check[s.problem[row]])
    needed = terms if j.stage[row] else formulas.stage_length(terms)
    gate = "reward correct" if j.stage[row] else "a stage pass"
    if _is_withheld(j, row):
        return f"the first {needed} terms right for {gate}"
    return f"{needed - int(s.matched[row])} more right terms for {gate}"


def _is_withheld(j: Judgement, row: int) -> bool:
    """Return whether the number of a submission's matched terms is not to be named."""
    return int(j.facts.submissions.problem[row]) in j.withheld


def _brevity(j: Judgement, row: int) -> Part:
    s, rules = j.facts.submissions, j.rules
    size, points = int(s.l_chars[row]), int(j.brevity[row])
    less = _bytes_to_next(j, row) if j.reward[row] else None
    text = f"floor({rules.brevity_max} · e^(−{rules.brevity_beta:g} · {size})) = {points}"
    return Part(
        name="brevity",
        points=float(points),
        inputs={"l_chars": size},
        rules={"brevity_max": rules.brevity_max, "brevity_beta": rules.brevity_beta},
        text=text if j.reward[row] else "given to reward-correct submissions only",
        missing=None if less is None else f"{less} bytes less for the next point",
        step={} if less is None else {"more": 1, "bytes": less, "points": 1},
        records=(RecordRefs("submissions", (s.ids[row],), 1),),
    )


def _bytes_to_next(j: Judgement, row: int) -> int | None:
    """Return how many bytes less give the next point; None: there is none."""
    rules, size = j.rules, int(j.facts.submissions.l_chars[row])
    wanted = int(j.brevity[row]) + 1
    if wanted > rules.brevity_max or not rules.brevity_beta:
        return None
    longest = math.floor(-math.log(wanted / rules.brevity_max) / rules.brevity_beta)
    while formulas.brevity(longest, b_max=rules.brevity_max, beta=rules.brevity_beta) < wanted:
        longest -= 1
    return size - longest


def _diversity(j: Judgement, row: int) -> Part:
    s, rules = j.facts.submissions, j.rules
    place = int(s.problem[row])
    families = int(j.families.distinct_tags[place])
    first = bool(j.families.first_of_tag[row])
    bonus = diversity_of(rules, first_of_tag=first, families=families)
    if not rules.diversity:
        text = "switched off"
    elif not j.in_window[row]:
        text = "given to reward-correct submissions not later than the freeze only"
    else:
        text = (
            f"{'first' if first else 'not the first'} with tag {j.tags[row]!r}: {bonus.first_tag}; "
            f"{families} distinct tag{'s' if families != 1 else ''}: {bonus.shared}; "
            f"at most {rules.diversity_bonus_cap}"
        )
    freeze = int(j.facts.problems.freeze[place])
    tag = _missing_tag(j, row)
    return Part(
        name="diversity",
        points=float(j.diversity[row]),
        inputs={"method_tag": j.tags[row], "first_of_tag": first, "distinct_tags": families,
                "freeze_started_at": None if freeze == NEVER else utc_text(freeze)},
        rules={"diversity": rules.diversity,
               "diversity_first_tag_bonus": rules.diversity_first_tag_bonus,
               "diversity_shared_bonus_each": rules.diversity_shared_bonus_each,
               "diversity_shared_bonus_repeats": rules.diversity_shared_bonus_repeats,
               "diversity_bonus_cap": rules.diversity_bonus_cap},
        text=text,
        missing=tag.text if tag else None,
        step=tag.numbers if tag else {},
        records=(RecordRefs("submissions", (s.ids[row],), 1),),
    )  # fmt: skip


def _missing_tag(j: Judgement, row: int) -> NextStep | None:
    """Return which tag gives the user more diversity points under the rules, None where none does.

    What others can do as well comes first: another tag for the shared bonus. Else the user can send
    the program once more, as the first with its tag.
    """
    rules, place = j.rules, int(j.facts.submissions.problem[row])
    if not rules.diversity or not j.in_window[row]:
        return None
    families, first = int(j.families.distinct_tags[place]), bool(j.families.first_of_tag[row])
    points = int(j.diversity[row])
    limits = "" if int(j.facts.problems.freeze[place]) == NEVER else " by the freeze"
    limits += ", with notes" if rules.require_notes else ""
    limits += ", which its program does not contradict" if rules.tag_conflict == "ignore" else ""

    def gain(*, first_of_tag: bool, tags: int) -> int:
        return diversity_of(rules, first_of_tag=first_of_tag, families=tags).bonus - points

    if families == 1 and (more := gain(first_of_tag=first, tags=2)) > 0:
        text = "a second distinct tag among the reward-correct submissions"
        return NextStep(text + limits, {"more": 1, "points": more})
    if (more := gain(first_of_tag=True, tags=families + 1)) > 0:
        tag = "another tag" if families else "a tag"
        text = f"the first reward-correct submission with {tag}"
        return NextStep(text + limits, {"more": 1, "points": more})
    if families == 0 and (more := gain(first_of_tag=False, tags=2)) > 0:
        text = "two distinct tags among the reward-correct submissions"
        return NextStep(text + limits, {"more": 2, "points": more})
    return None


def _all_of(j: Judgement, user: int, place: int) -> RecordRefs:
    s = j.facts.submissions
    rows = np.flatnonzero((s.user == user) & (s.problem == place))
    return RecordRefs.of("submissions", [s.ids[row] for row in rows.tolist()])


def _not_counted(j: Judgement, rows: Any) -> tuple[str, ...]:
    s = j.facts.submissions
    return tuple(
        f"submission {s.ids[row]} is unscored: {j.unscored[row]}"
        for row in rows
        if j.unscored[row] is not None
    )


def _others(j: Judgement, rows: Any, best: int) -> tuple[str, ...]:
    s = j.facts.submissions
    return tuple(
        f"submission {s.ids[row]} has {j.scores[row]} points ({_verdict(j, row)}) "
        "and is not the best one"
        for row in rows
        if row != best and j.unscored[row] is None
    )


def _explain_unscored(j: Judgement, user: int, board: Board, rows: Any) -> Explanation:
    reasons = {str(j.unscored[row]): None for row in rows}
    name = j.facts.submissions.users[user]
    return unscored_explanation(board, name, "; ".join(reasons), notes=_not_counted(j, rows))
