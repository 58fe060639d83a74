"""Add the records that explanations name as missing; they give the points."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from agon.disciplines.community import DISCIPLINE
from agon.disciplines.community.components import COMPONENTS
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import Community, score
from agon.kernel.explanations import Part
from agon.records import read_rows
from disciplines.community.communities import communities
from sizes import size

Rows = list[dict[str, Any]]
Step = dict[str, Any]

GRID = 1e-6
# To shrink an example would take minutes.
GENERATE = (Phase.explicit, Phase.reuse, Phase.generate)
AT_ONCE = 2
"""How many sentences of an example are done, each on records of its own."""

LEAST = st.integers(1, 4)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "min_positive_feedbacks": LEAST, "min_quality_prompts": LEAST,
        "min_difficult_prompts": LEAST, "min_wrong_models": LEAST,
        "min_benchmark_contributors": LEAST, "min_feedback_benchmarks": LEAST,
        "min_feedback_users": LEAST, "min_reviewer_prompts": st.integers(2, 4),
        "min_prompt_reviews": LEAST,
        "wrong_answer_threshold": st.sampled_from([0, 1e-10, 0.3, 0.5, 1]),
        "wrong_answer_unit": st.sampled_from(["models", "responses"]),
        "sota_models": st.sampled_from([("o1",), ("gpt-4o", "o1", "m"), ("a", "b", "c", "d")]),
        "self_feedback": st.sampled_from(["count", "ignore"]),
        "repeated_feedback": st.sampled_from(["latest", "all"]),
        "feedback_targets": st.sampled_from(["all", "prompts"]),
        "excluded_memberships": st.sampled_from(["ignore", "count"]),
        "deleted_sets": st.sampled_from(["ignore", "count"]),
        "owner_contribution": st.sampled_from(["as_creator", "always", "never"]),
        "collaborator_roles": st.sampled_from([(), ("reviewer",), ("owner", "admin")]),
        "min_review_correlation": st.sampled_from([-1, 0, 1 / 3, 0.7]),
        "impact_coefficient": st.sampled_from([1, 7.3]),
        "quality_prompts_coefficient": st.sampled_from([5, 1 / 3]),
        "time_decay_half_life_days": st.sampled_from([None, 30]),
        "likes_per_creator": st.sampled_from([None, 1]),
        "daily_feedbacks": st.sampled_from([None, 1]),
        "min_collaborator_prompts": st.sampled_from([0, 1]),
    },
)  # fmt: skip
OPT_INS = {one.switch: True for one in COMPONENTS if one.switch}


class Doer:
    """Add records to tables: what a sentence says, and nothing that it does not say."""

    def __init__(self, tables: dict[str, Rows], person: Any, rules: CommunityRules) -> None:
        self.tables = {name: [dict(row) for row in rows] for name, rows in tables.items()}
        self.person, self.rules = person, rules
        self.text = isinstance(person, str)
        self.fresh = count(1)

    def id(self) -> Any:
        """Return a new id of the community's kind."""
        number = 900_000_000 + next(self.fresh)
        return f"new{number}" if self.text else number * 10**12

    def add(self, table: str, **row: Any) -> Any:
        """Add a row and return its id."""
        self.tables.setdefault(table, []).append(row)
        return row.get("id")

    def user(self) -> Any:
        """Add a user."""
        return self.add("users", id=self.id())

    def prompt(self, creator: Any) -> Any:
        """Add a prompt of a user."""
        return self.add("prompts", id=self.id(), uploader_id=creator)

    def benchmark(self, *prompts: Any, owner: Any = None) -> Any:
        """Add a benchmark, in a new category, that holds prompts."""
        made = self.add("prompt_sets", id=self.id(), owner_id=owner, category=f"new {self.id()}")
        for prompt in prompts:
            self.add("prompt_set_prompts", prompt_set_id=made, prompt_id=prompt)
        return made

    def feedback(self, prompt: Any, *, by: Any, opinion: str = "positive") -> None:
        """Add feedback on a prompt."""
        self.add("quick_feedbacks", user_id=by, prompt_id=prompt, opinion=opinion)

    def positives(self, prompt: Any, how_many: int) -> None:
        """Let new users give a prompt positive feedback."""
        for _ in range(how_many):
            self.feedback(prompt, by=self.user())

    def wrong(self, prompt: Any, how_many: int, *, sota: bool) -> None:
        """Let further models answer a prompt with score 0, known ones where ``sota``."""
        models: Any = (f"fresh-{self.id()}" for _ in count())
        if sota:
            models = iter(self.rules.sota_models * how_many)
            if self.rules.wrong_answer_unit == "models":
                models = self.not_wrong_yet(prompt)
        for _ in range(how_many):
            response = self.add("responses", id=self.id(), prompt_id=prompt, model=next(models))
            self.add("scores", id=self.id(), response_id=response, score=0)

    def not_wrong_yet(self, prompt: Any) -> Any:
        """Yield each state-of-the-art model, after removal of its right answers to a prompt."""
        from agon.disciplines.community.counts.models import slug

        names = {row["id"]: row["name"] for row in self.tables.get("provider_models", [])}
        scores: dict[Any, Rows] = {}
        for row in self.tables.get("scores", []):
            scores.setdefault(row["response_id"], []).append(row)
        for sota in sorted({slug(one) for one in self.rules.sota_models}):
            own = [
                mark
                for row in self.tables.get("responses", [])
                if row["prompt_id"] == prompt
                and slug(row["model"] or names[row["model_id"]]) == sota
                for mark in scores.get(row["id"], [])
            ]
            limit = round(self.rules.wrong_answer_threshold * 10**9) * len(own)
            if own and sum(round(mark["score"] * 10**9) for mark in own) < limit:
                continue
            for mark in own:
                mark["score"] = 0
            yield sota


