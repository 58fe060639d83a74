"""A misspelt query parameter is refused, never ignored."""

import pytest

from fakes.instance import Instance


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/contests?limt=5", "limit"),
        ("/contests/spring/snapshots?bord=user-score", "board"),
        ("/users?curser=a", "cursor"),
        ("/contests/spring/boards?x=1", "remove it"),
    ],
)
def test_an_unknown_parameter_is_refused_with_the_one_meant(
    instance: Instance, path: str, meant: str
) -> None:
    """Who asks for limt=5 and gets 50 believes that limits do not work."""
    instance.contest()
    answer = instance.get(path, "operator")
    assert answer.status_code == 422
    assert meant in answer.json()["detail"]


def test_known_parameters_pass(instance: Instance) -> None:
    """The check must know all that a route takes, those of its dependencies among them."""
    instance.contest()
    for path in ("/contests?limit=5&discipline=community", "/contests/spring/snapshots?limit=1",
                 "/contests/spring/boards/user-score/rows/u1?neighbors=1&as_of=5",
                 "/contests/spring/records?table=users&limit=1"):  # fmt: skip
        assert instance.get(path, "operator").status_code == 200
