"""A second scorer, written from the specification with loops and dictionaries; it imports no agon.

Rows are dicts; whatever a column lacks is None. Numbers a spec page gives stand here as numbers.
"""

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

Rows = list[dict[str, Any]]

DEFAULTS: dict[str, Any] = {
    "affiliation_bonus": 50,
    "benchmark_creator_bonus": 100,
    "diverse_feedback_benchmarks_bonus": 30,
    "diverse_feedback_users_bonus": 40,
    "quality_prompts_bonus": 75,
    "difficult_prompts_bonus": 100,
    "sota_difficult_prompts_bonus": 150,
    "h_index_coefficient": 2,
    "quality_prompts_coefficient": 5,
    "feedback_activity_coefficient": 0.5,
    "collaboration_coefficient": 10,
    "min_positive_feedbacks": 3,
    "min_benchmark_contributors": 3,
    "min_feedback_benchmarks": 3,
    "min_feedback_users": 5,
    "min_quality_prompts": 3,
    "min_difficult_prompts": 3,
    "min_wrong_models": 3,
    "wrong_answer_threshold": 0.5,
    "wrong_answer_unit": "models",
    "self_feedback": "count",
    "min_prompt_reviews": 3,
    "min_reviewer_prompts": 5,
    "time_decay_half_life_days": None,
    "likes_per_creator": None,
    "daily_feedbacks": None,
    "min_collaborator_prompts": 0,
    "min_review_correlation": 0.7,
}
SOTA = {
    "claude-sonnet-4.5",
    "gpt-4o",
    "gpt-o1",
    "gemini-2.0-flash",
    "gemini-2.0-pro",
    "deepseek-v3",
}
ALIASES = {
    "o1": "gpt-o1",
    "claude-4.5-sonnet": "claude-sonnet-4.5",
    "claude-sonnet-4-5": "claude-sonnet-4.5",
    "deepseek-chat-v3": "deepseek-v3",
}
TIMED = ("users", "prompt_sets", "prompts", "quick_feedbacks", "comments", "prompt_comments",
         "response_comments", "score_comments", "flags", "nominations")  # fmt: skip
_EVER = datetime(1, 1, 1)  # noqa: DTZ001 - records hold UTC without a zone
OPTIONAL = ("diversity", "consistency", "comments", "review_quality", "impact", "nominations",
            "flags")  # fmt: skip


def slug(name: str) -> str:
    """Normalise a model's name."""
    name = re.sub(r"[ _]", "-", name.lower().strip())
    name = name.split("/")[-1]
    name = re.sub(r"-(\d{4}-\d{2}-\d{2}|\d{8})$", "", name)
    return ALIASES.get(name, name)


def seen_at(tables: Mapping[str, Rows], time: datetime | None) -> dict[str, Rows]:
    """Leave out what came later."""
    if time is None:
        return dict(tables)
    seen = {}
    for name, rows in tables.items():
        visible = [row for row in rows if name not in TIMED or row.get("created_at") is None
                or row["created_at"] <= time]  # fmt: skip
        if name == "prompt_sets":
            visible = [{**row, "deleted_at": row["deleted_at"] if row.get("deleted_at")
                     and row["deleted_at"] <= time else None} for row in visible]  # fmt: skip
        seen[name] = visible
    return seen


