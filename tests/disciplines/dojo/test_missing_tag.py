"""The tag that an explanation names as missing gives diversity points."""

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest

from agon.disciplines.dojo import DISCIPLINE
from agon.disciplines.dojo.records import SCHEMA
from agon.disciplines.dojo.rules import DojoRules
from agon.records import read_rows
from sizes import ALL, size

FREEZE = "2026-01-20T00:00:00Z"
Points = dict[tuple[str, str], tuple[float, str | None]]
"""Diversity points, and what is missing for more, by problem and user."""
CHOICES: dict[str, tuple[Any, ...]] = {
    "diversity_first_tag_bonus": (0, 5, 30),
    "diversity_shared_bonus_each": (0, 10, 40),
    "diversity_shared_bonus_repeats": (0, 1, 2),
    "diversity_bonus_cap": (0, 20, 35, 50, 1000),
    "unspecified_tag": ("counts", "ignored"),
    "require_notes": (False, True),
    "after_freeze": ("unscored", "scored"),
    "diversity": (True, True, True, False),
}


def submission(name: str, user: str, tag: str | None, **more: Any) -> dict[str, Any]:
    """Make a reward-correct submission of 800 bytes."""
    return {"id": name, "problem_id": "p", "user_id": user, "created_at": "2026-01-05T00:00:00Z",
            "source_hash": name, "l_chars": 800, "verdict": "ok", "method_tag": tag,
            "notes": None, **more}  # fmt: skip


def diversity(rows: list[dict[str, Any]], rules: DojoRules) -> Points:
    """Return diversity points and missing tags from the explanations of all scored users."""
    problems = sorted({row["problem_id"] for row in rows})
    records = read_rows(
        SCHEMA,
        {
            "problems": [{"id": name, "freeze_started_at": FREEZE} for name in problems],
            "submissions": rows,
        },
    )
    season: Any = DISCIPLINE.score(records, rules)
    points: Points = {}
    for problem, user in sorted({(row["problem_id"], row["user_id"]) for row in rows}):
        for part in season.explain(user, board=f"problem:{problem}").parts:
            if part.name == "diversity":
                points[problem, user] = part.points, part.missing
    return points


def problems(dice: Random) -> list[dict[str, Any]]:
    """Return the submissions of one to three users to each of some problems."""
    return [
        submission(
            f"{problem}-{user}", user, dice.choice([None, None, "loops", "sum"]),
            problem_id=problem, notes=dice.choice([None, "n"]),
            created_at=dice.choice(["2026-01-05T00:00:00Z"] * 5 + ["2026-01-25T00:00:00Z"]),
        )
        for problem in map(str, range(15))
        for user in dice.sample(["u", "v", "w"], dice.randint(1, 3))
    ]  # fmt: skip


def with_tags(
    rows: list[dict[str, Any]], users: Iterable[tuple[str, str]], number: int
) -> list[dict[str, Any]]:
    """Add submissions of users to problems with tags that no other has, with notes, in time."""
    return rows + [
        submission(
            f"{problem}-{user}-{at}", user, f"new-{user}-{at}", problem_id=problem, notes="n"
        )
        for problem, user in users
        for at in range(number)
    ]


def test_the_missing_tag_gives_points_and_without_a_sentence_none_does() -> None:
    """Under random rules for diversity (8, in `make test` 2), the missing tag is submitted."""
    dice, texts, wrong = Random(7), set(), []
    for _ in range(size(8, at_least=2)):
        rules = DojoRules(**{name: dice.choice(values) for name, values in CHOICES.items()})
        rows = problems(dice)
        before = diversity(rows, rules)
        names = {problem for problem, _ in before}
        one = diversity(with_tags(rows, ((name, "x") for name in names), 1), rules)
        two = diversity(with_tags(rows, ((name, "x") for name in names), 2), rules)
        own: Points = {}
        for user in "uvw":
            mine = [key for key in before if key[1] == user]
            later = diversity(with_tags(rows, mine, 1), rules)
            own |= {key: later[key] for key in mine}
        for key, (points, missing) in before.items():
            text = "" if missing is None else missing.partition(" by ")[0]
            texts.add(text)
            gains = {
                "a second distinct tag among the reward-correct submissions": one,
                "two distinct tags among the reward-correct submissions": two,
                "the first reward-correct submission with another tag": own,
                "the first reward-correct submission with a tag": own,
            }
            if text:
                right = gains[text][key][0] > points
            else:
                late = {"created_at": "2026-01-25T00:00:00Z", "id": "-".join(key)}
                is_late = any(late.items() <= row.items() for row in rows)
                right = is_late or all(after[key][0] <= points for after in gains.values())
            if not right:
                wrong.append((key, rules.stated_values(), points, missing))
    assert wrong == []
    assert len(texts) >= (4 if ALL else 2)


@pytest.mark.parametrize(
    ("rules", "limits"),
    [
        ({}, " by the freeze"),
        ({"require_notes": True}, " by the freeze, with notes"),
        ({"tag_conflict": "ignore"}, " by the freeze, which its program does not contradict"),
    ],
)
def test_the_sentence_names_the_conditions_of_the_rules_for_a_tag(
    rules: dict[str, Any], limits: str
) -> None:
    """A tag that does not count would give no points."""
    rows = [submission("s", "u", "loops", notes="n")]
    missing = diversity(rows, DojoRules(**rules))["p", "u"][1]
    assert missing == f"a second distinct tag among the reward-correct submissions{limits}"


def test_where_unspecified_is_no_tag_the_shared_bonus_needs_two() -> None:
    """A second tag is the only one where the first does not count."""
    rules = DojoRules(unspecified_tag="ignored", diversity_first_tag_bonus=0)
    rows = [submission("s", "u", None)]
    points, missing = diversity(rows, rules)["p", "u"]
    assert missing == "two distinct tags among the reward-correct submissions by the freeze"
    for number, gains in ((1, False), (2, True)):
        after = diversity(with_tags(rows, [("p", "x")], number), rules)["p", "u"][0]
        assert (after > points) is gains


def test_the_reference_rules_name_a_tag_until_the_cap() -> None:
    """30 and 20 points reach the cap of 50."""
    rows = [submission("s", "u", "loops"), submission("t", "v", "sum"), submission("w", "w", "sum")]
    assert diversity(rows, DojoRules()) == {
        ("p", "u"): (50, None),
        ("p", "v"): (50, None),
        ("p", "w"): (20, "the first reward-correct submission with another tag by the freeze"),
    }
