"""What a notebook shows of a value is short, says what it is, and escapes names."""

import agon
from agon.app.analysis.compare import RuleSet

BATTLES = [
    {"model_a": "<b>", "model_b": "bob", "winner": "a"},
    {"model_a": "bob", "model_b": "<b>", "winner": "tie"},
]


def test_values_of_a_large_simulation_are_short() -> None:
    """Not every row: a console shows all that a representation says."""
    simulation = agon.simulate("community", size=60, seed=1)
    records = agon.read_records("community", simulation)
    result = agon.score("community", records)
    first = str(result.board().rows()[0]["id"])
    compared = agon.compare(
        "community", records, right=RuleSet(overrides={"self_feedback": "ignore"})
    )
    values = {
        "<Simulation users: 60": simulation,
        "<Records community from memory: users": records,
        "Result of community/": result,
        f"{first} · user-score · rank 1": result.explain(first),
        "user-score · community/": compared,
        "community/scores0002-1 · memory · all rows are valid": agon.check("community", records),
        "<Edition arena/sentience-1": agon.edition("arena/sentience-1"),
    }
    for begin, value in values.items():
        assert repr(value).startswith(begin)
        assert len(repr(value)) < 2_000, begin


def test_notebooks_show_tables_with_escaped_names() -> None:
    """Names are data of others, and are shown in a page."""
    result = agon.score("arena", BATTLES)
    compared = agon.compare("arena", BATTLES, right=RuleSet(overrides={"k_new": 8}))
    invalid = agon.check("arena", [{**BATTLES[0], "winner": "<i>"}])
    values = (result, result.board(), result.explain("<b>"), compared, invalid)
    for value in (*values, agon.rate(BATTLES, interval=True, overrides={"bootstrap_rounds": 20})):
        html = value._repr_html_()
        assert html.startswith("<table><caption>")
        assert "<b>" not in html
        assert "<i>" not in html
        assert "&lt;" in html
    assert "2 of 2 move" in repr(compared)
    assert "1 issues" not in repr(invalid)