def score(  # noqa: C901, PLR0912, PLR0915 - one long loop reads like the specification
    tables: Mapping[str, Rows],
    changed: Mapping[str, Any] | None = None,
    time: datetime | None = None,
    *,
    reviews: bool = True,
) -> dict[str, Any]:
    """Score all users; return the rows of the boards by user id, and ``unranked`` reviewers.

    Without ``reviews`` the reviewers are left out.
    """
    rules = {**DEFAULTS, **(changed or {})}
    tables = defaultdict(list, seen_at(tables, time))
    users = [row["id"] for row in tables["users"]]
    here = set(users)
    registered = {(row["cid"], row["sha256"]): row["uploader_id"]
                  for row in tables["hash_registrations"]}  # fmt: skip
    creator: dict[Any, Any] = {}
    written: dict[Any, Any] = {}
    for row in tables["prompts"]:
        author = row.get("uploader_id")
        if author is None:
            author = registered.get(
                (row.get("hash_cid_registration"), row.get("hash_sha256_registration"))
            )
        creator[row["id"]] = author if author in here else None
        written[row["id"]] = row.get("created_at")

    # Feedback: the last of each user on each target.
    prompt_of_response = {row["id"]: row["prompt_id"] for row in tables["responses"]
                          if row["prompt_id"] in creator}  # fmt: skip
    responses_scored = {row.get("id"): row["response_id"] for row in tables["scores"]}
    last: dict[Any, tuple[Any, ...]] = {}
    for place, row in enumerate(tables["quick_feedbacks"]):
        if row["user_id"] not in here:
            continue
        if row.get("prompt_id") is not None:
            target: tuple[str, Any] = ("prompt", row["prompt_id"])
            there = row["prompt_id"] in creator
        elif row.get("response_id") is not None:
            target = ("response", row["response_id"])
            there = row["response_id"] in prompt_of_response
        else:
            target = ("score", row["score_id"])
            there = responses_scored[row["score_id"]] in prompt_of_response
        if not there:
            continue
        when = row.get("created_at")
        key = (when is not None, when or _EVER, place)
        old = last.get((row["user_id"], target))
        if old is None or key > old[0]:
            last[row["user_id"], target] = (key, row["opinion"] == "positive", when)
    on_prompts: list[tuple[Any, Any, bool]] = []
    given: dict[Any, list[datetime | None]] = defaultdict(list)
    on_day: dict[Any, int] = defaultdict(int)
    for (user, (kind, target_id)), (_, positive, when) in sorted(
        last.items(), key=lambda item: item[1][0]
    ):
        if kind == "prompt" and rules["self_feedback"] == "ignore" and creator[target_id] == user:
            continue
        if rules["daily_feedbacks"] is not None and when is not None:
            day = (user, kind == "prompt", when.date())
            on_day[day] += 1
            if on_day[day] > rules["daily_feedbacks"]:
                continue
        if kind == "prompt":
            on_prompts.append((user, target_id, positive))
        given[user].append(when)
    likes: dict[Any, int] = defaultdict(int)
    of_creator: dict[Any, int] = defaultdict(int)
    opinions: dict[Any, list[int]] = defaultdict(list)
    for user, prompt, positive in on_prompts:
        opinions[prompt].append(1 if positive else -1)
        if positive:
            pair = (user, creator[prompt])
            of_creator[pair] += creator[prompt] is not None
            most = rules["likes_per_creator"]
            likes[prompt] += most is None or of_creator[pair] <= most

    # Benchmarks.
    alive = {row["id"]: row for row in tables["prompt_sets"] if row.get("deleted_at") is None}
    holds: dict[Any, set[Any]] = defaultdict(set)
    held: dict[Any, set[Any]] = defaultdict(set)
    for row in tables["prompt_set_prompts"]:
        at, prompt = row["prompt_set_id"], row["prompt_id"]
        if row.get("status") != "excluded" and at in alive and prompt in creator:
            holds[prompt].add(at)
            held[at].add(prompt)
    owners: dict[Any, set[Any]] = defaultdict(set)
    admins: dict[Any, set[Any]] = defaultdict(set)
    helpers: dict[Any, set[Any]] = defaultdict(set)
    for at, row in alive.items():
        if row.get("owner_id") in here:
            owners[at].add(row["owner_id"])
    for row in tables["user_role_on_prompt_set"]:
        if row["prompt_set_id"] in alive and row["user_id"] in here:
            if row["role"] == "owner":
                owners[row["prompt_set_id"]].add(row["user_id"])
            elif row["role"] == "admin":
                admins[row["prompt_set_id"]].add(row["user_id"])
            if row["role"] in {"admin", "collaborator"}:
                helpers[row["prompt_set_id"]].add(row["user_id"])
    creators = {at: {creator[p] for p in held[at]} - {None} for at in alive}

    # Wrong models.
    slugs = {row["id"]: row.get("model") or row.get("name") for row in tables["provider_models"]}
    model_of = {row["id"]: slug(str(row.get("model") or slugs[row["model_id"]]))
                for row in tables["responses"]}  # fmt: skip
    marks: dict[Any, list[int]] = defaultdict(list)  # in billionths, so that a mean is exact
    for row in tables["scores"]:
        response = row["response_id"]
        if response in prompt_of_response:
            unit: Any = model_of[response]
            if rules["wrong_answer_unit"] == "responses":
                unit = (unit, response)
            marks[prompt_of_response[response], unit].append(round(row["score"] * 1e9))
    wrong: dict[Any, int] = defaultdict(int)
    wrong_sota: dict[Any, int] = defaultdict(int)
    limit = round(rules["wrong_answer_threshold"] * 1e9)
    for (prompt, unit), result in marks.items():
        if sum(result) < limit * len(result):
            wrong[prompt] += 1
            wrong_sota[prompt] += (unit[0] if isinstance(unit, tuple) else unit) in SOTA

    affiliated = {row["user_id"] for row in tables["org_to_people"]}
    reviewers = _reviewers(on_prompts, opinions, rules) if reviews else {}
    now = time or max(
        [t for t in [*written.values(), *(t for ts in given.values() for t in ts)] if t],
        default=None,
    )

    def weight(when: datetime | None) -> float:
        half_life = rules["time_decay_half_life_days"]
        if half_life is None or when is None or now is None:
            return 1.0
        return float(2 ** (-(now - when).total_seconds() / 86_400 / half_life))

    mine: dict[Any, list[Any]] = defaultdict(list)
    for prompt, author in creator.items():
        if author is not None:
            mine[author].append(prompt)
    rated: dict[Any, list[Any]] = defaultdict(list)
    for user, prompt, _ in on_prompts:
        rated[user].append(prompt)
    board, contributors = {}, {}
    for user in users:
        good = [p for p in mine[user] if likes[p] >= rules["min_positive_feedbacks"]]
        hard = [p for p in good if wrong[p] >= rules["min_wrong_models"]]
        hardest = [p for p in good if wrong_sota[p] >= rules["min_wrong_models"]]
        ordered = sorted((likes[p] for p in mine[user]), reverse=True)
        h = max((n for n in range(len(ordered) + 1) if all(x >= n for x in ordered[:n])), default=0)
        founded = [at for at in alive if user in owners[at]
                   and len(creators[at]) >= rules["min_benchmark_contributors"]]  # fmt: skip
        run = [at for at in alive if user in owners[at] | admins[at]]
        partners = set().union(*(creators[at] | owners[at] | helpers[at] for at in run)) - {user}
        partners = {
            partner
            for partner in partners
            if sum(likes[p] >= rules["min_positive_feedbacks"] for p in mine[partner])
            >= rules["min_collaborator_prompts"]
        }
        counts: dict[str, Any] = {
            "affiliation": int(user in affiliated),
            "benchmark_creator": len(founded),
            "diverse_feedback_benchmarks": len(set().union(*(holds[p] for p in rated[user]))),
            "diverse_feedback_users": len({creator[p] for p in rated[user]} - {None}),
            "quality_prompts": len(good),
            "difficult_prompts": len(hard),
            "sota_difficult_prompts": len(hardest),
            "h_index": h,
            "feedback_activity": len(given[user]),
            "collaboration": len(partners),
        }
        several = rules["min_difficult_prompts"]
        points = {
            "affiliation": rules["affiliation_bonus"] * (user in affiliated),
            "benchmark_creator": rules["benchmark_creator_bonus"] * bool(founded),
            "diverse_feedback_benchmarks": rules["diverse_feedback_benchmarks_bonus"]
            * (counts["diverse_feedback_benchmarks"] >= rules["min_feedback_benchmarks"]),
            "diverse_feedback_users": rules["diverse_feedback_users_bonus"]
            * (counts["diverse_feedback_users"] >= rules["min_feedback_users"]),
            "quality_prompts_bonus": rules["quality_prompts_bonus"]
            * (len(good) >= rules["min_quality_prompts"]),
            "difficult_prompts_bonus": rules["difficult_prompts_bonus"] * (len(hard) >= several),
            "sota_difficult_prompts_bonus": rules["sota_difficult_prompts_bonus"]
            * (len(hardest) >= several),
            "h_index": h**2 * rules["h_index_coefficient"],
            "quality_prompts": sum(weight(written[p]) for p in good)
            * rules["quality_prompts_coefficient"],
            "feedback_activity": sum(weight(when) for when in given[user])
            * rules["feedback_activity_coefficient"],
            "collaboration": len(partners) * rules["collaboration_coefficient"],
        }
        if any(rules.get(name) for name in OPTIONAL):
            seen = {"tables": tables, "holds": holds, "held": held, "here": here, "alive": alive,
                    "written": written, "mine": mine[user], "good": good, "given": given[user],
                    "reviewers": reviewers}  # fmt: skip
            extra = _optional(user, rules, seen)
            for name, (count, worth) in extra.items():
                counts[name], points[name] = count, worth
        total = math.fsum(points.values())
        board[user] = {"score": total, "components": points, "counts": counts}
        quality = [sum(opinions[p]) / len(opinions[p]) for p in mine[user]
                   if len(opinions[p]) >= rules["min_prompt_reviews"]]  # fmt: skip
        contributors[user] = {"score": math.fsum(quality) + 10 * (user in affiliated)}
    ranked = {u: r for u, r in reviewers.items() if r[0] >= rules["min_reviewer_prompts"]}
    return {
        "user-score": board,
        "contributor": contributors,
        "reviewer": {user: {"score": r} for user, (_, r) in ranked.items()},
        "unranked": {user for user in users if user not in ranked},
    }


