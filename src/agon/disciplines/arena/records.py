"""Describe the tables the arena scores."""

from agon.records import Column, Kind, RowCheck, Schema, Table
from agon.records.conditions import Equals, IsNull, SameValue

SIDES = ("a", "b")
RESULTS = ("a", "b", "tie")
KINDS = ("rated", "honeypot", "skipped")
LABELS = ("A", "B", "tie")
JUDGE_KINDS = ("bot", "person", "api")

_OWNERS = Table(
    "owners",
    (
        Column("id", Kind.ID),
        Column("handle", Kind.TEXT),
        Column("account_created_at", Kind.TIMESTAMP, nullable=True),
        Column("ip", Kind.TEXT, required=False),
        Column("network", Kind.TEXT, required=False),
    ),
    key=("id",),
    time="account_created_at",
)

_BOTS = Table(
    "bots",
    (
        Column("id", Kind.ID),
        Column("owner_id", Kind.ID, required=False, references="owners.id"),
        Column("name", Kind.TEXT),
        Column("qualified_at", Kind.TIMESTAMP, required=False),
        Column("is_judge", Kind.BOOLEAN, required=False),
    ),
    required=True,
    key=("id",),
    # Seen at an earlier time, a bot is there but has not qualified yet.
    ends="qualified_at",
)

_JUDGES = Table(
    "judges",
    (
        Column("id", Kind.ID),
        Column("owner_id", Kind.ID, required=False, references="owners.id"),
        Column("kind", Kind.TEXT, choices=JUDGE_KINDS),
    ),
    key=("id",),
)

_MATCHES = Table(
    "matches",
    (
        Column("id", Kind.ID),
        Column("played_at", Kind.TIMESTAMP, nullable=True),
        Column("bot_a", Kind.ID, nullable=True, references="bots.id"),
        Column("bot_b", Kind.ID, nullable=True, references="bots.id"),
        Column("prompt_id", Kind.ID, required=False),
        Column("response_a", Kind.TEXT, required=False),
        Column("response_b", Kind.TEXT, required=False),
        Column("kind", Kind.TEXT, choices=KINDS),
        Column("honeypot_real", Kind.TEXT, required=False, choices=SIDES),
        Column("audit_verdict", Kind.TEXT, required=False, choices=RESULTS),
        Column("winner", Kind.TEXT, required=False, choices=RESULTS),
        Column("draw_seed", Kind.TEXT, required=False),
    ),
    required=True,
    key=("id",),
    time="played_at",
    checks=(
        RowCheck(
            "bot_a",
            Equals("kind", "rated") & IsNull("bot_a"),
            "is empty in a rated match",
            "name the bot that answered",
        ),
        RowCheck(
            "bot_b",
            Equals("kind", "rated") & IsNull("bot_b"),
            "is empty in a rated match",
            "name the bot that answered",
        ),
        RowCheck(
            "bot_b",
            SameValue("bot_a", "bot_b"),
            "is also bot_a",
            "name two different bots",
        ),
        RowCheck(
            "honeypot_real",
            Equals("kind", "honeypot") & IsNull("honeypot_real"),
            "is empty in a honeypot",
            "give the real side, a or b",
        ),
        RowCheck(
            "honeypot_real",
            Equals("kind", "honeypot")
            & (
                (Equals("honeypot_real", "a") & IsNull("bot_a"))
                | (Equals("honeypot_real", "b") & IsNull("bot_b"))
            ),
            "names a side without a bot",
            "name the bot on the real side",
        ),
    ),
)

_VOTES = Table(
    "votes",
    (
        Column("match_id", Kind.ID, references="matches.id"),
        Column("judge_id", Kind.ID),
        Column("shown_first", Kind.TEXT, choices=SIDES),
        Column("vote", Kind.TEXT, choices=LABELS),
        Column("voted_at", Kind.TIMESTAMP, nullable=True),
    ),
    key=("match_id", "judge_id"),
    time="voted_at",
)

_REINSTATEMENTS = Table(
    "reinstatements",
    (
        Column("judge_id", Kind.ID),
        Column("reinstated_at", Kind.TIMESTAMP),
        Column("reason", Kind.TEXT),
    ),
    key=("judge_id", "reinstated_at"),
    time="reinstated_at",
)

SCHEMA = Schema("arena", (_OWNERS, _BOTS, _JUDGES, _MATCHES, _VOTES, _REINSTATEMENTS))
