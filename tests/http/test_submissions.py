"""Problems and submissions: what solvers work from, and nothing that is hidden from them."""

from datetime import timedelta

import pytest

from agon.app.contests.lifecycle.transitions import freeze
from fakes.autumn import CUBES, RIGHT, SQUARES, autumn, judged, publish
from fakes.house import ORGANISER
from fakes.http_house import House


def submit(
    house: House, problem: str, role: str = "participant", **more: object
) -> dict[str, object]:
    """Send a right program."""
    body = {"problem": problem, "content": {"source": RIGHT}, **more}
    answer = house.post("/contests/autumn/submissions", role, json=body)
    assert answer.status_code == 202, answer.text
    told: dict[str, object] = answer.json()
    assert answer.headers["location"] == f"/api/v1/contests/autumn/submissions/{told['id']}"
    return told


def test_everybody_sees_the_disclosed_terms_of_a_problem_and_no_answer(house: House) -> None:
    """Fifty terms of odd index are what solvers work from; the others decide."""
    name = autumn(house.service)
    told = house.get(f"/contests/autumn/problems/{name}").json()
    assert len(told["disclosed"]) == 50
    assert told["disclosed"][0] == {"n": 1, "a": "1"}
    assert told["disclosed"][-1] == {"n": 99, "a": str(99 * 99)}
    assert (told["N_check"], told["revealed"]) == (200, False)
    assert told["source"] is told["terms"] is None
    [listed] = house.get("/contests/autumn/problems").json()["items"]
    assert listed == told
    assert house.get("/contests/autumn/problems/none").status_code == 404


def test_a_revealed_problem_shows_its_answer_where_it_is_asked_for(house: House) -> None:
    """The list stays small."""
    autumn(house.service)
    at = (house.service.clock() + timedelta(seconds=2)).isoformat().replace("+00:00", ".000000Z")
    name = publish(house.service, CUBES, freeze_started_at=at)
    path = f"/contests/autumn/problems/{name}"
    assert house.get(path).json()["freeze_started_at"] is not None
    assert house.post(f"{path}/reveal", "organiser").status_code == 200
    told = house.get(path).json()
    assert (told["revealed"], told["source"], told["terms"][1]) == (True, CUBES, "8")
    listed = house.get("/contests/autumn/problems").json()["items"]
    assert [(one["revealed"], one["terms"]) for one in listed] == [(False, None), (True, None)]


def test_problems_come_in_pages(house: House) -> None:
    """A season has hundreds."""
    first = autumn(house.service)
    names = [first] + [
        publish(house.service, f"def seq(n):\n    return n + {more}\n") for more in range(3)
    ]
    page = house.get("/contests/autumn/problems?limit=3").json()
    rest = house.get(f"/contests/autumn/problems?limit=3&cursor={page['next']}").json()
    assert [one["id"] for one in (*page["items"], *rest["items"])] == names
    assert rest["next"] is None


def test_what_is_published_after_a_freeze_is_shown_to_the_staff_alone(house: House) -> None:
    """A problem published anew is shown as it was."""
    name = autumn(house.service)
    freeze(house.service, "autumn", by=ORGANISER)
    before = house.get("/contests/autumn/problems").json()
    later = publish(house.service, CUBES)
    assert house.get("/contests/autumn/problems").json() == before
    assert house.get(f"/contests/autumn/problems/{later}").status_code == 404
    listed = house.get("/contests/autumn/problems", "organiser").json()["items"]
    assert [one["id"] for one in listed] == [name, later]


def test_participants_find_their_own_submissions_by_id_and_learn_no_positions(
    house: House,
) -> None:
    """A position tells how much was recorded, and while a contest is frozen that is hidden."""
    name = autumn(house.service)
    own = [submit(house, name) for _ in range(3)]
    other = submit(house, name, "organiser", user="bob")
    assert [one["seq"] for one in own] == [None, None, None]
    assert isinstance(other["seq"], int)
    path = "/contests/autumn/submissions"
    page = house.get(f"{path}?limit=2", "participant").json()
    rest = house.get(f"{path}?limit=2&cursor={page['next']}", "participant").json()
    assert [one["id"] for one in (*page["items"], *rest["items"])] == [one["id"] for one in own]
    assert rest["next"] is None
    assert {one["seq"] for one in (*page["items"], *rest["items"])} == {None}
    told = house.get(f"{path}/{own[0]['id']}", "participant").json()
    assert (told["user"], told["seq"], told["records"]) == ("ada", None, [])
    assert house.get(f"{path}/{other['id']}", "participant").status_code == 404
    assert house.get(f"{path}/{other['id']}", "organiser").json()["seq"] == other["seq"]
    assert len(house.get(path, "organiser").json()["items"]) == 4
    assert house.get(f"{path}?cursor=Im5vbmUi", "participant").status_code == 422


def test_a_verdict_is_told_as_it_was_at_the_freeze(house: House) -> None:
    """One that is replaced later is hidden news; it does not vanish either."""
    name = autumn(house.service)
    first, second = submit(house, name), submit(house, name)
    judged(house.service, str(first["id"]), name)
    freeze(house.service, "autumn", by=ORGANISER)
    judged(house.service, str(first["id"]), name, replace=True, verdict="time_limit")
    judged(house.service, str(second["id"]), name)

    def verdicts(role: str) -> list[list[str]]:
        listed = house.get("/contests/autumn/submissions", role).json()["items"]
        return [[row["verdict"] for row in one["records"]] for one in listed]

    assert verdicts("participant") == [["ok"], []]
    assert verdicts("organiser") == [["time_limit"], ["ok"]]


@pytest.mark.parametrize("role", [None, "viewer", "judge", "worker"])
def test_submissions_are_nobody_elses_business(house: House, role: str | None) -> None:
    """Programs are secrets until their authors tell them."""
    sent = submit(house, autumn(house.service))
    answer = house.get(f"/contests/autumn/submissions/{sent['id']}", role)
    assert answer.status_code == (401 if role is None else 403)
    assert SQUARES not in answer.text