def ranks(rows: Mapping[Any, Mapping[str, Any]]) -> dict[Any, int]:
    """Rank published scores: equal ones share a rank."""
    scores = {user: round(row["score"] + 1e-12, 6) for user, row in rows.items()}
    return {u: 1 + sum(other > mine for other in scores.values()) for u, mine in scores.items()}


def _reviewers(
    on_prompts: list[tuple[Any, Any, bool]], opinions: Mapping[Any, list[int]], rules: Any
) -> dict[Any, tuple[int, float]]:
    pairs: dict[Any, list[tuple[int, Fraction]]] = defaultdict(list)
    for user, prompt, positive in on_prompts:
        n, own = len(opinions[prompt]), 1 if positive else -1
        if n >= max(rules["min_prompt_reviews"], 2):
            pairs[user].append((own, Fraction(sum(opinions[prompt]) - own, n - 1)))
    return {user: (len(rows), _pearson(rows)) for user, rows in pairs.items()}


def _pearson(rows: list[tuple[int, Fraction]]) -> float:
    n = len(rows)
    mx, my = Fraction(sum(x for x, _ in rows), n), sum(y for _, y in rows) / n
    xx = sum((x - mx) ** 2 for x, _ in rows)
    yy = sum((y - my) ** 2 for _, y in rows)
    if not xx or not yy:
        return 0.0
    return float(sum((x - mx) * (y - my) for x, y in rows)) / math.sqrt(float(xx * yy))


