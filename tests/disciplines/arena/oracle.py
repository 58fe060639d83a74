"""Score an arena a second time, from the spec page, with dicts and loops; knows nothing of agon."""

from collections import Counter, defaultdict
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

Row = dict[str, Any]


def id_key(name: Any) -> tuple[int, int, str]:
    """Order ids: whole numbers by value, then text."""
    text = str(name)
    digits = text.removeprefix("-")
    is_integer = digits.isascii() and digits.isdigit() and len(digits) <= 18
    if is_integer and str(int(text)) == text:
        return (0, int(text), "")
    return (1, 0, text)


def seen_at(tables: dict[str, list[Row]], time: datetime | None) -> dict[str, list[Row]]:
    """Return the rows up to a time."""
    if time is None:
        return tables
    times = {
        "matches": "played_at", "votes": "voted_at", "reinstatements": "reinstated_at",
        "versions": "since",
    }  # fmt: skip
    seen = {}
    for name, rows in tables.items():
        column = times.get(name)
        seen[name] = [
            dict(row) for row in rows
            if column is None or row.get(column) is None or row[column] <= time
        ]  # fmt: skip
    for bot in seen["bots"]:
        if bot.get("qualified_at") is not None and bot["qualified_at"] > time:
            bot["qualified_at"] = None
    return seen


def side_of(vote: Row) -> str:
    """Translate the label a judge saw into the side it stood for."""
    if vote["vote"] == "tie":
        return "tie"
    other = {"a": "b", "b": "a"}[vote["shown_first"]]
    return vote["shown_first"] if vote["vote"] == "A" else other


def most_voted(sides: list[str]) -> str | None:
    """Find the side with most votes; a tie where no single one has."""
    if not sides:
        return None
    ranked = Counter(sides).most_common()
    if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
        return "tie"
    return ranked[0][0]


