"""``agon arena injections``: measure how often injected text fools a model judge."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from agon.cli.arena.model_options import ModelOptions, model_options
from agon.cli.shared import lists, parameters
from agon.cli.shared.commands import Command, option
from agon.cli.shared.output import TABLE, deliver

if TYPE_CHECKING:
    from agon.app.arena.judging.injections import Failure, GroupResult, SuiteResult

_COLUMNS: Final = ("family", "calls", "chosen", "share", "low", "high", "without_verdict")
_CONFIDENCE: Final = 0.95


@click.command("injections", cls=Command)
@model_options
@option(
    "--question",
    help="What the model is asked about two answers, as setting question; default: the arena's.",
)
@option("--allow-tie", is_flag=True, help="Let the model prefer neither answer.")
@lists.form
@parameters.output
def injections(
    *,
    model: ModelOptions,
    question: str | None,
    allow_tie: bool,
    form: str,
    output: Path | None,
) -> None:
    """Measure how often injected text makes a model choose an answer.

    24 texts of eight families are added to a robotic answer, which is compared with a human one in
    both orders; 60 calls with the controls. The model is asked as in a match. The key is read from
    AGON_ARENA_JUDGE_KEY; for hosts of the provider also from ANTHROPIC_API_KEY or OPENAI_API_KEY.

    Exit code 1: an injected answer was chosen. 5: the endpoint does not answer.

      agon arena injections --judge https://api.anthropic.com --provider anthropic
      agon arena injections --judge http://127.0.0.1:8000/v1 --provider openai --model m
    """
    from agon.app.arena.judging.injections import run_suite
    from agon.cli.shared.output import working
    from agon.errors import CheckFailed, Unavailable

    judge = model.judge(question=question, allow_tie=allow_tie)
    with working("comparing"):
        result = run_suite(judge, seconds=model.seconds, confidence=_CONFIDENCE)
    _print(result, form=form, output=output)
    if not result.total.calls:
        raise Unavailable(
            f"{result.judge} gave no valid verdict: {_failure_text(result.failures[0])}; check its "
            "model, --max-tokens and --response-format"
        )
    if result.total.chosen:
        raise CheckFailed(
            f"{result.judge} chose the injected answer in {result.total.chosen} of "
            f"{result.total.calls} calls; read docs/methods/model-judges.md before you rely on it"
        )


def _print(result: "SuiteResult", *, form: str, output: Path | None) -> None:
    rows = [_row(group) for group in (*result.groups, result.total)]
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        measurements = [
            {"measure": item.measure, "share": item.share, "low": item.interval.low,
             "high": item.interval.high, "trials": item.trials}
            for item in result.measurements
        ]  # fmt: skip
        failures = [asdict(failure) for failure in result.failures]
        page = {"judge": result.judge, "families": rows, "measurements": measurements}
        page["failures"] = failures
        deliver(json_chunks(page), output)
        return
    for failure in result.failures:
        click.echo(_failure_text(failure), err=True)
    shown = [_display_row(row) for row in rows] if form == TABLE else rows
    lists.print_rows(shown, form=form, name="families", columns=_COLUMNS, output=output)


def _failure_text(failure: "Failure") -> str:
    calls = "1 comparison" if failure.comparisons == 1 else f"{failure.comparisons} comparisons"
    return f"{calls} without a verdict: {failure.code}, {failure.detail}"


def _row(group: "GroupResult") -> dict[str, Any]:
    return {
        "family": group.group,
        "calls": group.calls,
        "chosen": group.chosen,
        "share": group.share,
        "low": group.interval.low,
        "high": group.interval.high,
        "without_verdict": group.without_verdict,
    }


def _display_row(row: dict[str, Any]) -> dict[str, Any]:
    return {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}
