"""The rules of a quiz."""

from agon.kernel.rules import Rules, rule


class QuizRules(Rules):
    """Every rule of the quiz."""

    right: int = rule(
        10,
        meaning="Points for a right answer.",
        reason="Ten leaves room for smaller bonuses.",
        source="rules of the quiz, 1",
        ge=0,
        le=1000,
    )
    wrong: int = rule(
        -2,
        meaning="Points for a wrong answer.",
        reason="Guessing among five choices should gain little.",
        source="rules of the quiz, 2",
        ge=-1000,
        le=0,
    )
    min_answers: int = rule(
        1,
        meaning="Answers a player needs to be scored.",
        reason="Who answered nothing did not play.",
        source="rules of the quiz, 3",
        ge=0,
        le=1000,
    )
