"""Return the facts of a community from counts in an engine, as the arrays that boards take.

Each function of :data:`COUNTS` returns (user, n) for the users whose count is not 0; its name is
that of the count on the board.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.community.difficulty import best_models
from agon.disciplines.community.facts import Facts, NumberArray
from agon.disciplines.community.formulas import SCORE_GRID, impact
from agon.disciplines.community.id_index import IdIndex, as_int64
from agon.disciplines.community.models import slug, slugs
from agon.disciplines.community.relational import COMMENT_TABLES, Relations, Table
from agon.disciplines.community.reviews import Correlations, correlate
from agon.disciplines.community.rules import CommunityRules
from agon.kernel.rounding import publish
from agon.records.relational import RelationalRecords

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


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

    def count_of(self, name: str, of: Callable[[Facts], NumberArray]) -> NumberArray:  # noqa: ARG002
        """Return a count of the user score by its name, for each user.

        Raises:
            Conflict: points decay by age, which needs single rows.
        """
        if self.rules.time_decay_half_life_days is not None:
            raise self.records.needs_rows("time_decay_half_life_days")
        if name == "review_quality":
            ranked = self.correlations.reviewed >= self.rules.min_reviewer_prompts
            return np.where(ranked, publish(self.correlations.r), 0.0)
        if name == "impact":
            return self._impact
        if name in _OF_PROMPTS:
            return self._by_user(self._counts_of_prompts, name)
        if name in _OF_FEEDBACK:
            return self._by_user(self._counts_of_feedback, name)
        return self._by_user(self.records.run(COUNTS[name](self.relations)), "n")

    @cached_property
    def affiliated(self) -> IntArray:
        """Return 1 for users with an affiliation, 0 for the others; several count once."""
        return self._by_user(self.records.run(COUNTS["affiliation"](self.relations)), "n")

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
        place = {form: at for at, form in enumerate(self._slugs)}
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
        return [at for at, form in enumerate(self._slugs) if form in best]

    @cached_property
    def _impact(self) -> FloatArray:
        rows = self.records.run(_users_of_prompts(self.relations))
        steps = np.rint(impact(as_int64(rows["users"])) * SCORE_GRID) * as_int64(rows["n"])
        sums = np.zeros(len(self.people))
        np.add.at(sums, self.people.of(rows["creator"]), steps)
        return sums / SCORE_GRID

    def _by_user(self, rows: pa.Table, column: str) -> IntArray:
        """Return a column by the user of each row, 0 for the others."""
        at, values = self.people.of(rows["user"]), as_int64(rows[column])
        counts = np.zeros(len(self.people), dtype=np.int64)
        counts[at[at >= 0]] = values[at >= 0]
        return counts


_OF_PROMPTS: Final = ("h_index", "quality_prompts", "difficult_prompts", "sota_difficult_prompts")
_OF_FEEDBACK: Final = ("feedback_activity", "diverse_feedback_users")


def _per_user(rows: Table) -> Table:
    return rows.group_by("user").aggregate(n=rows.count())


def _affiliation(at: Relations) -> Table:
    rows = at.records.table("org_to_people").select(user="user_id").distinct()
    return _per_user(rows)


def _benchmark_creator(at: Relations) -> Table:
    """Count the benchmarks with enough creators of each owner."""
    written = at.written_by.group_by(of="set").aggregate(creators=at.written_by.count())
    owned = at.owned_by.left_join(written, at.owned_by.set == written.of)
    owned = owned.select("set", "user", "creators")
    owned = owned.mutate(creators=owned.creators.fill_null(0).cast("int64"))
    if at.rules.owner_contribution != "as_creator":
        wrote = at.written_by.select(of="set", by="user", own=1)
        owned = owned.left_join(wrote, (owned.set == wrote.of) & (owned.user == wrote.by))
        owned = owned.select("user", "creators", "own")
        own = owned.own.fill_null(0).cast("int64")
        always = at.rules.owner_contribution == "always"
        count = owned.creators + 1 - own if always else owned.creators - own
        owned = owned.select("user", creators=count)
    return _per_user(owned.filter(owned.creators >= at.rules.min_benchmark_contributors))


def _diverse_feedback_benchmarks(at: Relations) -> Table:
    joined = at.feedback.join(at.holds, at.feedback.prompt == at.holds.prompt)
    return _per_user(joined.select("user", "set").distinct())


def _collaboration(at: Relations) -> Table:
    helped = at.helped_by.select(of="set", helper="user")
    pairs = at.run_by.join(helped, at.run_by.set == helped.of)
    return _per_user(pairs.filter(pairs.user != pairs.helper).select("user", "helper").distinct())


def _diversity(at: Relations) -> Table:
    sets = at.sets.filter(at.sets.category.notnull())
    written = at.written_by.join(sets, at.written_by.set == sets.set)
    return _per_user(written.select("user", "category").distinct())


def _consistency(at: Relations) -> Table:
    rows = at.prompts.filter(at.prompts.creator.notnull()).select("time", user="creator")
    rows = rows.select("user", "time").union(at.feedback.select("user", "time"))
    rows = rows.union(at.other_feedback.select("user", "time"))
    rows = rows.filter(rows.time.notnull())
    month = rows.time.year() * 12 + rows.time.month()
    return _per_user(rows.select("user", month=month).distinct())


def _comments(at: Relations) -> Table:
    import ibis

    tables = (at.records.table(name).select(user="user_id") for name in COMMENT_TABLES)
    return _per_user(ibis.union(*tables))


def _nominations(at: Relations) -> Table:
    rows = at.existing(at.records.table("nominations"), by_user_id="users")
    rows = rows.filter(rows.by_user_id != rows.user_id)
    return _per_user(rows.select("by_user_id", user="user_id").distinct())


def _flags(at: Relations) -> Table:
    rows = at.records.table("flags")
    return _per_user(rows.filter(rows.upheld.fill_null(True)).select(user="user_id"))


COUNTS: Final[Mapping[str, Callable[[Relations], Table]]] = {
    "affiliation": _affiliation,
    "benchmark_creator": _benchmark_creator,
    "diverse_feedback_benchmarks": _diverse_feedback_benchmarks,
    "collaboration": _collaboration,
    "diversity": _diversity,
    "consistency": _consistency,
    "comments": _comments,
    "nominations": _nominations,
    "flags": _flags,
}
"""The counts of one query each."""


def _feedback_counts(at: Relations) -> Table:
    """Return the feedback of each user, and the number of creators whom it is for."""
    import ibis

    rows = at.feedback.group_by("user", "creator").aggregate(n=at.feedback.count())
    rows = rows.group_by("user").aggregate(
        feedback_activity=rows.n.sum(), diverse_feedback_users=rows.creator.count()
    )
    if at.rules.feedback_targets != "all":
        return rows
    others = at.other_feedback.group_by("user").aggregate(
        feedback_activity=at.other_feedback.count(),
        diverse_feedback_users=ibis.literal(0, "int64"),
    )
    rows = rows.union(others)
    return rows.group_by("user").aggregate(
        feedback_activity=rows.feedback_activity.sum(),
        diverse_feedback_users=rows.diverse_feedback_users.sum(),
    )


def _prompt_counts(at: Relations, wrong: Table) -> Table:
    """Return each creator's h-index, and the number of quality and difficult prompts."""
    import ibis

    rows = at.rated_prompts.filter(lambda t: t.creator.notnull() & (t.positives > 0))
    wrong = wrong.rename(of="prompt")
    rows = rows.left_join(wrong, rows.prompt == wrong.of)
    place = ibis.row_number().over(group_by=rows.creator, order_by=rows.positives.desc())
    rows = rows.select("creator", "positives", "wrong", "wrong_sota", place=place)
    least = at.rules.min_wrong_models
    rows = rows.mutate(wrong=rows.wrong.fill_null(0), wrong_sota=rows.wrong_sota.fill_null(0))
    is_quality = rows.positives >= at.rules.min_positive_feedbacks
    return rows.group_by(user="creator").aggregate(
        h_index=(rows.positives > rows.place).sum(),
        quality_prompts=is_quality.sum(),
        difficult_prompts=(is_quality & (rows.wrong >= least)).sum(),
        sota_difficult_prompts=(is_quality & (rows.wrong_sota >= least)).sum(),
    )


