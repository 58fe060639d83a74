"""The user score as people write it by hand: one DuckDB query, and Polars expressions.

Both read a folder of Parquet files whose prompts name their uploader and whose responses name
their model, take the rows as they are (no value is checked, nothing can be explained), and know
the default rules only. They return a score by user.
"""

from pathlib import Path

import duckdb
import polars as pl

SOTA = (
    "claude-sonnet-4.5", "gpt-4o", "gpt-o1", "gemini-2.0-flash", "gemini-2.0-pro", "deepseek-v3"
)  # fmt: skip
ALIASES = {
    "o1": "gpt-o1",
    "claude-4.5-sonnet": "claude-sonnet-4.5",
    "claude-sonnet-4-5": "claude-sonnet-4.5",
    "deepseek-chat-v3": "deepseek-v3",
}
TABLES = (
    "users", "org_to_people", "prompt_sets", "prompts", "prompt_set_prompts", "quick_feedbacks",
    "responses", "scores", "user_role_on_prompt_set",
)  # fmt: skip
# A trailing date of a model's name, and what stands before its last slash.
DATE = r"-(\d{4}-\d{2}-\d{2}|\d{8})$"
PROVIDER = r"^.*/"
EXACT = 1_000_000_000  # marks in billionths, so that a mean is compared exactly

QUERY = f"""
WITH aliases(name, slug) AS (VALUES {", ".join(f"('{a}', '{b}')" for a, b in ALIASES.items())}),
named AS (
    SELECT model, regexp_replace(
        regexp_replace(translate(lower(trim(model)), ' _', '--'), '{PROVIDER}', ''), '{DATE}', ''
    ) AS name
    FROM (SELECT DISTINCT model FROM responses)
),
models AS (SELECT model, coalesce(slug, name) AS slug FROM named LEFT JOIN aliases USING (name)),
made AS (
    SELECT p.id, u.id AS creator FROM prompts p LEFT JOIN users u ON u.id = p.uploader_id
),
known AS (SELECT r.id, r.prompt_id FROM responses r JOIN made ON made.id = r.prompt_id),
feedback AS (
    SELECT f.user_id, f.prompt_id, f.opinion
    FROM quick_feedbacks f
    WHERE f.user_id IN (SELECT id FROM users) AND CASE
        WHEN f.prompt_id IS NOT NULL THEN f.prompt_id IN (SELECT id FROM made)
        WHEN f.response_id IS NOT NULL THEN f.response_id IN (SELECT id FROM known)
        ELSE f.score_id IN (SELECT s.id FROM scores s JOIN known k ON k.id = s.response_id)
    END
    QUALIFY row_number() OVER (
        PARTITION BY f.user_id, f.prompt_id, f.response_id, f.score_id
        ORDER BY f.created_at DESC NULLS LAST, f.id DESC
    ) = 1
),
likes AS (
    SELECT prompt_id AS id, count(*) AS likes FROM feedback
    WHERE prompt_id IS NOT NULL AND opinion = 'positive' GROUP BY ALL
),
marks AS (
    SELECT r.prompt_id AS id, m.slug
    FROM scores s JOIN responses r ON r.id = s.response_id JOIN models m USING (model)
    GROUP BY ALL
    HAVING sum(round(s.score * {EXACT})::BIGINT) < {EXACT // 2} * count(*)
),
wrong AS (
    SELECT id, count(*) AS wrong, count(*) FILTER (slug IN {SOTA}) AS wrong_sota
    FROM marks GROUP BY ALL
),
facts AS (
    SELECT id, creator, coalesce(likes, 0) AS likes, coalesce(wrong, 0) AS wrong,
           coalesce(wrong_sota, 0) AS wrong_sota
    FROM made LEFT JOIN likes USING (id) LEFT JOIN wrong USING (id)
    WHERE creator IS NOT NULL
),
quality AS (
    SELECT creator AS id, count(*) AS good, count(*) FILTER (wrong >= 3) AS hard,
           count(*) FILTER (wrong_sota >= 3) AS hardest
    FROM facts WHERE likes >= 3 GROUP BY ALL
),
h AS (
    SELECT creator AS id, count(*) FILTER (likes >= place) AS h FROM (
        SELECT creator, likes,
               row_number() OVER (PARTITION BY creator ORDER BY likes DESC) AS place FROM facts
    ) GROUP BY ALL
),
alive AS (SELECT id, owner_id FROM prompt_sets WHERE deleted_at IS NULL),
members AS (
    SELECT DISTINCT prompt_set_id AS set_id, prompt_id, creator
    FROM prompt_set_prompts JOIN made ON made.id = prompt_id
    WHERE status IS DISTINCT FROM 'excluded' AND prompt_set_id IN (SELECT id FROM alive)
),
roles AS (
    SELECT prompt_set_id AS set_id, user_id, role FROM user_role_on_prompt_set
    WHERE prompt_set_id IN (SELECT id FROM alive) AND user_id IN (SELECT id FROM users)
),
owners AS (
    SELECT id AS set_id, owner_id AS user_id FROM alive WHERE owner_id IN (SELECT id FROM users)
    UNION SELECT set_id, user_id FROM roles WHERE role = 'owner'
),
creators AS (SELECT DISTINCT set_id, creator AS user_id FROM members WHERE creator IS NOT NULL),
founders AS (
    SELECT DISTINCT user_id AS id FROM owners
    WHERE set_id IN (SELECT set_id FROM creators GROUP BY set_id HAVING count(*) >= 3)
),
people AS (
    FROM creators UNION FROM owners
    UNION SELECT set_id, user_id FROM roles WHERE role IN ('admin', 'collaborator')
),
leaders AS (FROM owners UNION SELECT set_id, user_id FROM roles WHERE role = 'admin'),
partners AS (
    SELECT l.user_id AS id, count(DISTINCT p.user_id) AS partners
    FROM leaders l JOIN people p USING (set_id) WHERE p.user_id <> l.user_id GROUP BY ALL
),
given AS (SELECT user_id AS id, count(*) AS given FROM feedback GROUP BY ALL),
rated AS (SELECT user_id AS id, prompt_id FROM feedback WHERE prompt_id IS NOT NULL),
sets AS (
    SELECT r.id, count(DISTINCT m.set_id) AS sets
    FROM rated r JOIN members m USING (prompt_id) GROUP BY ALL
),
authors AS (
    SELECT r.id, count(DISTINCT creator) AS authors
    FROM rated r JOIN made ON made.id = r.prompt_id GROUP BY ALL
)
SELECT u.id,
    50 * (u.id IN (SELECT user_id FROM org_to_people))::INT
    + 100 * (u.id IN (FROM founders))::INT
    + 30 * coalesce(sets >= 3, false)::INT + 40 * coalesce(authors >= 5, false)::INT
    + 75 * coalesce(good >= 3, false)::INT + 100 * coalesce(hard >= 3, false)::INT
    + 150 * coalesce(hardest >= 3, false)::INT
    + 2 * coalesce(h, 0) ** 2 + 5 * coalesce(good, 0) + 0.5 * coalesce(given, 0)
    + 10 * coalesce(partners, 0) AS score
FROM users u
LEFT JOIN quality USING (id) LEFT JOIN h USING (id) LEFT JOIN partners USING (id)
LEFT JOIN given USING (id) LEFT JOIN sets USING (id) LEFT JOIN authors USING (id)
"""


