"""Score a dojo season a second time, by dicts and loops, from the specification's page alone."""

import math
from typing import Any

Row = dict[str, Any]


def season(problems: list[Row], submissions: list[Row]) -> dict[str, Any]:
    """Return `problems` (id → ordered rows), `season` (ordered rows) under edition 0.1's rules."""
    boards = {p["id"]: problem_board(p, submissions) for p in problems}
    people: dict[str, Row] = {}
    for rows in boards.values():
        for row in rows:
            one = people.setdefault(row["id"], {"score": 0, "stage": 0, "reward": 0, "lengths": []})
            one["score"] += row["score"]
            one["stage"] += row["stage"]
            one["reward"] += row["reward"]
            if row["reward"]:
                one["lengths"].append(row["l_chars"])
    table = [(name, p["score"], p["reward"], middle(p["lengths"]), p["stage"])
             for name, p in people.items()]  # fmt: skip
    table.sort(key=lambda r: (-r[1], -r[2], math.inf if r[3] is None else r[3], r[0]))
    return {"problems": boards, "season": table}


def middle(lengths: list[int]) -> float | None:
    """Return the median."""
    if not lengths:
        return None
    ordered = sorted(lengths)
    half = len(ordered) // 2
    return float(ordered[half]) if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def problem_board(problem: Row, submissions: list[Row]) -> list[Row]:
    """Return the best submission of each user, best first."""
    n_check = problem.get("n_check") or 200
    freeze = problem.get("freeze_started_at")
    scored = []
    for s in submissions:
        if s["problem_id"] != problem["id"] or s["user_id"] == problem.get("setter_user_id"):
            continue
        until = max(freeze or "", s.get("extended_until") or "") if freeze else None
        if s["verdict"] == "sandbox_error" or (until is not None and s["created_at"] > until):
            continue
        stage = s["verdict"] == "ok" or (
            s["verdict"] == "wrong_answer" and s["terms_matched"] >= n_check // 2
        )
        reward = s["verdict"] == "ok" or (
            s["verdict"] == "wrong_answer" and s["terms_matched"] >= n_check
        )
        tag = s.get("method_tag")
        tag = tag if tag is not None and tag.strip() and len(tag) <= 64 else "unspecified"
        scored.append({**s, "stage": stage, "reward": reward, "tag": tag})
    correct = sorted((s for s in scored if s["reward"]), key=arrival)
    tags = {s["tag"] for s in correct}
    for s in scored:
        bonus = 0
        if s["reward"]:
            first = next(c for c in correct if c["tag"] == s["tag"])
            bonus = (30 if first is s else 0) + (20 if len(tags) >= 2 else 0)
        s["points"] = 0
        if s["reward"]:
            s["points"] = 1000 + math.floor(200 * math.exp(-s["l_chars"] / 800)) + min(bonus, 50)
        elif s["stage"]:
            s["points"] = 200
    scored.sort(key=lambda s: (-s["points"], s["l_chars"], *arrival(s)))
    seen: set[str] = set()
    rows = []
    for s in scored:
        if s["user_id"] not in seen:
            seen.add(s["user_id"])
            columns = {key: s[key] for key in ("l_chars", "stage", "reward")}
            rows.append(
                {"id": s["user_id"], "score": s["points"], "submission": s["id"], **columns}
            )
    return rows


def arrival(s: Row) -> tuple[str, str, str]:
    """Return what decides which submission is earlier."""
    return (s["created_at"], s["source_hash"], s["id"])
