"""Responses of raw operations, which stream or set their own headers."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from agon.http.handlers import events, ledgers, prompts, records, service, work

HANDLERS: Final[Mapping[str, Callable[..., Any]]] = {
    "addHoneypotAnswers": prompts.add_honeypot_answers,
    "addHumanAnswers": prompts.add_human_answers,
    "addPrompts": prompts.add_prompts,
    "addRecords": records.add_records,
    "addVotes": records.add_votes,
    "exportContest": ledgers.export_contest,
    "getBotWork": work.bot_work,
    "getHealth": service.get_health,
    "getJudgeWork": work.judge_work,
    "getLedger": ledgers.get_ledger,
    "getLedgerHead": ledgers.get_head,
    "getMetrics": service.get_metrics,
    "getReadiness": service.get_readiness,
    "importContest": ledgers.import_contest,
    "streamEvents": events.stream_events,
}
"""Handlers of raw operations by the operation's id.

:mod:`agon.http.handlers.boards` has the others.
"""
