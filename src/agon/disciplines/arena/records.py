"""Describe the tables the arena scores."""

from agon.records import Column, Kind, RowCheck, Schema, Table
from agon.records.conditions import Compare, Equals, IsNull, SameValue

SIDES = ("a", "b")
RESULTS = ("a", "b", "tie")
KINDS = ("rated", "honeypot", "skipped")
LABELS = ("A", "B", "tie")
JUDGE_KINDS = ("bot", "person", "api")

_OWNERS = Table(
    "owners",
    (
        Column("id", Kind.ID, meaning="The owner."),
        Column("handle", Kind.TEXT, meaning="The owner's name in messages."),
        Column(
            "account_created_at",
            Kind.TIMESTAMP,
            nullable=True,
            meaning="Time at which the account was created.",
            empty="unknown; the account is there at every --as-of",
        ),
        Column(
            "ip",
            Kind.TEXT,
            required=False,
            meaning="Network address, or a hash of it, of the account.",
            empty="unknown; not compared with others",
        ),
        Column(
            "network",
            Kind.TEXT,
            required=False,
            meaning="Network of the address, or a hash of it.",
            empty="unknown; not compared with others",
        ),
    ),
    key=("id",),
    time="account_created_at",
    meaning="The people or groups that own bots and judges.",
)

_BOTS = Table(
    "bots",
    (
        Column("id", Kind.ID, meaning="The bot."),
        Column(
            "owner_id",
            Kind.ID,
            required=False,
            references="owners.id",
            meaning="The bot's owner.",
            empty="no known owner",
        ),
        Column("name", Kind.TEXT, meaning="The bot's name in messages."),
        Column(
            "qualified_at",
            Kind.TIMESTAMP,
            required=False,
            meaning="Time at which the bot qualified.",
            empty="not qualified",
        ),
        Column(
            "is_judge",
            Kind.BOOLEAN,
            required=False,
            meaning="Whether the bot judges, too.",
            empty="false",
        ),
    ),
    required=True,
    key=("id",),
    # Seen at an earlier time, a bot is there but has not qualified yet.
    ends="qualified_at",
    meaning="The bots that are rated.",
)

_JUDGES = Table(
    "judges",
    (
        Column("id", Kind.ID, meaning="The judge."),
        Column(
            "owner_id",
            Kind.ID,
            required=False,
            references="owners.id",
            meaning="The judge's owner.",
            empty="no known owner",
        ),
        Column("kind", Kind.TEXT, choices=JUDGE_KINDS, meaning="What the judge is."),
    ),
    key=("id",),
    meaning="The judges that are not listed as bots.",
)

_MATCHES = Table(
    "matches",
    (
        Column("id", Kind.ID, meaning="The match; orders matches of equal times."),
        Column(
            "played_at",
            Kind.TIMESTAMP,
            nullable=True,
            meaning="Time of the match.",
            empty="unknown; before all known times",
        ),
        Column(
            "bot_a",
            Kind.ID,
            nullable=True,
            references="bots.id",
            meaning="The bot of side a.",
            empty="no bot on side a, in a honeypot",
        ),
        Column(
            "bot_b",
            Kind.ID,
            nullable=True,
            references="bots.id",
            meaning="The bot of side b.",
            empty="no bot on side b, in a honeypot",
        ),
        Column(
            "prompt_id",
            Kind.ID,
            required=False,
            meaning="The prompt that both sides answered.",
            empty="unknown",
        ),
        Column(
            "response_a",
            Kind.TEXT,
            required=False,
            meaning="The response of side a.",
            empty="unknown",
        ),
        Column(
            "response_b",
            Kind.TEXT,
            required=False,
            meaning="The response of side b.",
            empty="unknown",
        ),
        Column(
            "kind",
            Kind.TEXT,
            choices=KINDS,
            meaning="Whether the match is rated, a control of judges, or not played.",
        ),
        Column(
            "honeypot_real",
            Kind.TEXT,
            required=False,
            choices=SIDES,
            meaning="Side of the real response of a honeypot.",
            empty="not a honeypot",
        ),
        Column(
            "audit_verdict",
            Kind.TEXT,
            required=False,
            choices=RESULTS,
            meaning="Result that an audit established.",
            empty="not audited",
        ),
        Column(
            "winner",
            Kind.TEXT,
            required=False,
            choices=RESULTS,
            sides=("bot_a", "bot_b"),
            meaning="Result of a match without votes.",
            empty="score_a or the votes decide; without both the match has not ended",
        ),
        Column(
            "draw_seed",
            Kind.TEXT,
            required=False,
            meaning="Number that the draw of the match follows from.",
            empty="not drawn by agon",
        ),
        Column(
            "judge",
            Kind.TEXT,
            required=False,
            meaning="Who decided a match whose votes are not recorded.",
            empty="unknown; intervals take the match as independent of other judges'",
        ),
        Column(
            "score_a",
            Kind.NUMBER,
            required=False,
            low=0,
            high=1,
            meaning="Share of the point that side a took in a match without votes, such as a "
            "judge's preference.",
            empty="1, 0.5 or 0 by the result",
        ),
        Column(
            "weight",
            Kind.NUMBER,
            required=False,
            above=0,
            meaning="How often the match counts in Bradley–Terry ratings; as evidence it is one "
            "match.",
            empty="1",
        ),
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
            "score_a",
            (Equals("winner", "a") & Compare("score_a", "<", 0.5))
            | (Equals("winner", "b") & Compare("score_a", ">", 0.5)),
            "is not the score of the winner",
            "state a score above 0.5 where side a won and below it where side b did, or no winner",
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
    meaning="The matches between two bots, with their control matches.",
)

_VOTES = Table(
    "votes",
    (
        Column("match_id", Kind.ID, references="matches.id", meaning="The match."),
        Column("judge_id", Kind.ID, meaning="The judge."),
        Column(
            "shown_first", Kind.TEXT, choices=SIDES, meaning="Side whose response was shown as A."
        ),
        Column("vote", Kind.TEXT, choices=LABELS, meaning="The label that the judge chose."),
        Column(
            "voted_at",
            Kind.TIMESTAMP,
            nullable=True,
            meaning="Time of the vote.",
            empty="unknown; before all known times",
        ),
    ),
    key=("match_id", "judge_id"),
    time="voted_at",
    meaning="The judges' votes.",
)

_REINSTATEMENTS = Table(
    "reinstatements",
    (
        Column("judge_id", Kind.ID, meaning="The judge."),
        Column(
            "reinstated_at", Kind.TIMESTAMP, meaning="Time from which the judge may judge again."
        ),
        Column("reason", Kind.TEXT, meaning="The reason."),
    ),
    key=("judge_id", "reinstated_at"),
    time="reinstated_at",
    meaning="Judges that were suspended and may judge again.",
)

_VERSIONS = Table(
    "versions",
    (
        Column("bot_id", Kind.ID, references="bots.id", meaning="The bot."),
        Column(
            "version",
            Kind.TEXT,
            nullable=True,
            meaning="The new version, as its owner states it.",
            empty="not stated",
        ),
        Column("since", Kind.TIMESTAMP, meaning="Time from which it plays."),
    ),
    key=("bot_id", "since"),
    time="since",
    meaning="New versions of bots, from which their ratings are provisional again.",
)

SCHEMA = Schema("arena", (_OWNERS, _BOTS, _JUDGES, _MATCHES, _VOTES, _REINSTATEMENTS, _VERSIONS))
