"""The routes of the desks."""

from typing import Final

from agon.web.desk import contests, overview, uploads
from agon.web.page import View

_DESK: Final = "/c/{contest}/desk"

PAGES: Final[tuple[tuple[str, View], ...]] = (
    ("/desk", contests.contests),
    (_DESK, overview.overview),
    (f"{_DESK}/records", uploads.records),
)
"""Every page of the desks: its address and what reads its content."""

FORMS: Final[tuple[tuple[str, View, str | None], ...]] = (
    ("/desk", contests.create, "contest.create"),
    (f"{_DESK}/open", overview.open_contest, "contest.manage"),
    (f"{_DESK}/freeze", overview.freeze, "contest.manage"),
    (f"{_DESK}/unfreeze", overview.unfreeze, "contest.manage"),
    (f"{_DESK}/finalize", overview.finalize, "contest.manage"),
    (f"{_DESK}/details", overview.edit, "contest.manage"),
    (f"{_DESK}/records", uploads.add_records, "records.add"),
)
"""Every form of the desks: its address, what it does, and the permission it needs."""
