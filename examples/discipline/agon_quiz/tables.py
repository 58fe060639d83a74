"""The tables of a quiz."""

from agon.records import Column, Kind, Schema, Table

PLAYERS = Table(
    "players",
    (
        Column("id", Kind.ID),
        Column("name", Kind.TEXT, required=False),
    ),
    required=True,
    key=("id",),
)

ANSWERS = Table(
    "answers",
    (
        Column("id", Kind.ID),
        Column("player_id", Kind.ID, references="players.id"),
        Column("question", Kind.TEXT),
        Column("correct", Kind.BOOLEAN),
        Column("answered_at", Kind.TIMESTAMP),
    ),
    required=True,
    key=("id",),
    time="answered_at",
)

SCHEMA = Schema("quiz", (PLAYERS, ANSWERS))
