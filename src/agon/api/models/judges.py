"""Model judges: what they have used, and how they judge."""

from datetime import datetime

from pydantic import Field

from agon.api.models.base import Resource


class ModelUsage(Resource):
    """What a model judge has used on its last day, and whether its endpoint works."""

    judge: str = Field(description="judge or audit, as in the settings.")
    day: str = Field(description="The day in UTC.", examples=["2026-01-31"])
    calls: int
    tokens: int
    failures: int = Field(description="Failed calls since the last one that succeeded.")
    resumes_at: datetime | None = Field(description="When calls continue; null: now.")
    cause: str = Field(description="The last failure.")


class Measurement(Resource):
    """A share of a model judge with its 95 % interval."""

    judge: str = Field(description="Provider and model.")
    measure: str = Field(description="flip, first-shown, audit or null.")
    meaning: str
    share: float | None = Field(description="Null without trials.")
    low: float
    high: float
    trials: int


class ModelJudges(Resource):
    """The model judges of this server, over all contests."""

    usage: tuple[ModelUsage, ...]
    measurements: tuple[Measurement, ...]
