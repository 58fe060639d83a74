"""Define the community's tables: participants, prompts, benchmarks, feedback, model results."""

from agon.records import Column, Kind, RowCheck, Schema, Table
from agon.records.conditions import IsNull


def _id(name: str, references: str | None = None, *, nullable: bool = False) -> Column:
    return Column(name, Kind.ID, references=references, nullable=nullable)


def _optional(name: str, kind: Kind, references: str | None = None) -> Column:
    return Column(name, kind, required=False, references=references)


_CREATED = _optional("created_at", Kind.TIMESTAMP)
_USER = _id("user_id", "users.id")


def _comments(name: str) -> Table:
    return Table(name, (_optional("id", Kind.ID), _USER, _CREATED), key=("id",), time="created_at")


SCHEMA = Schema(
    "community",
    (
        Table(
            "users",
            (
                _id("id"),
                _CREATED,
                _optional("handle", Kind.TEXT),
                _optional("reputation", Kind.NUMBER),
            ),
            required=True,
            key=("id",),
            time="created_at",
            aliases=("auth.users",),
        ),
        Table("org_to_people", (_USER, _id("org_id"))),
        Table(
            "prompt_sets",
            (
                _id("id"),
                _id("owner_id", "users.id", nullable=True),
                _optional("category", Kind.TEXT),
                _CREATED,
                _optional("deleted_at", Kind.TIMESTAMP),
            ),
            key=("id",),
            time="created_at",
            ends="deleted_at",
        ),
        Table(
            "hash_registrations",
            (
                Column("cid", Kind.TEXT),
                Column("sha256", Kind.TEXT),
                _id("uploader_id", "users.id", nullable=True),
            ),
            key=("cid", "sha256"),
        ),
        Table(
            "prompts",
            (
                _id("id"),
                _CREATED,
                _optional("uploader_id", Kind.ID, "users.id"),
                _optional("hash_cid_registration", Kind.TEXT),
                _optional("hash_sha256_registration", Kind.TEXT),
            ),
            key=("id",),
            time="created_at",
        ),
        Table(
            "prompt_set_prompts",
            (
                _id("prompt_set_id", "prompt_sets.id"),
                _id("prompt_id", "prompts.id"),
                Column(
                    "status",
                    Kind.TEXT,
                    required=False,
                    choices=("draft", "excluded", "included"),
                ),
            ),
        ),
        Table(
            "provider_models",
            (_id("id"), _optional("model", Kind.TEXT), _optional("name", Kind.TEXT)),
            key=("id",),
            checks=(
                RowCheck(
                    "model",
                    IsNull("model") & IsNull("name"),
                    "has neither model nor name",
                    "give the model's slug",
                ),
            ),
        ),
        Table(
            "responses",
            (
                _id("id"),
                _id("prompt_id", "prompts.id"),
                _optional("model", Kind.TEXT),
                _optional("model_id", Kind.ID, "provider_models.id"),
                _optional("user_id", Kind.ID, "users.id"),
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
        ),
        Table(
            "scores",
            (
                _optional("id", Kind.ID),
                _id("response_id", "responses.id"),
                Column("score", Kind.NUMBER, low=0, high=1),
            ),
            key=("id",),
        ),
        Table(
            "quick_feedbacks",
            (
                _optional("id", Kind.ID),
                _USER,
                _optional("prompt_id", Kind.ID, "prompts.id"),
                _optional("response_id", Kind.ID, "responses.id"),
                _optional("score_id", Kind.ID, "scores.id"),
                Column("opinion", Kind.TEXT, choices=("positive", "negative")),
                _CREATED,
            ),
            key=("id",),
            time="created_at",
            exactly_one_of=("prompt_id", "response_id", "score_id"),
            # A later row for the same target replaces an earlier one; where times are equal or
            # missing, the order of the file decides.
            order_within=("user_id", "prompt_id", "response_id", "score_id", "created_at"),
        ),
        Table(
            "user_role_on_prompt_set",
            (
                _USER,
                _id("prompt_set_id", "prompt_sets.id"),
                Column(
                    "role",
                    Kind.TEXT,
                    nullable=True,
                    choices=("owner", "admin", "collaborator", "reviewer", "none"),
                ),
            ),
        ),
        _comments("comments"),
        _comments("prompt_comments"),
        _comments("response_comments"),
        _comments("score_comments"),
        Table(
            "flags",
            (
                _USER,
                Column("reason", Kind.TEXT, nullable=True),
                _CREATED,
                _optional("upheld", Kind.BOOLEAN),
            ),
            time="created_at",
        ),
        Table("nominations", (_USER, _id("by_user_id", "users.id"), _CREATED), time="created_at"),
    ),
)