def _affiliation(do: Doer, _step: Step) -> None:
    do.add("org_to_people", user_id=do.person, org_id=7)


def _benchmark_creator(do: Doer, _step: Step) -> None:
    creators = range(do.rules.min_benchmark_contributors)
    do.benchmark(*(do.prompt(do.user()) for _ in creators), owner=do.person)


def _diverse_feedback_benchmarks(do: Doer, step: Step) -> None:
    for _ in range(step["more"]):
        prompt = do.prompt(do.user())
        do.benchmark(prompt)
        do.feedback(prompt, by=do.person)


def _diverse_feedback_users(do: Doer, step: Step) -> None:
    for _ in range(step["more"]):
        do.feedback(do.prompt(do.user()), by=do.person)


def _quality(do: Doer, step: Step) -> None:
    for one in step["nearest"][: step["more"]]:
        do.positives(one["id"], one["needed"] - one["have"])
    for _ in range(step["further"]):
        do.positives(do.prompt(do.person), do.rules.min_positive_feedbacks)


def _difficult(do: Doer, step: Step, *, sota: bool = False) -> None:
    for one in step["nearest"][: step["more"]]:
        do.wrong(one["id"], one["needed"] - one["have"], sota=sota)
    for _ in range(step["further"]):
        prompt = do.prompt(do.person)
        do.positives(prompt, do.rules.min_positive_feedbacks)
        do.wrong(prompt, do.rules.min_wrong_models, sota=sota)


def _h_index(do: Doer, step: Step) -> None:
    for one in step["nearest"]:
        do.positives(one["id"], one["needed"] - one["have"])
    for _ in range(step["further"]):
        do.positives(do.prompt(do.person), step["feedbacks"])


def _quality_prompts(do: Doer, _step: Step) -> None:
    do.positives(do.prompt(do.person), do.rules.min_positive_feedbacks)


def _feedback_activity(do: Doer, _step: Step) -> None:
    do.feedback(do.prompt(do.user()), by=do.person)


def _collaboration(do: Doer, _step: Step) -> None:
    least = do.rules.min_collaborator_prompts
    collaborator = do.user()
    prompts = [do.prompt(collaborator) for _ in range(max(least, 1))]
    for prompt in prompts[:least]:
        do.positives(prompt, do.rules.min_positive_feedbacks)
    do.benchmark(prompts[0], owner=do.person)


def _diversity(do: Doer, _step: Step) -> None:
    do.benchmark(do.prompt(do.person))


def _consistency(do: Doer, _step: Step) -> None:
    months = {str(row.get("created_at"))[:7] for row in do.tables.get("prompts", [])}
    months |= {str(row.get("created_at"))[:7] for row in do.tables.get("quick_feedbacks", [])}
    month = min({f"2025-{number:02}" for number in range(1, 13)} - months)
    do.add("quick_feedbacks", user_id=do.person, prompt_id=do.prompt(do.user()),
           opinion="positive", created_at=f"{month}-05T00:00:00")  # fmt: skip


def _comments(do: Doer, _step: Step) -> None:
    do.add("comments", user_id=do.person)


def _nominations(do: Doer, _step: Step) -> None:
    do.add("nominations", user_id=do.person, by_user_id=do.user())


def _impact(do: Doer, step: Step) -> None:
    prompt = step["prompt"]
    if prompt is None:
        prompt = do.prompt(do.person)
        do.positives(prompt, do.rules.min_positive_feedbacks)
    do.benchmark(prompt)
    do.add("responses", id=do.id(), prompt_id=prompt, model="m", user_id=do.user())


