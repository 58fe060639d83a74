"""Build small networks by hand and by Hypothesis."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from agon.disciplines.challenge.records import SCHEMA
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.scoring import ScoredChallenge, score
from agon.records import Records, read_rows

Tables = dict[str, list[dict[str, Any]]]
Scores = Sequence[float] | Mapping[tuple[str, int], float]


def tables_of(
    submissions: Mapping[str, tuple[int, Scores]],
    *,
    stakes: Mapping[str, float] | None = None,
    competitions: list[dict[str, Any]] | None = None,
    **columns: Mapping[str, Any],
) -> Tables:
    """Write tables: submission id → (miner, scores by validator v1, v2, … or by (id, epoch)).

    ``columns`` are further columns of ``submissions``, by submission id.
    """
    rows: Tables = {"submissions": [], "evaluations": []}
    people = list(stakes or {})
    for day, (name, (uid, scores)) in enumerate(submissions.items()):
        row = {"id": name, "miner_uid": uid, "submitted_at": f"2026-01-{day + 1:02}"}
        row |= {column: values[name] for column, values in columns.items() if name in values}
        rows["submissions"].append(row)
        given = scores if isinstance(scores, Mapping) else {
            (f"v{at + 1}", 0): value for at, value in enumerate(scores)
        }  # fmt: skip
        for (validator, epoch), value in given.items():
            people += [validator] if validator not in people else []
            rows["evaluations"].append(
                {"submission_id": name, "validator_id": validator, "score": value, "epoch": epoch}
            )
    rows["validators"] = [{"id": one, "stake": (stakes or {}).get(one, 100)} for one in people]
    if competitions:
        rows["competitions"] = competitions
    return rows


def scored(tables: Tables, **rules: Any) -> ScoredChallenge:
    """Score tables under the default rules and some overrides."""
    return score(records_of(tables), ChallengeRules().override(rules))


def records_of(tables: Tables) -> Records:
    """Read tables."""
    return read_rows(SCHEMA, tables)


def rows_of(result: ScoredChallenge, board: str) -> dict[str, dict[str, Any]]:
    """Return a board's rows by id."""
    return {row["id"]: row for row in result.board(board).rows()}


SCORES = st.one_of(
    st.sampled_from([0.0, 0.1, 0.5, 0.8, 0.8, 0.8, 0.816, 0.81, 0.83, 1.0]),
    st.integers(0, 40).map(lambda n: n / 40),
)


@st.composite
def networks(draw: st.DrawFn) -> Tables:
    """Draw a network full of ties, gaps, copies, late stakes and own rules of competitions."""
    text = draw(st.booleans())
    validators: list[Any] = [f"v{n}" if text else n for n in range(draw(st.integers(2, 6)))]
    names: list[Any] = [f"s{n}" if text else n + 1 for n in range(draw(st.integers(1, 6)))]
    several = draw(st.booleans())
    homes = ["main", "b", "c"] if several else [None]
    submissions = [
        {
            "id": name,
            "miner_uid": draw(st.integers(0, 4)),
            "submitted_at": f"2026-01-0{draw(st.integers(1, 3))}T00:00:00",
            "competition": draw(st.sampled_from(homes)),
            "content_hash": draw(st.sampled_from([None, None, None, "x", "y", ""])),
        }
        for name in names
    ]
    evaluation = st.fixed_dictionaries(
        {
            "submission_id": st.sampled_from(names),
            "validator_id": st.sampled_from(validators),
            "score": SCORES,
            "epoch": st.sampled_from([None, 0, 0, 1, 2, 5, 30]),
            "evaluated_at": st.sampled_from([None, None, "2026-01-01T05:00:00"]),
        }
    )
    full = [
        {"submission_id": name, "validator_id": validator, "score": draw(SCORES), "epoch": 0}
        for name in names
        for validator in validators
        if draw(st.integers(0, 5))
    ]
    stake = st.sampled_from([0, 1, 1, 2, 3, 10, 0.5])
    registered = [
        {"id": name, "stake": draw(stake), "epoch": draw(st.sampled_from([None, None, 0, 1]))}
        for name in validators
    ]
    registered += [
        {"id": name, "stake": draw(stake), "epoch": epoch}
        for name in validators
        for epoch in (2, 4)
        if draw(st.integers(0, 3)) == 0
    ]
    tables = {
        "submissions": submissions,
        "evaluations": full + draw(st.lists(evaluation, max_size=12)),
        "validators": registered,
    }
    if draw(st.integers(0, 3)) == 0:
        tables["task_results"] = [
            {"submission_id": name, "validator_id": validators[0], "task_id": task,
             "passed": draw(st.booleans())}
            for name in names[:2]
            for task in range(draw(st.integers(1, 3)))
        ]  # fmt: skip
    if several:
        tables["competitions"] = [
            {"id": "main", "emission_share": 0.5, **draw(OWN_RULES)},
            {"id": "b", "emission_share": 0.3, **draw(OWN_RULES)},
            {"id": "c", "emission_share": draw(st.sampled_from([0, 0.1, 0.2]))},
        ]
    return tables


