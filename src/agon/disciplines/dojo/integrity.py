"""Detect possible gaming in a season: embedded payloads, copies, farmed and false tags.

Findings inform; none of them changes a score.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from agon.kernel.findings import Check, Finding, RecordRefs, Severity, meanings, run_checks

if TYPE_CHECKING:
    from agon.disciplines.dojo.judgement import Judgement
    from agon.disciplines.dojo.payload import ProgramPayload
    from agon.disciplines.dojo.rules import DojoRules
    from agon.records import Records


CLOSE = 0.9
"""From which share of a threshold a payload counts as close to it."""

HUGE_DIGITS = 64
"""Digits from which an integer literal is reported in every edition."""

INFORMATION_BYTES = 600
"""Bytes of names and digits from which a program is reported in every edition."""

_FARMED_PROBLEMS = 3
_SOURCES_KEPT = 5


@dataclass(frozen=True)
class Inspection:
    """A judged season under examination."""

    judgement: "Judgement"

    @cached_property
    def payloads(self) -> "list[tuple[int, ProgramPayload]]":
        """Return the index of each submission whose source can be read, with its payload."""
        from agon.disciplines.dojo.facts import payload_of
        from agon.disciplines.dojo.program import Violation

        rules, s = self.judgement.rules, self.judgement.facts.submissions
        measured = [
            payload_of(source, max_bytes=rules.max_source_bytes, max_depth=rules.max_syntax_depth)
            for source in s.sources
        ]
        return [
            (index, payload)
            for index, source in enumerate(s.source_of)
            if source >= 0 and not isinstance(payload := measured[source], Violation)
        ]


def find(records: "Records", rules: "DojoRules") -> list[Finding]:
    """Return the findings, each with its statistic and what would be expected."""
    from agon.disciplines.dojo.facts import collect
    from agon.disciplines.dojo.judgement import judge

    return run_checks(TABLE, Inspection(judge(collect(records), rules)))


def _literal_payloads(inspection: Inspection) -> Iterator[Finding]:
    j = inspection.judgement
    s = j.facts.submissions
    shares: dict[str, list[float]] = defaultdict(list)
    # One program sent ten times is one program: the share is of sources, the findings of
    # submissions.
    distinct = {int(s.source_of[index]): payload for index, payload in inspection.payloads}
    for source in sorted(distinct):
        for name, amount, limit in _amounts(distinct[source], j.rules):
            shares[name].append(amount / limit)
    all_close = {
        name: sum(share >= CLOSE for share in of_name) / len(of_name)
        for name, of_name in shares.items()
    }
    for index, payload in inspection.payloads:
        for name, amount, limit in _amounts(payload, j.rules):
            if CLOSE * limit <= amount <= limit:
                close = all_close[name]
                yield Finding(
                    "literal-payload", Severity.WARNING, (s.users[s.user[index]],),
                    f"{name} of the {limit} allowed", amount, close * limit, None,
                    f"submission {s.ids[index]} holds {amount} {name}; {limit} are allowed, and "
                    f"{close:.1%} of all programs come that close",
                    (RecordRefs("submissions", (s.ids[index],), 1),),
                )  # fmt: skip


def _huge_literals(inspection: Inspection) -> Iterator[Finding]:
    s = inspection.judgement.facts.submissions
    for index, payload in inspection.payloads:
        if payload.longest_integer > HUGE_DIGITS:
            yield Finding(
                "huge-literal", Severity.WARNING, (s.users[s.user[index]],),
                "digits of the longest integer literal", payload.longest_integer, HUGE_DIGITS, None,
                f"submission {s.ids[index]} holds an integer of {payload.longest_integer} digits, "
                f"which can hold {payload.longest_integer // 4} terms of four digits",
                (RecordRefs("submissions", (s.ids[index],), 1),),
            )  # fmt: skip


def _name_payloads(inspection: Inspection) -> Iterator[Finding]:
    s = inspection.judgement.facts.submissions
    sizes = sorted(payload.information_bytes for _, payload in inspection.payloads)
    for index, payload in inspection.payloads:
        size = payload.information_bytes
        if size > INFORMATION_BYTES:
            middle = sizes[len(sizes) // 2]
            yield Finding(
                "name-payload", Severity.WARNING, (s.users[s.user[index]],),
                "bytes of names and digits", size, middle, None,
                f"submission {s.ids[index]} has {size} bytes of names and digits, which can hold "
                f"{size // 3} terms of three digits; half of all programs have at most {middle}",
                (RecordRefs("submissions", (s.ids[index],), 1),),
            )  # fmt: skip


def _amounts(payload: "ProgramPayload", rules: "DojoRules") -> Iterator[tuple[str, int, int]]:
    limits = (
        ("numeric literals", payload.numeric_literals, rules.max_numeric_literals),
        ("string characters", payload.string_chars, rules.max_string_literal_chars),
        ("bytes of strings", payload.string_bytes, rules.max_string_bytes),
        ("elements in one list or tuple", payload.largest_sequence, rules.max_list_tuple_elements),
        ("bytes of names and digits", payload.information_bytes, rules.max_information_bytes),
    )
    return ((name, amount, limit) for name, amount, limit in limits if limit)


def _same_source(j: "Judgement") -> Iterator[Finding]:
    s = j.facts.submissions
    groups: dict[tuple[int, str], list[int]] = defaultdict(list)
    for index in range(len(s)):
        groups[int(s.problem[index]), s.hashes[index]].append(index)
    for (problem, _), rows in groups.items():
        yield from _shared_sources(
            j, rows, problem, "same-source", Severity.ERROR, "the same source"
        )


def _same_structure(j: "Judgement") -> Iterator[Finding]:
    from agon.disciplines.dojo.fingerprints import structure_of

    s, rules = j.facts.submissions, j.rules
    shapes = [
        structure_of(source, max_bytes=rules.max_source_bytes, max_depth=rules.max_syntax_depth)
        for source in s.sources
    ]
    groups: dict[tuple[int, str], list[int]] = defaultdict(list)
    for index, place in enumerate(s.source_of):
        shape = shapes[place] if place >= 0 else None
        if shape is not None:
            groups[int(s.problem[index]), shape].append(index)
    for (problem, _), rows in groups.items():
        distinct = {s.hashes[row]: row for row in reversed(rows)}
        if len(distinct) > 1:
            yield from _shared_sources(j, sorted(distinct.values()), problem, "same-structure",
                               Severity.WARNING, "the same program under other names")  # fmt: skip


def _shared_sources(
    j: "Judgement", rows: list[int], problem: int, code: str, severity: Severity, what: str
) -> Iterator[Finding]:
    s = j.facts.submissions
    users = list(dict.fromkeys(s.users[s.user[row]] for row in rows))
    if len(users) > 1:
        shortest = int(min(s.l_chars[row] for row in rows))
        yield Finding(
            code, severity, tuple(users), "users with it", len(users), 1.0, None,
            f"{', '.join(users[:_SOURCES_KEPT])} sent {what} ({shortest} bytes) to problem "
            f"{j.facts.problems.ids[problem]}; {users[0]} was first",
            (RecordRefs.of("submissions", [s.ids[row] for row in rows]),),
        )  # fmt: skip


def _tag_farming(j: "Judgement") -> Iterator[Finding]:
    """Report users who are repeatedly the first with a tag that no other user uses."""
    from agon.disciplines.dojo.formulas import UNSPECIFIED

    s = j.facts.submissions
    users_of: dict[str, set[int]] = defaultdict(set)
    correct: dict[int, list[int]] = defaultdict(list)
    for index in range(len(s)):
        if j.in_window[index]:
            users_of[j.tags[index]].add(int(s.user[index]))
            correct[int(s.user[index])].append(index)
    total = sum(len(rows) for rows in correct.values())
    # A tag that others use later was an idea; one that stays alone may have been made up for the
    # points.
    lonely = {
        user: [row for row in rows if j.families.first_of_tag[row] and j.tags[row] != UNSPECIFIED
               and len(users_of[j.tags[row]]) == 1]
        for user, rows in correct.items()
    }  # fmt: skip
    rate = sum(map(len, lonely.values())) / total if total else 0.0
    for user, rows in lonely.items():
        problems = {int(s.problem[row]) for row in rows}
        if len(problems) < _FARMED_PROBLEMS:
            continue
        share = len(rows) / len(correct[user])
        points = sum(int(j.diversity[row]) for row in rows)
        yield Finding(
            "tag-farming", Severity.WARNING, (s.users[user],),
            "share of reward-correct submissions with a tag of one user alone", share, rate, None,
            f"{s.users[user]} was first of a tag of no other user on {len(problems)} problems, "
            f"for {points} points of diversity",
            (RecordRefs.of("submissions", [s.ids[row] for row in rows]),),
        )  # fmt: skip


def _tag_spellings(j: "Judgement") -> Iterator[Finding]:
    """Report tags of one problem that differ in their spelling only."""
    from agon.disciplines.dojo.formulas import folded_tag

    s = j.facts.submissions
    rows_of: dict[tuple[int, str], dict[str, list[int]]] = {}
    for index in np.flatnonzero(j.in_window).tolist():
        tag = j.tags[index]
        spellings = rows_of.setdefault((int(s.problem[index]), folded_tag(tag)), {})
        spellings.setdefault(tag, []).append(index)
    for (problem, _), spellings in rows_of.items():
        if len(spellings) > 1:
            rows = sorted(row for same in spellings.values() for row in same)
            yield Finding(
                "tag-spellings", Severity.WARNING, (j.facts.problems.ids[problem],),
                "spellings of one tag", len(spellings), 1.0, None,
                f"{', '.join(map(repr, sorted(spellings)))} count as {len(spellings)} tags on "
                f"problem {j.facts.problems.ids[problem]}; with tag_spelling=folded they are one",
                (RecordRefs.of("submissions", [s.ids[row] for row in rows]),),
            )  # fmt: skip


def _tag_distribution(j: "Judgement") -> Iterator[Finding]:
    s = j.facts.submissions
    tags: dict[int, list[str]] = defaultdict(list)
    rows_of: dict[int, list[int]] = defaultdict(list)
    for index in range(len(s)):
        if j.in_window[index]:
            tags[int(s.problem[index])].append(j.tags[index])
            rows_of[int(s.problem[index])].append(index)
    everywhere = len({tag for seen in tags.values() for tag in seen})
    for problem, seen in tags.items():
        distinct, count = len(set(seen)), len(seen)
        # The expected value with the season's own number of tags, each equally likely.
        expected = everywhere * (1 - math.exp(-count / everywhere))
        crowd = 8
        if count >= crowd and distinct / count >= CLOSE:
            yield Finding(
                "tag-distribution", Severity.INFO, (j.facts.problems.ids[problem],),
                "distinct tags", distinct, expected, None,
                f"{distinct} distinct tags among {count} reward-correct submissions to problem "
                f"{j.facts.problems.ids[problem]}",
                (RecordRefs.of("submissions", [s.ids[row] for row in rows_of[problem]]),),
            )  # fmt: skip


def _false_tags(j: "Judgement") -> Iterator[Finding]:
    from agon.disciplines.dojo.formulas import UNSPECIFIED
    from agon.disciplines.dojo.judgement import is_contradicted

    s = j.facts.submissions
    looked = [row for row in range(len(s)) if s.source_of[row] >= 0 and j.tags[row] != UNSPECIFIED]
    pairs = {row: (int(s.source_of[row]), j.tags[row]) for row in looked}
    is_false = {
        (source, tag): is_contradicted(s.sources[source], tag, j.rules)
        for source, tag in set(pairs.values())
    }
    false = [row for row in looked if is_false[pairs[row]]]
    rate = len(false) / len(looked) if looked else 0.0
    for row in false:
        yield Finding(
            "false-tag", Severity.INFO, (s.users[s.user[row]],), "contradicted tags", 1.0, rate,
            None,
            f"submission {s.ids[row]} declares {j.tags[row]!r}, which its program contradicts",
            (RecordRefs("submissions", (s.ids[row],), 1),),
        )  # fmt: skip


def _mismatches(j: "Judgement") -> Iterator[Finding]:
    s = j.facts.submissions
    for row in range(len(s)):
        recorded = s.recorded_hashes[row]
        if s.source_of[row] >= 0 and recorded is not None and recorded != s.hashes[row]:
            yield Finding(
                "hash-mismatch", Severity.ERROR, (s.users[s.user[row]],), "hashes that differ", 1.0,
                0.0, None,
                f"submission {s.ids[row]} records hash {recorded[:12]}…, its source has "
                f"{s.hashes[row][:12]}…",
                (RecordRefs("submissions", (s.ids[row],), 1),),
            )  # fmt: skip


TABLE: tuple[Check[Inspection], ...] = (
    Check(
        "literal-payload",
        "programs whose literals are just below a threshold of the payload policy",
        _literal_payloads,
    ),
    Check(
        "huge-literal",
        "integer literals of more digits than any constant needs (64)",
        _huge_literals,
    ),
    Check(
        "name-payload",
        "names and digits that can hold a table of answers (more than 600 bytes)",
        _name_payloads,
    ),
    Check(
        "same-source",
        "the same canonical source from two users on one problem",
        lambda inspection: _same_source(inspection.judgement),
    ),
    Check(
        "same-structure",
        "the same program from two users after renaming and reformatting",
        lambda inspection: _same_structure(inspection.judgement),
    ),
    Check(
        "tag-farming",
        "accounts whose points beyond correctness come from first-tag bonuses only",
        lambda inspection: _tag_farming(inspection.judgement),
    ),
    Check(
        "tag-distribution",
        "problems where nearly every reward-correct submission has its own tag",
        lambda inspection: _tag_distribution(inspection.judgement),
    ),
    Check(
        "tag-spellings",
        "method tags of one problem that differ in case, blanks, `-` and `_` only",
        lambda inspection: _tag_spellings(inspection.judgement),
    ),
    Check(
        "false-tag",
        "declared method tags that the static classifier strongly contradicts",
        lambda inspection: _false_tags(inspection.judgement),
    ),
    Check(
        "hash-mismatch",
        "a recorded source hash or length that is not that of the recorded source",
        lambda inspection: _mismatches(inspection.judgement),
    ),
)
"""The checks, in the order in which they run."""

CHECKS = meanings(TABLE)
"""The meaning of each check by the code of its findings."""
