"""Check submissions: equal content, sources that are nearly the same, missing task results."""

from collections import defaultdict
from collections.abc import Iterator

from agon.disciplines.challenge.checks.near_copies import near_copies, runs, usual_similarity
from agon.disciplines.challenge.facts import Facts
from agon.disciplines.challenge.reasons import percent
from agon.disciplines.challenge.records import MAIN
from agon.kernel.findings import Finding, RecordRefs, Severity
from agon.kernel.rounding import publish
from agon.records import Records

NEAR = 0.8
"""Which part of their token runs two sources must share to be near-duplicates."""


def duplicate_agents(facts: Facts) -> Iterator[Finding]:
    """Report submissions with the same content; those of one miner have the severity info."""
    groups: dict[int, list[int]] = defaultdict(list)
    for index, content in enumerate(facts.submissions.contents.tolist()):
        if content >= 0:
            groups[content].append(index)
    for same in groups.values():
        if len(same) == 1:
            continue
        same.sort(key=lambda index: int(facts.submissions.turns[index]))
        uids = list(dict.fromkeys(_owner(facts, index) for index in same))
        names = [facts.submissions.ids[index] for index in same]
        yield Finding(
            "duplicate-agents",
            Severity.WARNING if len(uids) > 1 else Severity.INFO,
            tuple(uids),
            "submissions with the same content",
            float(len(same)),
            1.0,
            None,
            f"{len(same)} submissions of {'miners' if len(uids) > 1 else 'miner'} "
            f"{', '.join(uids)} have the same content; {names[0]} was the first",
            (RecordRefs.of("submissions", names),),
        )


def _owner(facts: Facts, submission: int) -> str:
    """Return the miner of a submission: its hotkey where it has one, else its uid."""
    return facts.submissions.owner_name(int(facts.submissions.owners[submission]))


def near_duplicate_agents(records: Records, facts: Facts) -> Iterator[Finding]:
    """Report sources of two miners that are the same but for names, numbers and a few lines."""
    table = records.sql(
        "SELECT id::VARCHAR AS id, source FROM submissions WHERE source IS NOT NULL"
    )
    submissions = facts.submissions
    sources = {submissions.number[row["id"]]: runs(row["source"]) for row in table.to_pylist()}
    usual = 0.0
    for pair in near_copies(sources, least=NEAR):
        usual = usual or usual_similarity(sources)
        first, second = sorted(
            (pair.first, pair.second), key=lambda index: int(submissions.turns[index])
        )
        uids = (_owner(facts, first), _owner(facts, second))
        same = submissions.contents[first] == submissions.contents[second] != -1
        if uids[0] == uids[1] or same:
            continue
        names = [submissions.ids[first], submissions.ids[second]]
        yield Finding(
            "near-duplicate-agents",
            Severity.WARNING,
            uids,
            "share of token runs in common",
            publish(pair.similarity),
            publish(usual),
            None,
            f"{names[1]} of miner {uids[1]} shares {percent(pair.similarity)} of its token runs "
            f"with the earlier {names[0]} of miner {uids[0]}; {percent(usual)} is usual",
            (RecordRefs.of("submissions", names),),
        )


def missing_task_results(records: Records) -> Iterator[Finding]:
    """Report submissions that lack results of tasks on which their validator ran others.

    A pass rate over fewer tasks may be that of the easier ones: of a run with unscored trials, only
    the scored ones are records.
    """
    rows = records.sql(
        "WITH results AS (SELECT e.validator_id::VARCHAR AS validator, s._row AS place, "
        "s.id::VARCHAR AS submission, e.task_id::VARCHAR AS task, "
        f"coalesce(s.competition::VARCHAR, '{MAIN}') AS competition "
        "FROM task_results e JOIN submissions s ON e.submission_id = s.id), "
        "tasks AS (SELECT validator, competition, count(DISTINCT task) AS total FROM results "
        "GROUP BY ALL) "
        "SELECT validator, competition, submission, count(DISTINCT task) AS made, "
        "any_value(total) AS total FROM results JOIN tasks USING (validator, competition) "
        "GROUP BY validator, competition, submission, place HAVING made < any_value(total) "
        "ORDER BY place, validator"
    )
    for row in rows.to_pylist():
        validator, submission = row["validator"], row["submission"]
        yield Finding(
            "missing-task-results",
            Severity.WARNING,
            (validator, submission),
            "tasks with a result",
            float(row["made"]),
            float(row["total"]),
            None,
            f"{validator} has results of {submission} for {row['made']:,} of the "
            f"{row['total']:,} tasks on which it ran submissions of {row['competition']}; the pass "
            "rate leaves the others out",
            (RecordRefs.of("submissions", [submission]),),
        )


def other_reward_sources(records: Records, reward_source: str) -> Iterator[Finding]:
    """Report task results that were made under another reward source than the rules name."""
    rows = records.sql(
        "SELECT reward_source AS source, count(*) AS made, "
        "list(DISTINCT submission_id::VARCHAR ORDER BY submission_id::VARCHAR) AS submissions "
        f"FROM task_results WHERE reward_source <> '{reward_source}' GROUP BY ALL ORDER BY source"
    )
    for row in rows.to_pylist():
        yield Finding(
            "other-reward-source",
            Severity.INFO,
            tuple(row["submissions"]),
            "results under another source",
            float(row["made"]),
            0.0,
            None,
            f"{row['made']:,} task results were made with reward_source {row['source']}, and these "
            f"rules have {reward_source}: score them with --set reward_source={row['source']}, or "
            f"run the tasks with --reward-source {reward_source}",
            (RecordRefs.of("submissions", row["submissions"]),),
        )
