"""Decide which matches a judge may not vote on: those of own bots."""

from collections.abc import Mapping
from typing import Any

from agon.disciplines.ownership import FindRow


def obstacle(vote: Mapping[str, Any], judge: str, find: FindRow) -> str | None:
    """Return why a judge may not cast a vote: a bot of the match is the judge or has its owner.

    A judge's owners are the judge itself and the owner in its record, as a judge or as a bot.

    Example:
        >>> rows = {"m1": {"bot_a": "x", "bot_b": "y"}, "x": {"owner_id": "ann"}}
        >>> obstacle({"match_id": "m1"}, "ann", lambda table, name: rows.get(name))
        'the bot x of match m1 is their own'
        >>> obstacle({"match_id": "m1"}, "bob", lambda table, name: rows.get(name))
    """
    match = find("matches", str(vote.get("match_id")))
    if match is None:
        return None
    records = (find(table, judge) or {} for table in ("judges", "bots"))
    owners = {judge, *(str(row["owner_id"]) for row in records if row.get("owner_id"))}
    for side in ("bot_a", "bot_b"):
        bot = match.get(side)
        if bot is None:
            continue
        owner = (find("bots", str(bot)) or {}).get("owner_id")
        if str(bot) in owners or (owner is not None and str(owner) in owners):
            return f"the bot {bot} of match {vote['match_id']} is their own"
    return None