@st.composite
def networks_with_seats(draw: st.DrawFn) -> Tables:
    """Draw a network whose hotkeys leave, come back and move to other uids."""
    tables = draw(networks())
    hotkeys = [None, "h1", "h2", "h3"]
    for row in tables["submissions"]:
        row["miner_hotkey"] = draw(st.sampled_from(hotkeys))
    held: dict[int, str | None] = {}
    tables["registrations"] = []
    for epoch in (None, 1, 2, 6):
        for uid in draw(st.lists(st.integers(0, 4), max_size=4, unique=True)):
            others = {hotkey for seat, hotkey in held.items() if seat != uid}
            held[uid] = draw(
                st.sampled_from([one for one in hotkeys if one not in others] or [None])
            )
            row = {"uid": uid, "hotkey": held[uid], "from_epoch": epoch}
            tables["registrations"].append(row)
    return tables


OWN_RULES = st.fixed_dictionaries(
    {},
    optional={
        "evaluation_window": st.sampled_from([1, 2, 4]),
        "min_validators": st.integers(1, 4),
        "outlier_threshold": st.sampled_from([1.0, 2.023, 0.6745]),
        "outlier_min_values": st.integers(2, 4),
        "mad_when_zero": st.sampled_from([0.01, 0.1]),
        "outlier_weights": st.sampled_from(["equal", "stake"]),
        "exclude_outliers": st.booleans(),
        "min_stake_fraction": st.sampled_from([0.0, 0.3, 0.5, 1.0]),
        "zero_stake_counts": st.booleans(),
        "min_stake_of": st.sampled_from(["submission", "submission", "validator"]),
        "mean_over": st.sampled_from(["included", "reported"]),
        "burn_application": st.sampled_from(["scaled", "scaled", "added"]),
        "strategy": st.sampled_from(["linear", "winner_takes_all", "quadratic", "ranked"]),
        "top_n": st.integers(1, 3),
        "improvement_threshold": st.sampled_from([0.0, 0.02, 0.1]),
        "improvement": st.sampled_from(["relative", "absolute"]),
        "improvement_by": st.sampled_from(["new_agent", "any"]),
        "improvement_stake": st.sampled_from([0.0, 0.3, 0.5, 1.0]),
        "grace_epochs": st.sampled_from([0, 1, 10]),
        "decay_curve": st.sampled_from(["linear", "exponential"]),
        "decay_rate": st.sampled_from([0.0, 0.05, 0.5]),
        "max_burn": st.sampled_from([0.0, 80.0, 100.0]),
    },
)

RULES = st.builds(
    lambda own, network: {**own, **network},
    OWN_RULES,
    st.fixed_dictionaries(
        {},
        optional={
            "duplicate_content": st.sampled_from(["everywhere", "competition", "allowed"]),
            "weight_cap": st.sampled_from([0.2, 0.3, 0.5, 1.0]),
            "cap_excess": st.sampled_from(["redistribute", "burn", "drop"]),
            "epoch": st.sampled_from([-1, 0, 1, 3, 5, 12, 40]),
        },
    ),
)

SEAT_RULES = st.fixed_dictionaries(
    {},
    optional={
        "unregistered": st.sampled_from(["exclude", "burn"]),
        "top_of_departed": st.sampled_from(["drop", "keep"]),
    },
)