def half_away(x: float) -> float:
    """Round to a whole number, a half away from zero."""
    return float(Decimal(repr(x)).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def score(
    tables: dict[str, list[Row]], rules: dict[str, Any], time: datetime | None = None
) -> dict[str, Any]:
    """Return ``bots`` and ``judges``: id → row, and the unscored of both."""
    tables = seen_at(tables, time)
    matches = sorted(
        tables["matches"],
        key=lambda m: (m["played_at"] is not None, m["played_at"] or datetime.min,  # noqa: DTZ901 - records hold UTC

                       id_key(m["id"])),
    )  # fmt: skip
    votes: dict[str, dict[str, str]] = defaultdict(dict)
    for vote in tables.get("votes", []):
        votes[str(vote["match_id"])][str(vote["judge_id"])] = side_of(vote)
    return {
        "bots": _bots(tables, matches, votes, rules),
        "judges": _judges(tables, matches, votes, rules),
    }


def _result(match: Row, votes: dict[str, str], rules: dict[str, Any]) -> str | None:
    if match["kind"] != "rated":
        return None
    if rules["audit_overturns"] and match.get("audit_verdict") in {"a", "b"}:
        return str(match["audit_verdict"])
    return most_voted(list(votes.values())) or match.get("winner")


def _bots(
    tables: dict[str, list[Row]],
    matches: list[Row],
    votes: dict[str, dict[str, str]],
    rules: dict[str, Any],
) -> dict[str, Row | None]:
    rating = {str(bot["id"]): float(rules["elo_start"]) for bot in tables["bots"]}
    tally: dict[str, Counter[str]] = {name: Counter() for name in rating}
    since: dict[str, datetime] = {}
    for row in tables.get("versions", []):
        name = str(row["bot_id"])
        since[name] = max(row["since"], since.get(name, row["since"]))
    of_version: Counter[str] = Counter()
    for match in matches:
        result = _result(match, votes[str(match["id"])], rules)
        if result is None:
            continue
        a, b = str(match["bot_a"]), str(match["bot_b"])
        s = {"a": 1.0, "b": 0.0, "tie": 0.5}[result]
        before = dict(rating)
        for own, other, actual in ((a, b, s), (b, a, 1 - s)):
            expected = 1 / (1 + 10 ** ((before[other] - before[own]) / rules["elo_scale"]))
            new = tally[own].total() < rules["games_established"]
            change = (rules["k_new"] if new else rules["k_established"]) * (actual - expected)
            rating[own] += half_away(change) if rules["round_changes"] else change
        for own, actual in ((a, s), (b, 1 - s)):
            tally[own][{1.0: "wins", 0.0: "losses", 0.5: "ties"}[actual]] += 1
            played = match["played_at"]
            of_version[own] += own not in since or (played is not None and played >= since[own])
    rows: dict[str, Row | None] = {}
    for bot in tables["bots"]:
        name = str(bot["id"])
        games = tally[name].total()
        if games == 0 and bot.get("qualified_at") is None:
            rows[name] = None
            continue
        rows[name] = {
            "rating": rating[name],
            "matches": games,
            **{key: tally[name][key] for key in ("wins", "losses", "ties")},
            "provisional": of_version[name] < rules["provisional_matches"],
        }
    return rows


def _judging_bots(tables: dict[str, list[Row]], kinds: dict[str, str]) -> set[str]:
    """Return the bots that judge: without an account of a known age they are in no pool."""
    assert not tables.get("owners")
    bots = {str(bot["id"]) for bot in tables["bots"]}
    return {
        judge
        for judge, kind in kinds.items()
        if kind == "bot" or (kind == "unlisted" and judge in bots)
    }


def _judges(  # noqa: C901 - one function, as on the page
    tables: dict[str, list[Row]],
    matches: list[Row],
    votes: dict[str, dict[str, str]],
    rules: dict[str, Any],
) -> dict[str, Row | None]:
    kinds = {str(bot["id"]): "bot" for bot in tables["bots"] if bot.get("is_judge")}
    kinds |= {judge: "unlisted" for of_match in votes.values() for judge in of_match}
    kinds |= {str(judge["id"]): judge["kind"] for judge in tables.get("judges", [])}
    credit = dict.fromkeys(kinds, rules["credibility_start"])
    tally: dict[str, Counter[str]] = {name: Counter() for name in kinds}
    out: set[str] = set()

    def move(judge: str, change: int) -> None:
        if kinds[judge] != "api":
            ceiling = rules["credibility_ceiling"]
            raised = credit[judge] + change
            raised = raised if ceiling is None else min(ceiling, raised)
            credit[judge] = max(rules["credibility_floor"], raised)
            if credit[judge] < rules["credibility_active"]:
                out.add(judge)

    back = sorted(tables.get("reinstatements", []), key=lambda row: row["reinstated_at"])

    def reinstate(until: datetime | None) -> None:
        while back and (until is None or back[0]["reinstated_at"] < until):
            judge = str(back.pop(0)["judge_id"])
            if judge in credit and kinds[judge] != "api":
                level = max(rules["credibility_active"], rules["credibility_floor"])
                credit[judge] = max(credit[judge], level)
                out.discard(judge)

    for match in matches:
        if match["played_at"] is not None:
            reinstate(match["played_at"])
        cast = votes[str(match["id"])]
        said = most_voted(list(cast.values()))
        audit = match.get("audit_verdict")
        for judge, side in cast.items():
            if match["kind"] == "rated":
                tally[judge]["votes"] += 1
                compared = said
                if rules["credibility_consensus"] == "others":
                    rest = [other for name, other in cast.items() if name != judge]
                    compared = most_voted(rest)
                    if rest.count("tie") <= max(rest.count("a"), rest.count("b")):
                        compared = None if compared == "tie" else compared
                if compared is not None:
                    tally[judge]["agreed" if side == compared else "against"] += 1
                    agreed = rules["credibility_agree"]
                    move(judge, agreed if side == compared else -rules["credibility_disagree"])
                if audit in {"a", "b"} and audit != said and side == said:
                    move(judge, -rules["credibility_audit"])
            elif match["kind"] == "honeypot":
                tally[judge]["votes"] += 1
                if side not in {"tie", match["honeypot_real"]}:
                    move(judge, -rules["credibility_honeypot"])
    reinstate(None)
    out |= _judging_bots(tables, kinds)
    rows: dict[str, Row | None] = {}
    for judge, kind in kinds.items():
        decided = tally[judge]["agreed"] + tally[judge]["against"]
        rows[judge] = None if kind == "api" else {
            "credibility": credit[judge],
            "active": judge not in out and credit[judge] >= rules["credibility_active"],
            "votes": tally[judge]["votes"],
            "agreement": round(tally[judge]["agreed"] / decided, 6) if decided else None,
        }  # fmt: skip
    return rows
