"""Return the facts of a community from counts in an engine, as the arrays that boards take.

What a component counts stands in its row (:class:`components.component.Count`); here are the facts
that several of them, or other boards, share.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
import pyarrow as pa

from agon.disciplines.community.counts.difficulty import best_models
from agon.disciplines.community.counts.models import slug, slugs
from agon.disciplines.community.counts.reviews import Correlations, correlate
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.formulas import SCORE_GRID, impact
from agon.disciplines.community.id_index import IdIndex, as_int64
from agon.disciplines.community.relational import Relations, Table
from agon.disciplines.community.rules import CommunityRules
from agon.kernel.arrays import FloatArray, IntArray
from agon.records.relational import RelationalRecords

Query = Callable[[Relations], Table]
"""Returns (user, n) for the users whose count is not 0."""


class RelationalFacts(Facts):
    """The facts of a community in an engine: counts by user, and prompts without their ids.

    Arrays by prompt list the prompts with a known creator in no order, which is enough for
    boards. What needs single rows (explanations, badges, decay by age) raises ``Conflict``.
    """

    records: RelationalRecords

    def __init__(self, records: RelationalRecords, rules: CommunityRules) -> None:
        self.records = records
        self.rules = rules
        for name in ("likes_per_creator", "daily_feedbacks", "min_collaborator_prompts"):
            if getattr(rules, name):
                raise records.needs_rows(name)
        self.relations = Relations(records, rules)
        users = records.run(records.table("users").select("id"))
        self.people = IdIndex(users["id"])

    def by_query(self, query: Query) -> IntArray:
        """Return the column ``n`` of a query by the user of each row, 0 for the others."""
        return self._by_user(self.records.run(query(self.relations)), "n")

    @property
    def h_index(self) -> IntArray:
        """Return each creator's h-index."""
        return self._by_user(self._counts_of_prompts, "h_index")

    @property
    def quality_prompts(self) -> IntArray:
        """Return the number of each creator's quality prompts."""
        return self._by_user(self._counts_of_prompts, "quality_prompts")

    @property
    def difficult_prompts(self) -> IntArray:
        """Return the number of those that enough models answer wrong."""
        return self._by_user(self._counts_of_prompts, "difficult_prompts")

    @property
    def sota_difficult_prompts(self) -> IntArray:
        """Return the number of those that enough state-of-the-art models answer wrong."""
        return self._by_user(self._counts_of_prompts, "sota_difficult_prompts")

    @property
    def feedback_activity(self) -> IntArray:
        """Return the number of feedbacks of each user."""
        return self._by_user(self._counts_of_feedback, "feedback_activity")

    @property
    def diverse_feedback_users(self) -> IntArray:
        """Return the number of creators whom each user's feedback is for."""
        return self._by_user(self._counts_of_feedback, "diverse_feedback_users")

    @cached_property
    def affiliated(self) -> IntArray:
        """Return 1 for users with an affiliation, 0 for the others; several count once."""
        return self.by_query(_affiliation)

    @cached_property
    def prompts(self) -> IdIndex:  # type: ignore[override] # computed on first use
        """Raise ``Conflict``: the ids of prompts stay in the engine."""
        raise self.records.needs_rows("what names single prompts")

    @cached_property
    def creator(self) -> IntArray:  # type: ignore[override] # same
        """Return the creator of each prompt with a known one."""
        return self._repeat(self.people.of(self._prompts["creator"]))

    @cached_property
    def positives(self) -> IntArray:
        """Return the positive feedback of each of these prompts."""
        return self._repeat(as_int64(self._prompts["positives"]))

    @cached_property
    def reviews(self) -> IntArray:
        """Return the feedback of both opinions of each of these prompts."""
        return self._repeat(as_int64(self._prompts["reviews"]))

    @cached_property
    def correlations(self) -> Correlations:
        """Return each reviewer's agreement with the others."""
        rows = self.records.run(_reviews(self.relations))
        n = as_int64(rows["n"])
        user = np.repeat(self.people.of(rows["user"]), n)
        own = np.repeat(2.0 * as_int64(rows["positive"]) - 1.0, n)
        positives, reviews = (
            np.repeat(as_int64(rows[name]), n) for name in ("positives", "reviews")
        )
        others = (2.0 * positives - reviews - own) / (reviews - 1)
        return correlate(user, own, others, size=len(self.people))

    @cached_property
    def _prompts(self) -> pa.Table:
        """Return the number of prompts of each creator with equal feedback."""
        rows = self.relations.rated_prompts
        rows = rows.filter(rows.creator.notnull())
        groups = rows.group_by("creator", "positives", "reviews")
        return self.records.run(groups.aggregate(n=rows.count()))

    def _repeat(self, values: IntArray) -> IntArray:
        return np.repeat(values, as_int64(self._prompts["n"]))

    @cached_property
    def _counts_of_prompts(self) -> pa.Table:
        return self.records.run(_prompt_counts(self.relations, self._wrong_models))

    @cached_property
    def _counts_of_feedback(self) -> pa.Table:
        return self.records.run(_feedback_counts(self.relations))

    @cached_property
    def _wrong_models(self) -> Table:
        """Return (prompt, wrong, wrong_sota) of prompts with scores."""
        rows = _scored_responses(self.relations, self._models)
        return _wrong(rows, self.relations, self._sota(rows))

    @cached_property
    def _models(self) -> Table:
        """Return (name_of_model, model): names, and the places of their normal forms."""
        names = self.records.run(_responses(self.relations).select("slug").distinct())
        forms = {name: slug(name) for name in names["slug"].drop_null().to_pylist()}
        self._slugs = sorted(set(forms.values()))
        place = {form: index for index, form in enumerate(self._slugs)}
        codes = [place[form] for form in forms.values()]
        rows = {
            "name_of_model": pa.array(list(forms), pa.string()),
            "model": pa.array(codes, pa.int64()),
        }
        return self.records.add("models", pa.table(rows))

    def _sota(self, rows: Table) -> list[int]:
        """Return the places of the state-of-the-art models."""
        best = slugs(self.rules.sota_models)
        if self.rules.sota_list == "dynamic":
            by_prompt = rows.group_by("model", "prompt").aggregate(
                total=rows.total.sum(), count=rows["count"].sum()
            )
            table = self.records.run(
                by_prompt.group_by("model").aggregate(
                    seen=by_prompt.count(), total=by_prompt.total.sum(),
                    count=by_prompt["count"].sum(),
                )
            )  # fmt: skip
            totals = {
                self._slugs[row["model"]]: (row["seen"], row["total"], row["count"])
                for row in table.to_pylist()
            }
            best = best_models(totals, self.rules)
        return [index for index, form in enumerate(self._slugs) if form in best]

    @cached_property
    def impact(self) -> FloatArray:
        """Return, by creator, the sum over quality prompts of the use of their benchmarks."""
        rows = self.records.run(_users_of_prompts(self.relations))
        steps = np.rint(impact(as_int64(rows["users"])) * SCORE_GRID) * as_int64(rows["n"])
        sums = np.zeros(len(self.people))
        np.add.at(sums, self.people.of(rows["creator"]), steps)
        return sums / SCORE_GRID

    def _by_user(self, rows: pa.Table, column: str) -> IntArray:
        """Return a column by the user of each row, 0 for the others."""
        index, values = self.people.of(rows["user"]), as_int64(rows[column])
        counts = np.zeros(len(self.people), dtype=np.int64)
        counts[index[index >= 0]] = values[index >= 0]
        return counts


