"""What operations cost: for each the kind of work whose slots its requests wait for.

A test requires that every operation is listed. Quick ones take milliseconds and at most about a
MiB: they read or change one thing, or a page of some. Requests with bodies beyond
:data:`SMALL_BODY` are of the kind ``bodies`` in addition to what is listed.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "quick",
    "passwords",
    "reads",
    "boards",
    "pages",
    "forms",
    "pictures",
    "bodies",
    "endpoints",
    "streams",
]
"""Kinds of work that have slots of their own, and ``quick``, which needs none."""

QUICK: Final = "quick"

SMALL_BODY: Final = 64 << 10
"""Largest body in bytes whose value may be parsed without a slot."""

_OPERATIONS: Final[Mapping[Kind, str]] = {
    # A hash fills 64 MiB for a quarter of a second.
    "passwords": "acceptInvitation createUser changeUser",
    # Reads records of a contest, or as much of a board as a search does.
    "reads": "listMembers getMember withdrawMember reinstateMember hideMember unhideMember "
    "extendMember "
    "getMovement getWhatIf getProblemMatrix getExplanation getParticipant getHistory "
    "getRobustness getBoardRobustness getJudge getJudgeEligibility",
    # Reads all rows of a board, or writes all files of a contest.
    "boards": "getProof getRulesEffect exportContest",
    # Parses and validates records; the slot is taken when the body has arrived.
    "bodies": "importContest addRecords addVotes addPrompts addHumanAnswers addHoneypotAnswers",
    # Sends a request to the address that the caller names, and waits for its response.
    "endpoints": "registerBot changeBot rotateBotSecret",
    # Parts of a stream wait for slots one by one. Pages of boards are quick and take a slot for a
    # search (reads) or a download (streams).
    "streams": "getLedger",
    # Events and requests that wait for work have limits of their own: they only wait.
    "quick": "streamEvents getBotWork getJudgeWork getBoard getUnscored getRow getMe listUsers "
    "listTokens createToken revokeToken listAudit getDistribution listColumns listEpochs getEpoch "
    "listBoards listBots getBot getEligibility getQualification listBotFaults qualifyBot "
    "listFindings scanFindings listCases openCase getCase noteCase decideCase appealCase "
    "closeCase listOwnCases listChangeSets proposeChangeSet getChangeSet queueDryRun "
    "applyChangeSet cancelChangeSet rollBackChangeSet listContests createContest getContest "
    "editContest createNextSeason openContest freezeContest unfreezeContest finalizeContest "
    "unfinalizeContest voidContest restoreContest getFinalization listInvitations "
    "createInvitation createInvitations revokeInvitation "
    "listJoinRequests approveJoinRequest rejectJoinRequest getHoneypotBank listJobs claimJob "
    "getJob heartbeatJob completeJob failJob cancelJob retryJob getQueue setQueue getModelJudges "
    "getLedgerHead listLog listProblems getProblem publishProblem revealProblem listRecords "
    "listRounds getRound getNextRound listResults getMatch listLatencies getHealth getReadiness "
    "getMetrics listSnapshots getSnapshot listParticipants submit listSubmissions getSubmission "
    "getTrials "
    "listVotes drawRound listMatches listWebhooks createWebhook changeWebhook removeWebhook "
    "listDeliveries listProtections testWebhook redeliver handIn",
}

OPERATIONS: Final[Mapping[str, Kind]] = MappingProxyType(
    {name: kind for kind, names in _OPERATIONS.items() for name in names.split()}
)

UNLISTED: Final[Kind] = "reads"