def by_duckdb(folder: Path) -> dict[int, float]:
    """Score by one query."""
    with duckdb.connect() as engine:
        for table in TABLES:
            engine.execute(f"CREATE VIEW {table} AS FROM '{folder}/{table}.parquet'")
        return dict(engine.execute(QUERY).fetchall())


def by_polars(folder: Path) -> dict[int, float]:
    """Score by expressions on data frames that are read lazily."""
    table = {name: pl.scan_parquet(folder / f"{name}.parquet") for name in TABLES}
    users = table["users"].select("id")
    here = users.rename({"id": "user_id"})
    made = table["prompts"].select("id", pl.col("uploader_id").alias("creator")).join(
        users.with_columns(creator="id").select("creator", there=pl.lit(value=True)),
        on="creator", how="left",
    ).select("id", creator=pl.when("there").then("creator"))  # fmt: skip
    feedback = _last_feedback(table, here, made)
    facts = _prompts(table, made, feedback)
    alive = table["prompt_sets"].filter(pl.col("deleted_at").is_null())
    at = alive.select(at="id")
    members = (
        table["prompt_set_prompts"]
        .filter(pl.col("status").cast(pl.String).ne_missing("excluded"))
        .select("prompt_id", at="prompt_set_id")
        .join(at, on="at", how="semi")
        .join(made, left_on="prompt_id", right_on="id")
        .unique()
    )
    rated = feedback.filter(pl.col("prompt_id").is_not_null()).select("prompt_id", id="user_id")
    joined = [
        *_quality(facts),
        *_collaboration(table, alive.select("owner_id", at="id"), members, here),
        feedback.group_by(id="user_id").agg(given=pl.len()),
        rated.join(members, on="prompt_id").group_by("id").agg(sets=pl.col("at").n_unique()),
        rated.join(made.drop_nulls(), left_on="prompt_id", right_on="id")
        .group_by("id").agg(authors=pl.col("creator").n_unique()),
        table["org_to_people"].select(id="user_id").unique().with_columns(affiliated=1),
    ]  # fmt: skip
    for part in joined:
        users = users.join(part, on="id", how="left")
    col = pl.col
    score = (
        50 * col("affiliated") + 100 * col("founder")
        + 30 * (col("sets") >= 3) + 40 * (col("authors") >= 5)
        + 75 * (col("good") >= 3) + 100 * (col("hard") >= 3) + 150 * (col("hardest") >= 3)
        + 2 * col("h").cast(pl.Int64) ** 2 + 5 * col("good") + 0.5 * col("given")
        + 10 * col("partners")
    )  # fmt: skip
    frame = users.fill_null(0).select("id", score=score).collect()
    return dict(zip(frame["id"].to_list(), frame["score"].to_list(), strict=True))


