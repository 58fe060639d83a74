"""The ways in which an operation that changes something can lead to records in a ledger.

Which tables these are is said by the discipline (``Discipline.written_by``), and who may call the
operation by its permission. Reading changes nothing, so operations with GET have none.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

RecordWay: TypeAlias = Literal["none", "sent", "votes", "protocol", "change-set", "import"]
"""``none``: to no records. ``sent``: the caller sends them, and
:mod:`agon.app.contests.ingest.senders` decides about each table; ``votes``: the same, but judges
send only their own. ``protocol``: the service writes them by its own rules, those tables that name
the operation. ``change-set``: they correct or void records, with a reason, in entries that replay
knows. ``import``: a ledger is verified as a whole, and cannot continue what is played here."""

TIMES_SET_BY: Final[Mapping[RecordWay, str]] = MappingProxyType(
    {
        "sent": "sender",
        "votes": "service for judges, else sender",
        "protocol": "service",
        "change-set": "sender",
        "import": "sender",
    }
)
"""Who sets the times in the records of each way."""
