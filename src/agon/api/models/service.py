"""Health of a server process."""

from typing import Literal

from agon.api.models.base import Resource


class Health(Resource):
    """The process responds."""

    status: Literal["alive"]
    version: str


class Readiness(Resource):
    """The process can serve requests."""

    status: Literal["ready"]
    version: str