def per_user(rows: Table) -> Table:
    """Return (user, n): the number of rows of each user."""
    return rows.group_by("user").aggregate(n=rows.count())


def _affiliation(relations: Relations) -> Table:
    rows = relations.records.table("org_to_people").select(user="user_id").distinct()
    return per_user(rows)


def _feedback_counts(relations: Relations) -> Table:
    """Return the feedback of each user, and the number of creators whom it is for."""
    import ibis

    rows = relations.feedback.group_by("user", "creator").aggregate(n=relations.feedback.count())
    rows = rows.group_by("user").aggregate(
        feedback_activity=rows.n.sum(), diverse_feedback_users=rows.creator.count()
    )
    if relations.rules.feedback_targets != "all":
        return rows
    others = relations.other_feedback.group_by("user").aggregate(
        feedback_activity=relations.other_feedback.count(),
        diverse_feedback_users=ibis.literal(0, "int64"),
    )
    rows = rows.union(others)
    return rows.group_by("user").aggregate(
        feedback_activity=rows.feedback_activity.sum(),
        diverse_feedback_users=rows.diverse_feedback_users.sum(),
    )


def _prompt_counts(relations: Relations, wrong: Table) -> Table:
    """Return each creator's h-index, and the number of quality and difficult prompts."""
    import ibis

    rows = relations.rated_prompts.filter(lambda t: t.creator.notnull() & (t.positives > 0))
    wrong = wrong.rename(of="prompt")
    rows = rows.left_join(wrong, rows.prompt == wrong.of)
    place = ibis.row_number().over(group_by=rows.creator, order_by=rows.positives.desc())
    rows = rows.select("creator", "positives", "wrong", "wrong_sota", place=place)
    least = relations.rules.min_wrong_models
    rows = rows.mutate(wrong=rows.wrong.fill_null(0), wrong_sota=rows.wrong_sota.fill_null(0))
    is_quality = rows.positives >= relations.rules.min_positive_feedbacks
    return rows.group_by(user="creator").aggregate(
        h_index=(rows.positives > rows.place).sum(),
        quality_prompts=is_quality.sum(),
        difficult_prompts=(is_quality & (rows.wrong >= least)).sum(),
        sota_difficult_prompts=(is_quality & (rows.wrong_sota >= least)).sum(),
    )