def _last_feedback(
    table: dict[str, pl.LazyFrame], here: pl.LazyFrame, made: pl.LazyFrame
) -> pl.LazyFrame:
    """Keep the last feedback of each user on each target that exists."""
    known = table["responses"].join(made, left_on="prompt_id", right_on="id", how="semi")
    scored = table["scores"].join(known, left_on="response_id", right_on="id", how="semi")
    given = table["quick_feedbacks"].join(here, on="user_id", how="semi")
    targets = {"prompt_id": made, "response_id": known, "score_id": scored}
    there = [
        given.filter(pl.col(name).is_not_null()).join(
            rows.select(pl.col("id").alias(name)), on=name, how="semi"
        )
        for name, rows in targets.items()
    ]
    return (
        pl.concat(there)
        .sort("created_at", "id", nulls_last=False)
        .unique(["user_id", *targets], keep="last", maintain_order=True)
    )


def _prompts(
    table: dict[str, pl.LazyFrame], made: pl.LazyFrame, feedback: pl.LazyFrame
) -> pl.LazyFrame:
    """Count the likes and the wrong models of each prompt that has a creator."""
    likes = (
        feedback.filter(pl.col("opinion").cast(pl.String) == "positive")
        .drop_nulls("prompt_id")
        .group_by(id="prompt_id")
        .agg(likes=pl.len())
    )
    name = (
        pl.col("model").str.strip_chars().str.to_lowercase().str.replace_all("[ _]", "-")
        .str.replace(PROVIDER, "").str.replace(DATE, "")
    )  # fmt: skip
    responses = table["responses"].with_columns(pl.col("model").cast(pl.String))
    models = responses.select("model").unique().with_columns(slug=name.replace(ALIASES))
    marks = (
        table["scores"]
        .join(responses.join(models, on="model"), left_on="response_id", right_on="id")
        .group_by("prompt_id", "slug")
        .agg(total=(pl.col("score") * EXACT).round().cast(pl.Int64).sum(), n=pl.len())
        .filter(pl.col("total") < EXACT // 2 * pl.col("n").cast(pl.Int64))
        .group_by(id="prompt_id")
        .agg(wrong=pl.len(), wrong_sota=pl.col("slug").is_in(SOTA).sum())
    )
    return (
        made.drop_nulls("creator")
        .join(likes, on="id", how="left")
        .join(marks, on="id", how="left")
        .fill_null(0)
    )


def _quality(facts: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Count the good and difficult prompts of each creator, and the h-index."""
    good = facts.filter(pl.col("likes") >= 3).group_by(id="creator").agg(
        good=pl.len(), hard=(pl.col("wrong") >= 3).sum(), hardest=(pl.col("wrong_sota") >= 3).sum()
    )  # fmt: skip
    h = facts.group_by(id="creator").agg(
        h=(pl.col("likes").sort(descending=True) >= pl.int_range(1, pl.len() + 1)).sum()
    )
    return [good, h]


def _collaboration(
    table: dict[str, pl.LazyFrame], alive: pl.LazyFrame, members: pl.LazyFrame, here: pl.LazyFrame
) -> list[pl.LazyFrame]:
    """Find the founders of benchmarks, and count the partners of those who lead one."""
    roles = (
        table["user_role_on_prompt_set"]
        .select("user_id", pl.col("role").cast(pl.String), at="prompt_set_id")
        .join(alive, on="at", how="semi")
        .join(here, on="user_id", how="semi")
    )

    def having(*names: str) -> pl.LazyFrame:
        return roles.filter(pl.col("role").is_in(names)).select("at", "user_id")

    owners = pl.concat([
        alive.select("at", user_id="owner_id").join(here, on="user_id", how="semi"),
        having("owner"),
    ]).unique()  # fmt: skip
    creators = members.drop_nulls("creator").select("at", user_id="creator").unique()
    large = creators.group_by("at").len().filter(pl.col("len") >= 3)
    founders = owners.join(large, on="at", how="semi").select(id="user_id").unique()
    people = pl.concat([creators, owners, having("admin", "collaborator")]).unique()
    leaders = pl.concat([owners, having("admin")]).unique().rename({"user_id": "id"})
    partners = (
        leaders.join(people, on="at")
        .filter(pl.col("id") != pl.col("user_id"))
        .group_by("id")
        .agg(partners=pl.col("user_id").n_unique())
    )
    return [founders.with_columns(founder=1), partners]