DO: dict[str, Callable[[Doer, Step], None]] = {
    "affiliation": _affiliation,
    "benchmark_creator": _benchmark_creator,
    "diverse_feedback_benchmarks": _diverse_feedback_benchmarks,
    "diverse_feedback_users": _diverse_feedback_users,
    "quality_prompts_bonus": _quality,
    "difficult_prompts_bonus": _difficult,
    "sota_difficult_prompts_bonus": lambda do, step: _difficult(do, step, sota=True),
    "h_index": _h_index,
    "quality_prompts": _quality_prompts,
    "feedback_activity": _feedback_activity,
    "collaboration": _collaboration,
    "diversity": _diversity,
    "consistency": _consistency,
    "comments": _comments,
    "impact": _impact,
    "nominations": _nominations,
}
IN_WORDS_ONLY = {"review_quality", "flags"}
"""Components of which records cannot be made as the sentence says: a correlation; a penalty."""


def scored(tables: dict[str, Rows], rules: CommunityRules) -> Community:
    """Score tables."""
    return score(read_rows(DISCIPLINE.schema, tables), rules)


def parts_of(community: Community, name: str) -> dict[str, Part]:
    """Return the parts of a user's score by name."""
    return {part.name: part for part in community.explain(name, board="user-score").parts}


def test_every_component_has_a_step_that_is_done_here() -> None:
    """A new component's sentence is tested, or the reason stands above."""
    assert {one.name for one in COMPONENTS} == DO.keys() | IN_WORDS_ONLY


@pytest.mark.sample(1)
@pytest.mark.parametrize("rules", [{}, None], ids=["default rules", "other rules"])
@settings(max_examples=size(20, at_least=3, dear=True), deadline=None, phases=GENERATE)
@given(data=st.data(), tables=communities())
def test_doing_what_is_missing_gives_the_points(
    rules: dict[str, Any] | None, data: st.DataObject, tables: dict[str, Rows]
) -> None:
    """Two sentences on one user of each community, under the default rules and under others.

    `make test` does at most 12 sentences, `make test-all` 80; all components have their turn there.
    """
    in_force = CommunityRules().override(OPT_INS | (data.draw(CHANGES) if rules is None else rules))
    person = data.draw(st.sampled_from([row["id"] for row in tables["users"]]))
    before = parts_of(scored(tables, in_force), str(person))
    steps = [name for name, part in before.items() if part.step and name in DO]
    for name in data.draw(st.permutations(steps))[:AT_ONCE]:
        part = before[name]
        doer = Doer(tables, person, in_force)
        step = dict(part.step)
        for one in step.get("nearest", []):
            one["id"] = original(one["id"], tables)
        if step.get("prompt") is not None:
            step["prompt"] = original(step["prompt"], tables)
        DO[name](doer, step)
        after = parts_of(scored(doer.tables, in_force), str(person))[name]
        gain = after.points - part.points
        assert gain >= step["points"] - GRID * (1 + abs(part.points)), (name, part.missing)


def original(text: str, tables: dict[str, Rows]) -> Any:
    """Return a prompt's id as the records have it."""
    return next(row["id"] for row in tables["prompts"] if str(row["id"]) == text)


def test_what_cannot_be_earned_is_not_said_to_be_missing() -> None:
    """At threshold 0 no answer is wrong; of one model three cannot be wrong."""
    tables = {"users": [{"id": "ada"}]}
    never = parts_of(scored(tables, CommunityRules(wrong_answer_threshold=0)), "ada")
    for name in ("difficult_prompts_bonus", "sota_difficult_prompts_bonus"):
        assert never[name].missing is None
        assert never[name].text.endswith(
            "they cannot be earned: no score is below 0 (wrong_answer_threshold)"
        )
    one = parts_of(scored(tables, CommunityRules(sota_models=("o1",))), "ada")
    assert one["difficult_prompts_bonus"].missing
    assert one["sota_difficult_prompts_bonus"].missing is None
    assert "1 model can be state of the art (sota_models), and 3 must be wrong" in (
        one["sota_difficult_prompts_bonus"].text
    )


@pytest.mark.exhaustive
@settings(max_examples=size(20, at_least=3, dear=True), deadline=None, phases=GENERATE)
@given(data=st.data(), tables=communities())
def test_doing_what_a_reviewer_misses_gives_a_rank(
    data: st.DataObject, tables: dict[str, Rows]
) -> None:
    """So many more prompts with so many reviews, and the reviewer is on the board."""
    rules = CommunityRules().override(data.draw(CHANGES))
    community = scored(tables, rules)
    for unscored in community.board("reviewer").unscored[:2]:
        person = next(row["id"] for row in tables["users"] if str(row["id"]) == unscored.id)
        step = community.explain(unscored.id, board="reviewer").parts[0].step
        doer = Doer(tables, person, rules)
        for _ in range(step["prompts"]):
            prompt = doer.prompt(doer.user())
            doer.feedback(prompt, by=person)
            doer.positives(prompt, step["reviews"] - 1)
        ranked = {row["id"] for row in scored(doer.tables, rules).board("reviewer").rows()}
        assert unscored.id in ranked
