"""Commands of the quiz: ``agon quiz``."""

import click

import agon

_SHARES = """
    SELECT question, count(*) AS answers, avg(correct::INT) AS share
    FROM answers GROUP BY question ORDER BY share, question
"""


@click.group()
def command() -> None:
    """Look into a quiz."""


@command.command()
@click.argument("source")
def questions(source: str) -> None:
    """List the questions of a quiz, the hardest first."""
    with agon.read_records("quiz", source) as records:
        for row in records.sql(_SHARES).to_pylist():
            click.echo(f"{row['question']}: {row['share']:.0%} of {row['answers']} right")
