"""The rules about who may judge besides bots, and what is suspicious about it; off by default."""

from agon.disciplines.arena.live_rules import LiveRules
from agon.kernel.rules import rule

_ELIGIBILITY = "document 003, Requirements to Become a Judge"
_PROTECTION = "document 003, Additional Protections"


class GuardRules(LiveRules):
    """The rules that hold people who judge to what is required of bots."""

    person_account_age_days: float = rule(
        0,
        since="0.1",
        meaning="Age of a person's account, in days, from which the person may judge; 0: any, "
        "known or not.",
        reason="The source document's judges are bots; in a league among friends people judge at "
        "once.",
        source=_ELIGIBILITY,
        ge=0,
    )
    person_min_matches: int = rule(
        0,
        since="0.1",
        meaning="Matches that a person has judged, or whose bots have played rated ones, below "
        "which the person is a newcomer; 0: none is.",
        reason="The source document's judges are bots, which have played; a person may have no "
        "bot.",
        source=_ELIGIBILITY,
        ge=0,
    )
    person_qualified: bool = rule(
        default=False,
        since="0.1",
        meaning="Whether a person judges only once a bot of its own has qualified; off: without a "
        "bot.",
        reason="The source document's judges are bots, which have qualified; people show "
        "nothing by a qualification that they do not show by being people.",
        source=_ELIGIBILITY,
    )
    newcomers_per_panel: int = rule(
        1,
        since="0.1",
        meaning="Number of newcomers among the judges drawn for one match, reserves included; 0: "
        "they do not judge.",
        reason="The source document has no newcomers; one of three decides no match, and gains "
        "experience.",
        source=_ELIGIBILITY,
        ge=0,
        le=1001,
    )
    network_guard: bool = rule(
        default=False,
        since="0.1",
        meaning="Whether a judge is left out of a match if a bot's owner, or a judge drawn before "
        "it, has its network or its owner.",
        reason="The source document detects accounts on one network and excludes none; homes and "
        "universities share networks.",
        source=_PROTECTION,
    )
    panel_share: float = rule(
        0,
        since="0.1",
        meaning="Multiple of a fair share of the panels from which one person's share is "
        "reported; 0: it is not checked.",
        reason="The source document has no such check.",
        source=_PROTECTION,
        ge=0,
        le=1000,
    )
    burst_judges: int = rule(
        0,
        since="0.1",
        meaning="Accounts of judges created within burst_hours from which on they are reported; "
        "0: it is not checked.",
        reason="The source document has no such check.",
        source=_PROTECTION,
        ge=0,
        le=1_000_000,
    )
    burst_hours: float = rule(
        24,
        since="0.1",
        meaning="Hours within which accounts of judges count as created together.",
        reason="The source document has no such check; a day is what imported times resolve.",
        source=_PROTECTION,
        gt=0,
        le=8760,
    )
