"""Draw small communities with the features that make scoring hard."""

from datetime import datetime, timedelta
from typing import Any

from hypothesis import strategies as st

Rows = list[dict[str, Any]]

MODELS = ("gpt-4o", "openai/GPT_4o-2024-08-06", "gpt-4o-mini", "o1", "claude-4.5-sonnet", "m")
DAY = datetime(2026, 1, 1)  # noqa: DTZ001 - records hold UTC without a zone


@st.composite
def communities(draw: st.DrawFn) -> dict[str, Rows]:
    """Draw a community: ties, repeats, empty values, missing tables, ids of both kinds."""
    pattern, step = draw(st.sampled_from([("", 1), ("%s%d", 1), ("", 10**12)]))

    def name(kind: str, number: int) -> int | str:
        return pattern % (kind, number) if pattern else number * step

    times = st.none() | st.integers(0, 80).map(lambda n: DAY + timedelta(days=n, hours=n % 24))
    few = draw(st.integers(1, 8))
    users = [name("u", n) for n in range(few)]
    prompts = [name("p", n) for n in range(draw(st.integers(0, 8)))]
    sets = [name("s", n) for n in range(draw(st.integers(0, 4)))]
    requests = draw(st.integers(0, 14)) if prompts else 0
    responses = [name("r", n) for n in range(requests)]
    user, prompt = st.sampled_from(users), st.sampled_from(prompts) if prompts else st.nothing()

    def rows(least: int, most: int, **columns: st.SearchStrategy[Any]) -> Rows:
        return draw(st.lists(st.fixed_dictionaries(columns), min_size=least, max_size=most))

    tables: dict[str, Rows] = {
        "users": [{"id": one, "created_at": draw(times)} for one in users],
        "org_to_people": rows(0, 4, user_id=user, org_id=st.integers(1, 2)),
        "provider_models": [{"id": name("m", n), "name": one} for n, one in enumerate(MODELS)],
    }
    tables["prompt_sets"] = [
        {"id": one, "owner_id": draw(st.none() | user), "category": draw(st.sampled_from("ab")),
         "created_at": draw(times), "deleted_at": draw(st.none() | st.just(DAY + timedelta(40)))}
        for one in sets
    ]  # fmt: skip
    tables["hash_registrations"] = [
        {"cid": f"c{n}", "sha256": "x", "uploader_id": draw(st.none() | user)} for n in range(3)
    ]
    tables["prompts"] = [
        {"id": one, "created_at": draw(times), "uploader_id": draw(st.none() | user),
         "hash_cid_registration": draw(st.sampled_from(["c0", "c1", "c9", None])),
         "hash_sha256_registration": "x"}
        for one in prompts
    ]  # fmt: skip
    if prompts:
        tables["responses"] = [
            {"id": one, "prompt_id": draw(prompt), "user_id": draw(st.none() | user),
             **draw(st.sampled_from(MODELS).map(lambda model: {"model": model, "model_id": None})
                    | st.integers(0, 5).map(lambda n: {"model": None, "model_id": name("m", n)}))}
            for one in responses
        ]  # fmt: skip
        marks = st.integers(0, 10).map(lambda n: n / 10)
        tables["scores"] = [
            {"id": name("k", n), "response_id": draw(st.sampled_from(responses)),
             "score": draw(marks)}
            for n in range(draw(st.integers(0, 30)) if responses else 0)
        ]  # fmt: skip
        targets = [st.fixed_dictionaries({"prompt_id": prompt})] * 4
        if responses:
            targets.append(st.fixed_dictionaries({"response_id": st.sampled_from(responses)}))
        if tables["scores"]:
            ids = st.sampled_from([row["id"] for row in tables["scores"]])
            targets.append(st.fixed_dictionaries({"score_id": ids}))
        tables["quick_feedbacks"] = [
            {"user_id": draw(user), "prompt_id": None, "response_id": None, "score_id": None,
             "opinion": draw(st.sampled_from(["positive", "positive", "negative"])),
             "created_at": draw(times), **draw(st.one_of(targets))}
            for _ in range(draw(st.integers(0, 60)))
        ]  # fmt: skip
    if prompts and sets:
        tables["prompt_set_prompts"] = rows(
            0, 16, prompt_set_id=st.sampled_from(sets), prompt_id=prompt,
            status=st.sampled_from(["included", "included", "draft", "excluded", None]),
        )  # fmt: skip
    if sets:
        tables["user_role_on_prompt_set"] = rows(
            0, 8, user_id=user, prompt_set_id=st.sampled_from(sets),
            role=st.sampled_from(["owner", "admin", "collaborator", "reviewer", "none", None]),
        )  # fmt: skip
    for table in ("comments", "prompt_comments"):
        tables[table] = rows(0, 3, user_id=user, created_at=times)
    tables["flags"] = rows(0, 3, user_id=user, reason=st.just("spam"), created_at=times,
                           upheld=st.sampled_from([True, False, None]))  # fmt: skip
    tables["nominations"] = rows(0, 4, user_id=user, by_user_id=user, created_at=times)
    return {table: rows for table, rows in tables.items() if rows}
