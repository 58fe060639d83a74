"""Define the community's tables: participants, prompts, benchmarks, feedback, model results."""

from agon.records import Column, Kind, RowCheck, Schema, Table
from agon.records.conditions import IsNull


def _id(name: str, references: str | None = None, *, meaning: str, empty: str = "") -> Column:
    return Column(
        name, Kind.ID, references=references, nullable=bool(empty), meaning=meaning, empty=empty
    )


def _optional(
    name: str, kind: Kind, references: str | None = None, *, meaning: str, empty: str
) -> Column:
    return Column(name, kind, required=False, references=references, meaning=meaning, empty=empty)


_CREATED = _optional(
    "created_at",
    Kind.TIMESTAMP,
    meaning="Time at which the row was created.",
    empty="unknown; there at every --as-of",
)
_USER = _id("user_id", "users.id", meaning="The user.")


def _comments(name: str, about: str) -> Table:
    return Table(
        name,
        (
            _optional("id", Kind.ID, meaning="The comment.", empty="named by its row"),
            _USER,
            _CREATED,
        ),
        key=("id",),
        time="created_at",
        meaning=f"Comments {about}.",
    )


SCHEMA = Schema(
    "community",
    (
        Table(
            "users",
            (
                _id("id", meaning="The user."),
                _CREATED,
                _optional(
                    "handle", Kind.TEXT, meaning="The user's name in messages.", empty="unknown"
                ),
                _optional(
                    "reputation",
                    Kind.NUMBER,
                    meaning="Reputation elsewhere, to compare the score with.",
                    empty="unknown; not compared",
                ),
            ),
            required=True,
            key=("id",),
            time="created_at",
            aliases=("auth.users",),
            meaning="The people who are scored.",
        ),
        Table(
            "org_to_people",
            (_USER, _id("org_id", meaning="The organization.")),
            meaning="The affiliations of users.",
        ),
        Table(
            "prompt_sets",
            (
                _id("id", meaning="The benchmark."),
                _id(
                    "owner_id",
                    "users.id",
                    meaning="The user who owns the benchmark.",
                    empty="no known owner",
                ),
                _optional(
                    "category", Kind.TEXT, meaning="Category of the benchmark.", empty="none"
                ),
                _CREATED,
                _optional(
                    "deleted_at",
                    Kind.TIMESTAMP,
                    meaning="Time at which the benchmark was deleted.",
                    empty="not deleted",
                ),
            ),
            key=("id",),
            time="created_at",
            ends="deleted_at",
            meaning="The benchmarks.",
        ),
        Table(
            "hash_registrations",
            (
                Column("cid", Kind.TEXT, meaning="Content identifier of the prompt."),
                Column("sha256", Kind.TEXT, meaning="SHA-256 of the prompt."),
                _id(
                    "uploader_id",
                    "users.id",
                    meaning="The user who registered the hash.",
                    empty="unknown",
                ),
            ),
            key=("cid", "sha256"),
            meaning="Hashes of prompts that were registered before they were uploaded.",
        ),
        Table(
            "prompts",
            (
                _id("id", meaning="The prompt."),
                _CREATED,
                _optional(
                    "uploader_id",
                    Kind.ID,
                    "users.id",
                    meaning="The user who uploaded the prompt.",
                    empty="the uploader of the hash registration",
                ),
                _optional(
                    "hash_cid_registration",
                    Kind.TEXT,
                    meaning="Content identifier of the prompt's registration.",
                    empty="not registered",
                ),
                _optional(
                    "hash_sha256_registration",
                    Kind.TEXT,
                    meaning="SHA-256 of the prompt's registration.",
                    empty="not registered",
                ),
            ),
            key=("id",),
            time="created_at",
            meaning="The prompts.",
        ),
        Table(
            "prompt_set_prompts",
            (
                _id("prompt_set_id", "prompt_sets.id", meaning="The benchmark."),
                _id("prompt_id", "prompts.id", meaning="The prompt."),
                Column(
                    "status",
                    Kind.TEXT,
                    required=False,
                    choices=("draft", "excluded", "included"),
                    meaning="Whether the prompt is in the benchmark.",
                    empty="in the benchmark",
                ),
            ),
            meaning="The prompts of each benchmark.",
        ),
        Table(
            "provider_models",
            (
                _id("id", meaning="The model of a provider."),
                _optional(
                    "model", Kind.TEXT, meaning="Slug of the model.", empty="the name is used"
                ),
                _optional(
                    "name", Kind.TEXT, meaning="Name of the model.", empty="the slug is used"
                ),
            ),
            key=("id",),
            checks=(
                RowCheck(
                    "model",
                    IsNull("model") & IsNull("name"),
                    "has neither model nor name",
                    "give the model's slug",
                ),
            ),
            meaning="The models to which responses refer by number.",
        ),
        Table(
            "responses",
            (
                _id("id", meaning="The response."),
                _id("prompt_id", "prompts.id", meaning="The prompt."),
                _optional(
                    "model", Kind.TEXT, meaning="Slug of the model.", empty="the model of model_id"
                ),
                _optional(
                    "model_id",
                    Kind.ID,
                    "provider_models.id",
                    meaning="The model, as a row of provider_models.",
                    empty="the model of model",
                ),
                _optional(
                    "user_id",
                    Kind.ID,
                    "users.id",
                    meaning="The user who requested the response.",
                    empty="unknown",
                ),
            ),
            key=("id",),
            checks=(
                RowCheck(
                    "model",
                    IsNull("model") & IsNull("model_id"),
                    "names no model",
                    "give the model's slug, or a model_id from provider_models",
                ),
            ),
            meaning="The responses of models to prompts.",
        ),
        Table(
            "scores",
            (
                _optional("id", Kind.ID, meaning="The score.", empty="feedback cannot refer to it"),
                _id("response_id", "responses.id", meaning="The response."),
                Column("score", Kind.NUMBER, low=0, high=1, meaning="The score; 1 is right."),
            ),
            key=("id",),
            meaning="The scores of responses.",
        ),
        Table(
            "quick_feedbacks",
            (
                _optional("id", Kind.ID, meaning="The feedback.", empty="named by its row"),
                _USER,
                _optional(
                    "prompt_id",
                    Kind.ID,
                    "prompts.id",
                    meaning="The prompt.",
                    empty="about a response or a score",
                ),
                _optional(
                    "response_id",
                    Kind.ID,
                    "responses.id",
                    meaning="The response.",
                    empty="about a prompt or a score",
                ),
                _optional(
                    "score_id",
                    Kind.ID,
                    "scores.id",
                    meaning="The score.",
                    empty="about a prompt or a response",
                ),
                Column(
                    "opinion", Kind.TEXT, choices=("positive", "negative"), meaning="The opinion."
                ),
                _CREATED,
            ),
            key=("id",),
            time="created_at",
            exactly_one_of=("prompt_id", "response_id", "score_id"),
            # A later row for the same target replaces an earlier one; where times are equal or
            # missing, the order of the file decides.
            order_within=("user_id", "prompt_id", "response_id", "score_id", "created_at"),
            meaning="The opinions of users about prompts, responses and scores.",
        ),
        Table(
            "user_role_on_prompt_set",
            (
                _USER,
                _id("prompt_set_id", "prompt_sets.id", meaning="The benchmark."),
                Column(
                    "role",
                    Kind.TEXT,
                    nullable=True,
                    choices=("owner", "admin", "collaborator", "reviewer", "none"),
                    meaning="The role.",
                    empty="none",
                ),
            ),
            meaning="The roles of users on benchmarks.",
        ),
        _comments("comments", "of any kind; those of the other three tables are added"),
        _comments("prompt_comments", "on prompts"),
        _comments("response_comments", "on responses"),
        _comments("score_comments", "on scores"),
        Table(
            "flags",
            (
                _USER,
                Column(
                    "reason", Kind.TEXT, nullable=True, meaning="The reason.", empty="not stated"
                ),
                _CREATED,
                _optional(
                    "upheld", Kind.BOOLEAN, meaning="Whether the report was upheld.", empty="true"
                ),
            ),
            time="created_at",
            meaning="Reports of misconduct.",
        ),
        Table(
            "nominations",
            (_USER, _id("by_user_id", "users.id", meaning="The user who nominated."), _CREATED),
            time="created_at",
            meaning="Nominations of users by others.",
        ),
    ),
)