def _responses(at: Relations) -> Table:
    """Return (response, prompt, slug): the responses, with the names of their models."""
    rows, models = at.records.table("responses"), at.records.table("provider_models")
    models = models.select(of="id", first=models.model.coalesce(models["name"]))
    joined = rows.left_join(models, rows.model_id == models.of)
    named = joined.select("model", "first", response="id", prompt="prompt_id")
    return named.select("response", "prompt", slug=named.model.coalesce(named["first"]))


def _scored_responses(at: Relations, models: Table) -> Table:
    """Return (response, prompt, model, total, count): the sum of scores in steps of the grid."""
    responses, scores = at.existing(_responses(at), prompt="prompts"), at.records.table("scores")
    steps = (scores.score * SCORE_GRID).round().cast("int64")
    sums = scores.group_by(of="response_id").aggregate(total=steps.sum(), count=scores.count())
    # Models come first: numbers are cheaper to exchange than names.
    rows = responses.join(models, responses.slug == models.name_of_model)
    rows = rows.select("response", "prompt", "model")
    rows = rows.join(sums, rows.response == sums.of)
    return rows.select("response", "prompt", "model", "total", "count")


def _wrong(rows: Table, at: Relations, sota: list[int]) -> Table:
    """Return (prompt, wrong, wrong_sota): the wrong models or responses of prompts."""
    if at.rules.wrong_answer_unit == "models":
        rows = rows.group_by("prompt", "model").aggregate(
            total=rows.total.sum(), count=rows["count"].sum()
        )
    limit = round(at.rules.wrong_answer_threshold * SCORE_GRID)
    rows = rows.filter(rows.total < rows["count"] * limit)
    return rows.group_by("prompt").aggregate(
        wrong=rows.count(), wrong_sota=rows.model.isin(sota).sum() if sota else rows.count() * 0
    )


