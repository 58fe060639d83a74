"""Count the facts of a community in an engine, as functions of unbound Ibis tables.

Their names are those of the components' counts, and so are the numbers; points, ranks and tiers
come from the same formulas, on the counts that come back.
"""

from datetime import datetime
from functools import cached_property
from typing import Any, Final

from agon.disciplines.community.rules import CommunityRules
from agon.records.relational import RelationalRecords

Table = Any
"""An Ibis table; Ibis has no type information."""

_BEFORE_ALL: Final = datetime(1, 1, 1)  # noqa: DTZ001 - engines hold UTC without a zone


class Relations:
    """The relations in which a community is counted, as Ibis expressions; pairs are distinct."""

    def __init__(self, records: RelationalRecords, rules: CommunityRules) -> None:
        self.records = records
        self.rules = rules

    def existing(self, rows: Table, **references: str) -> Table:
        """Return the rows whose references exist; without an ``as_of`` all of them do.

        Args:
            rows: a table.
            references: column → the table to whose ``id`` it refers.
        """
        if self.records.cutoff is not None:
            for column, name in references.items():
                other = self.records.table(name)
                rows = rows.semi_join(other, rows[column] == other.id)
        return rows

    @cached_property
    def prompts(self) -> Table:
        """Return (prompt, time, creator); creator is empty where unknown."""
        rows, hashes = self.records.table("prompts"), self.records.table("hash_registrations")
        hashes = hashes.select("cid", "sha256", registered="uploader_id")
        registered = (rows.hash_cid_registration == hashes.cid) & (
            rows.hash_sha256_registration == hashes.sha256
        )
        # Columns are computed apart from a join: Ibis cannot join a join with computed ones.
        rows = rows.left_join(hashes, registered).select(
            "uploader_id", "registered", prompt="id", time="created_at"
        )
        creator = rows.uploader_id.coalesce(rows.registered)
        prompts = rows.select("prompt", "time", creator=creator)
        if self.records.cutoff is None:
            return prompts
        users = self.records.table("users").select(user="id")
        there = prompts.left_join(users, prompts.creator == users.user)
        return there.select("prompt", "time", creator="user")

    @cached_property
    def feedback(self) -> Table:
        """Return (user, prompt, positive, time, creator) of the feedback that counts.

        Most counts read it, so the engine keeps it.
        """
        is_every = self.rules.repeated_feedback == "all"
        rows, prompts = self._feedback_on_prompts, self.prompts.select("creator", prompt_="prompt")
        rows = rows.mutate(tied=False) if is_every else _last(rows)
        rows = rows.join(prompts, rows.prompt == prompts.prompt_)
        if self.rules.self_feedback == "ignore":
            rows = rows.filter(rows.creator.isnull() | (rows.creator != rows.user))
        rows = rows.select("user", "prompt", "positive", "time", "creator", "tied")
        rows = self.records.keep("feedback", rows)
        return (rows if is_every else self._without_ties(rows)).drop("tied")

    @property
    def _feedback_on_prompts(self) -> Table:
        """Return (user, prompt, positive, time) of every feedback on a prompt."""
        rows = self.records.table("quick_feedbacks")
        rows = self.existing(rows, user_id="users", prompt_id="prompts")
        rows = rows.filter(rows.prompt_id.notnull()).select(
            user="user_id",
            prompt="prompt_id",
            positive=rows.opinion == "positive",
            time="created_at",
        )
        return self.records.divide("opinions", rows, by="user")

    def _without_ties(self, rows: Table) -> Table:
        """Return the feedback with the opinions that the order of the file decides.

        An engine does not keep that order, so this machine reads it where there are ties.
        """
        tied = rows.filter(rows.tied)
        if not self.records.run(tied.count().name("n").as_table())["n"][0].as_py():
            return rows
        user, prompt = (
            "VARCHAR" if column.type().is_string() else "BIGINT"
            for column in (rows.user, rows.prompt)
        )
        decided = self.records.local.sql(
            f"SELECT user_id::{user} AS tied_user, prompt_id::{prompt} AS tied_prompt, "
            "arg_max(opinion = 'positive', (created_at IS NOT NULL, created_at, _row)) "
            "AS last_positive "
            "FROM quick_feedbacks WHERE prompt_id IS NOT NULL GROUP BY user_id, prompt_id "
            "HAVING count(*) > 1"
        )
        ties = self.records.add("ties", decided)
        same = (rows.user == ties.tied_user) & (rows.prompt == ties.tied_prompt)
        joined = rows.left_join(ties, same).select(*rows.columns, "last_positive")
        settled = joined.mutate(positive=joined.last_positive.coalesce(joined.positive))
        return self.records.keep("settled", settled.select(*rows.columns))

    @cached_property
    def other_feedback(self) -> Table:
        """Return (user, time) of the feedback on responses and scores that counts."""
        rows = self.records.table("quick_feedbacks")
        rows = self.existing(rows.filter(rows.prompt_id.isnull()), user_id="users")
        if self.records.cutoff is not None:
            responses = self.existing(self.records.table("responses"), prompt_id="prompts")
            scores = self.records.table("scores")
            scores = scores.semi_join(responses, scores.response_id == responses.id)
            rows = rows.semi_join(responses, rows.response_id == responses.id).union(
                rows.semi_join(scores, rows.score_id == scores.id)
            )
        if self.rules.repeated_feedback == "all":
            return rows.select(user="user_id", time="created_at")
        last = rows.group_by(user="user_id", response="response_id", score="score_id")
        return last.aggregate(time=rows.created_at.max()).select("user", "time")

    @cached_property
    def rated_prompts(self) -> Table:
        """Return (prompt, time, creator, positives, reviews) of every prompt."""
        counts = self.feedback.group_by(rated="prompt").aggregate(
            positives=self.feedback.positive.sum(), reviews=self.feedback.count()
        )
        joined = self.prompts.left_join(counts, self.prompts.prompt == counts.rated)
        rows = joined.select("prompt", "time", "creator", "positives", "reviews")
        return rows.mutate(
            positives=rows.positives.fill_null(0).cast("int64"),
            reviews=rows.reviews.fill_null(0).cast("int64"),
        )

    @cached_property
    def quality_prompts(self) -> Table:
        """Return the prompts with a known creator and enough positive feedback."""
        rows = self.rated_prompts
        return rows.filter(
            rows.creator.notnull() & (rows.positives >= self.rules.min_positive_feedbacks)
        )

    @cached_property
    def sets(self) -> Table:
        """Return (set, owner, category) of the benchmarks that count."""
        rows = self.records.table("prompt_sets")
        if self.rules.deleted_sets != "count":
            rows = rows.filter(rows.deleted_at.isnull())
        return rows.select("category", set="id", owner="owner_id")

    @cached_property
    def holds(self) -> Table:
        """Return (set, prompt), which may repeat; what is counted of them is distinct."""
        rows = self.records.table("prompt_set_prompts")
        if self.rules.excluded_memberships != "count":
            rows = rows.filter(rows.status.isnull() | (rows.status != "excluded"))
        rows = self.existing(rows, prompt_id="prompts")
        rows = rows.semi_join(self.sets, rows.prompt_set_id == self.sets.set)
        return rows.select(set="prompt_set_id", prompt="prompt_id")

    @cached_property
    def written_by(self) -> Table:
        """Return (set, user) for the creators of the prompts of benchmarks."""
        return self._writers.distinct()

    @cached_property
    def owned_by(self) -> Table:
        """Return (set, user) for owners, by owner_id or role."""
        return self._owners.distinct()

    @cached_property
    def run_by(self) -> Table:
        """Return (set, user) for owners and administrators."""
        return self._owners.union(self._with_role("admin")).distinct()

    @cached_property
    def helped_by(self) -> Table:
        """Return (set, user) for creators and those whose role makes them collaborators."""
        roles = self.rules.collaborator_roles
        helpers = self._writers.union(self._with_role(*roles))
        return (helpers.union(self._named_owners) if "owner" in roles else helpers).distinct()

    @property
    def _writers(self) -> Table:
        prompts = self.prompts.filter(self.prompts.creator.notnull())
        joined = self.holds.join(prompts, self.holds.prompt == prompts.prompt)
        return joined.select("set", user="creator")

    @property
    def _owners(self) -> Table:
        return self._named_owners.union(self._with_role("owner"))

    @property
    def _named_owners(self) -> Table:
        rows = self.existing(self.sets.filter(self.sets.owner.notnull()), owner="users")
        return rows.select("set", user="owner")

    def _with_role(self, *names: str) -> Table:
        rows = self.existing(self.records.table("user_role_on_prompt_set"), user_id="users")
        rows = rows.semi_join(self.sets, rows.prompt_set_id == self.sets.set)
        return rows.filter(rows.role.isin(names)).select(set="prompt_set_id", user="user_id")


def _last(rows: Table) -> Table:
    """Return (user, prompt, positive, time, tied): each user's last feedback on each prompt.

    A feedback without a time is before all others; ``tied``: the last of both opinions have
    equal times.
    """
    import ibis

    before_all = ibis.timestamp(_BEFORE_ALL)
    rows = rows.mutate(time=rows.time.coalesce(before_all))
    rows = rows.group_by("user", "prompt").aggregate(
        liked=rows.time.max(where=rows.positive), disliked=rows.time.max(where=~rows.positive)
    )
    liked, disliked = rows.liked, rows.disliked
    latest = ibis.greatest(liked.coalesce(disliked), disliked.coalesce(liked))
    return rows.select(
        "user",
        "prompt",
        positive=liked.notnull() & (disliked.isnull() | (liked > disliked)),
        time=latest.nullif(before_all),
        tied=(liked == disliked).fill_null(False),
    )