def _responses(relations: Relations) -> Table:
    """Return (response, prompt, slug): the responses, with the names of their models."""
    rows, models = relations.records.table("responses"), relations.records.table("provider_models")
    models = models.select(of="id", first=models.model.coalesce(models["name"]))
    joined = rows.left_join(models, rows.model_id == models.of)
    named = joined.select("model", "first", response="id", prompt="prompt_id")
    return named.select("response", "prompt", slug=named.model.coalesce(named["first"]))


def _scored_responses(relations: Relations, models: Table) -> Table:
    """Return (response, prompt, model, total, count): the sum of scores in steps of the grid."""
    responses, scores = (
        relations.existing(_responses(relations), prompt="prompts"),
        relations.records.table("scores"),
    )
    steps = (scores.score * SCORE_GRID).round().cast("int64")
    sums = scores.group_by(of="response_id").aggregate(total=steps.sum(), count=scores.count())
    # Models come first: numbers are cheaper to exchange than names.
    rows = responses.join(models, responses.slug == models.name_of_model)
    rows = rows.select("response", "prompt", "model")
    rows = rows.join(sums, rows.response == sums.of)
    return rows.select("response", "prompt", "model", "total", "count")


def _wrong(rows: Table, relations: Relations, sota: list[int]) -> Table:
    """Return (prompt, wrong, wrong_sota): the wrong models or responses of prompts."""
    if relations.rules.wrong_answer_unit == "models":
        rows = rows.group_by("prompt", "model").aggregate(
            total=rows.total.sum(), count=rows["count"].sum()
        )
    limit = round(relations.rules.wrong_answer_threshold * SCORE_GRID)
    rows = rows.filter(rows.total < rows["count"] * limit)
    return rows.group_by("prompt").aggregate(
        wrong=rows.count(), wrong_sota=rows.model.isin(sota).sum() if sota else rows.count() * 0
    )


def _reviews(relations: Relations) -> Table:
    """Return (user, positive, positives, reviews, n) on prompts with enough reviews."""
    rows = relations.feedback
    counts = rows.group_by(of="prompt").aggregate(
        positives=rows.positive.sum(), reviews=rows.count()
    )
    enough = counts.filter(counts.reviews >= max(relations.rules.min_prompt_reviews, 2))
    rows = rows.join(enough, rows.prompt == enough.of)
    groups = rows.group_by("user", "positive", "positives", "reviews")
    return groups.aggregate(n=rows.count())


def _users_of_prompts(relations: Relations) -> Table:
    """Return (creator, users, n): quality prompts by the other users of their benchmarks."""
    responses = relations.records.table("responses")
    runs = relations.existing(responses.filter(responses.user_id.notnull()), user_id="users")
    runs = runs.select(runner="user_id", ran="prompt_id").distinct()
    used = runs.join(relations.holds, runs.ran == relations.holds.prompt)
    used = used.select("runner", of="set").distinct()
    held = relations.holds.join(
        relations.quality_prompts, relations.holds.prompt == relations.quality_prompts.prompt
    )
    held = held.select("set", "prompt", "creator")
    pairs = held.join(used, held.set == used.of)
    pairs = pairs.filter(pairs.runner != pairs.creator)
    pairs = pairs.select("creator", "prompt", "runner").distinct()
    counts = pairs.group_by("creator", "prompt").aggregate(users=pairs.count())
    return counts.group_by("creator", "users").aggregate(n=counts.count())