def _reviews(at: Relations) -> Table:
    """Return (user, positive, positives, reviews, n) on prompts with enough reviews."""
    rows = at.feedback
    counts = rows.group_by(of="prompt").aggregate(
        positives=rows.positive.sum(), reviews=rows.count()
    )
    enough = counts.filter(counts.reviews >= max(at.rules.min_prompt_reviews, 2))
    rows = rows.join(enough, rows.prompt == enough.of)
    groups = rows.group_by("user", "positive", "positives", "reviews")
    return groups.aggregate(n=rows.count())


def _users_of_prompts(at: Relations) -> Table:
    """Return (creator, users, n): quality prompts by the other users of their benchmarks."""
    responses = at.records.table("responses")
    runs = at.existing(responses.filter(responses.user_id.notnull()), user_id="users")
    runs = runs.select(runner="user_id", ran="prompt_id").distinct()
    used = runs.join(at.holds, runs.ran == at.holds.prompt)
    used = used.select("runner", of="set").distinct()
    held = at.holds.join(at.quality_prompts, at.holds.prompt == at.quality_prompts.prompt)
    held = held.select("set", "prompt", "creator")
    pairs = held.join(used, held.set == used.of)
    pairs = pairs.filter(pairs.runner != pairs.creator)
    pairs = pairs.select("creator", "prompt", "runner").distinct()
    counts = pairs.group_by("creator", "prompt").aggregate(users=pairs.count())
    return counts.group_by("creator", "users").aggregate(n=counts.count())
