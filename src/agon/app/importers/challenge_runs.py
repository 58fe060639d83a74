"""Import runs of ``agon challenge run``: one run's folder, or a folder that holds several.

=====================  ======================================================================
of a run               becomes
=====================  ======================================================================
``run.json``           the submission (its ``submission``, else the agent's name), its miner's
                       uid and the validator who ran it
``…/result.json``      a row of ``task_results``, when the trial has a score, and one of
                       ``task_rewards`` for each of its rewards
=====================  ======================================================================

Several runs of one submission by one validator are added together; runs by different validators
stay separate, as the consensus needs them.
"""

from datetime import datetime
from pathlib import Path

from agon.app.importers.trials import STAKES, ImportedTrial, left_out, tables_of
from agon.app.tasks.results.folder import RUN, RunPlan, read_plan, read_results
from agon.app.tasks.trials import TrialResult
from agon.disciplines import ImportedRecords
from agon.errors import NotFound, Unreadable


def read(source: str) -> ImportedRecords:
    """Read the finished trials of runs as challenge records.

    Raises:
        NotFound, Unreadable: there is no such folder, or no run with a scored trial in it.
        Conflict: one submission has trials of two miners.
    """
    root = Path(source)
    if not root.is_dir():
        raise NotFound(f"{root}: no such folder")
    folders = [root] if (root / RUN).exists() else sorted(
        folder for folder in root.iterdir() if (folder / RUN).exists()
    )  # fmt: skip
    trials: list[ImportedTrial] = []
    notes = [STAKES]
    for folder in folders:
        plan = read_plan(folder)
        results = [result for result in read_results(folder) if result.scored]
        scored = [_trial(plan, result) for result in results]
        trials += scored
        if len(scored) < (planned := len(plan.tasks) * plan.trials):
            notes.append(
                left_out(
                    plan.submission or plan.agent,
                    plan.validator,
                    passed=sum(trial.passed for trial in scored),
                    scored=len(scored),
                    trials=planned,
                )
            )
    if not trials:
        raise Unreadable(f"{root} holds no run with a finished trial; give a folder of --out")
    return ImportedRecords("challenge", tables_of(trials), tuple(notes))


def _trial(plan: RunPlan, result: TrialResult) -> ImportedTrial:
    return ImportedTrial(
        submission=plan.submission or plan.agent,
        miner_uid=plan.miner_uid,
        submitted_at=datetime.fromisoformat(plan.started_at),
        validator=plan.validator,
        task=result.task,
        passed=result.result == "passed",
        circumstances={
            "reward_source": result.reward_source,
            "agent_timeout": result.agent_timeout,
            "agent_network": result.agent_network,
            "allowed_hosts": ",".join(sorted(plan.allowed_hosts)),
        },
        rewards=result.rewards,
    )
