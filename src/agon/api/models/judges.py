"""Model judges: what they have used, and how they judge."""

from pydantic import Field

from agon.api.models.base import Resource
from agon.entities import judging


class ModelUsage(Resource, judging.ModelUsage):
    """What a model judge has used on its last day, and whether its endpoint works."""

    day: str = Field(description="The day in UTC.", examples=["2026-01-31"])


class Measurement(Resource):
    """A share of a model judge with its 95 % interval."""

    judge: str = Field(description="Provider and model.")
    measure: str = Field(description="flip, first-shown, audit or null.")
    meaning: str
    share: float | None = Field(description="Null without trials.")
    low: float
    high: float
    trials: int


class ModelFailure(Resource, judging.JudgeFailure):
    """How often calls of a model judge failed for a reason, and what the last of them was."""

    code: str = Field(description="The reason, such as invalid or status-400.")
    detail: str = Field(description="What happened, with at most 200 characters of the response.")


class ModelJudges(Resource):
    """The model judges of this server, over all contests."""

    usage: tuple[ModelUsage, ...]
    measurements: tuple[Measurement, ...]
    failures: tuple[ModelFailure, ...]