def _optional(user: Any, rules: Any, seen: dict[str, Any]) -> dict[str, tuple[Any, float]]:
    """Score the opt-in components of one user from what has been gathered."""
    tables, holds, held, here = seen["tables"], seen["holds"], seen["held"], seen["here"]
    alive, written, mine, good = seen["alive"], seen["written"], seen["mine"], seen["good"]
    given, reviewers = seen["given"], seen["reviewers"]
    result: dict[str, tuple[Any, float]] = {}
    if rules.get("diversity"):
        categories = {alive[at].get("category") for p in mine for at in holds[p]} - {None}
        result["diversity"] = len(categories), len(categories) * 8
    if rules.get("consistency"):
        times = [written[p] for p in mine] + given
        months = {(t.year, t.month) for t in times if t is not None}
        result["consistency"] = len(months), len(months) * 3
    if rules.get("comments"):
        named = ("comments", "prompt_comments", "response_comments", "score_comments")
        said = sum(row["user_id"] == user for table in named for row in tables[table])
        result["comments"] = said, said
    if rules.get("review_quality"):
        rated, r = reviewers.get(user, (0, 0.0))
        r = round(r, 6) if rated >= rules["min_reviewer_prompts"] else 0.0
        result["review_quality"] = r, r * 50 if r >= rules["min_review_correlation"] else 0.0
    if rules.get("impact"):
        total = 0.0
        for prompt in good:
            near = set().union(*(held[at] for at in holds[prompt]))
            runners = {row.get("user_id") for row in tables["responses"]
                       if row["prompt_id"] in near} & here - {user}  # fmt: skip
            total += math.log2(1 + len(runners))
        result["impact"] = total, total * 5
    if rules.get("nominations"):
        by = {row["by_user_id"] for row in tables["nominations"] if row["user_id"] == user}
        # A user who does not exist at as_of cannot have nominated others.
        count = len(by & here - {user})
        result["nominations"] = count, count * 5
    if rules.get("flags"):
        upheld = sum(row["user_id"] == user and row.get("upheld") is not False
                     for row in tables["flags"])  # fmt: skip
        result["flags"] = upheld, -20.0 * upheld
    return result
