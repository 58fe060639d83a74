"""State how each operation that changes something can lead to records in a contest's ledger.

Which tables these are is said by the discipline (``Discipline.written_by``), and who may call the
operation by its permission. Reading changes nothing, so operations with GET have no entry.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

Way = Literal["none", "sent", "protocol", "change-set", "import"]


@dataclass(frozen=True, kw_only=True)
class Door:
    """How an operation leads to records.

    Attributes:
        way: ``none``: to no records; ``sent``: the caller sends them, and
            ``agon.app.contests.ingest.senders`` decides about each table; ``protocol``: the service
            writes them by its own rules, those tables that name the operation; ``change-set``: they
            correct or void records, with a reason, in entries that replay knows; ``import``: a
            ledger is verified as a whole, and cannot continue what is played here.
        times: who sets the times in the records.
    """

    way: Way
    times: Literal["", "service", "sender", "service for judges, else sender"] = ""


_NONE: Final = Door(way="none")
_SENT: Final = Door(way="sent", times="sender")
_VOTES: Final = Door(way="sent", times="service for judges, else sender")
_PROTOCOL: Final = Door(way="protocol", times="service")
_CHANGE_SET: Final = Door(way="change-set", times="sender")
_IMPORT: Final = Door(way="import", times="sender")

DOORS: Final[Mapping[str, Door]] = MappingProxyType(
    {
        "acceptInvitation": _NONE,
        "addHoneypotAnswers": _NONE,
        "addHumanAnswers": _NONE,
        "addPrompts": _NONE,
        "addRecords": _SENT,
        "addVotes": _VOTES,
        "appealCase": _NONE,
        "applyChangeSet": _CHANGE_SET,
        "approveJoinRequest": _NONE,
        "cancelChangeSet": _NONE,
        "cancelJob": _NONE,
        "changeBot": _PROTOCOL,
        "changeUser": _NONE,
        "changeWebhook": _NONE,
        "claimJob": _NONE,
        "closeCase": _NONE,
        "completeJob": _PROTOCOL,
        "createContest": _NONE,
        "createInvitation": _NONE,
        "createInvitations": _NONE,
        "createNextSeason": _NONE,
        "createToken": _NONE,
        "createUser": _NONE,
        "createWebhook": _NONE,
        "decideCase": _NONE,
        "drawRound": _PROTOCOL,
        "editContest": _NONE,
        "extendMember": _NONE,
        "failJob": _NONE,
        "finalizeContest": _NONE,
        "freezeContest": _NONE,
        "handIn": _PROTOCOL,
        "heartbeatJob": _NONE,
        "hideMember": _NONE,
        "importContest": _IMPORT,
        "noteCase": _NONE,
        "openCase": _NONE,
        "openContest": _NONE,
        "proposeChangeSet": _NONE,
        "publishProblem": _PROTOCOL,
        "qualifyBot": _PROTOCOL,
        "queueDryRun": _NONE,
        "redeliver": _NONE,
        "registerBot": _PROTOCOL,
        "reinstateMember": _NONE,
        "rejectJoinRequest": _NONE,
        "removeWebhook": _NONE,
        "retryJob": _NONE,
        "revealProblem": _NONE,
        "revokeInvitation": _NONE,
        "revokeToken": _NONE,
        "rollBackChangeSet": _CHANGE_SET,
        "rotateBotSecret": _NONE,
        "scanFindings": _NONE,
        "setQueue": _NONE,
        "submit": _PROTOCOL,
        "testWebhook": _NONE,
        "unfinalizeContest": _NONE,
        "unhideMember": _NONE,
        "restoreContest": _NONE,
        "voidContest": _NONE,
        "unfreezeContest": _NONE,
        "withdrawMember": _NONE,
    }
)
"""Every operation that changes something, by its id."""
