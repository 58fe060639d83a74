"""Unknown query parameters are rejected, never ignored."""

import pytest

from fakes.instance import Instance


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/contests?limt=5", "limit"),
        ("/contests/spring/snapshots?bord=user-score", "board"),
        ("/users?curser=a", "cursor"),
        ("/contests/spring/boards?x=1", "remove it"),
    ],
)
def test_an_unknown_parameter_is_rejected_with_a_suggestion(
    instance: Instance, path: str, meant: str
) -> None:
    """A client that sends limt=5 and gets 50 rows would not notice the misspelling."""
    instance.contest()
    response = instance.get(path, "operator")
    assert response.status_code == 422
    assert meant in response.json()["detail"]


def test_known_parameters_are_accepted(instance: Instance) -> None:
    """The check must know all parameters of a route, including those of its dependencies."""
    instance.contest()
    for path in ("/contests?limit=5&discipline=community", "/contests/spring/snapshots?limit=1",
                 "/contests/spring/boards/user-score/rows/u1?neighbors=1&as_of=5",
                 "/contests/spring/records?table=users&limit=1"):  # fmt: skip
        assert instance.get(path, "operator").status_code == 200
