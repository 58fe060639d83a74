"""Model judges of the server."""

from dataclasses import asdict
from typing import Final

from agon.api.models.judges import Measurement, ModelFailure, ModelJudges, ModelUsage
from agon.api.operation import Context, operation
from agon.api.transport import Noun
from agon.app.arena.judging.measurements import MEASURES, measure

_CONFIDENCE: Final = 0.95


@operation("GET", "/model-judges", id="getModelJudges", permission="model-judge.read",
           cost="quick", summary="Get the measurements of model judges")  # fmt: skip
def get_model_judges(ctx: Context) -> ModelJudges:
    """Return what model judges have used, and their standing measurements with intervals.

    Measured are the votes in which the order decided (``flip``), the calls that chose the answer
    shown first (``first-shown``), the agreement with audits (``audit``) and the wins of a constant
    text that answers nothing (``null``). Failed calls are counted by reason.
    """
    with ctx.service.store.read() as session:
        usages, counts = session.judging.usages(), session.judging.counts()
        failures = session.judging.failures()
    return ModelJudges(
        usage=tuple(ModelUsage(**asdict(usage)) for usage in usages),
        measurements=tuple(
            Measurement(
                judge=each.judge,
                measure=each.measure,
                meaning=MEASURES[each.measure],
                share=each.share,
                low=each.interval.low,
                high=each.interval.high,
                trials=each.trials,
            )
            for each in measure(counts, confidence=_CONFIDENCE)
        ),
        failures=tuple(ModelFailure(**asdict(failure)) for failure in failures),
    )


class Judges(Noun):
    """Model judges of the server."""

    models = get_model_judges
