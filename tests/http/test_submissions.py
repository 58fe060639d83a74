"""Problems and submissions: what solvers work from, and nothing that is hidden from them."""

from datetime import timedelta

import pytest

from agon.app.contests.lifecycle.transitions import freeze
from fakes.autumn import CUBES, RIGHT, SQUARES, autumn, judged, publish
from fakes.instance import Instance
from fakes.service import ORGANISER


def submit(
    instance: Instance, problem: str, role: str = "participant", **more: object
) -> dict[str, object]:
    """Send a right program."""
    body = {"problem": problem, "content": {"source": RIGHT}, **more}
    answer = instance.post("/contests/autumn/submissions", role, json=body)
    assert answer.status_code == 202, answer.text
    told: dict[str, object] = answer.json()
    assert answer.headers["location"] == f"/api/v1/contests/autumn/submissions/{told['id']}"
    return told


def test_everybody_sees_the_disclosed_terms_of_a_problem_and_no_answer(instance: Instance) -> None:
    """Fifty terms of odd index are what solvers work from; the others decide."""
    name = autumn(instance.service)
    told = instance.get(f"/contests/autumn/problems/{name}").json()
    assert len(told["disclosed"]) == 50
    assert told["disclosed"][0] == {"n": 1, "a": "1"}
    assert told["disclosed"][-1] == {"n": 99, "a": str(99 * 99)}
    assert (told["N_check"], told["revealed"]) == (200, False)
    assert told["source"] is told["terms"] is None
    [listed] = instance.get("/contests/autumn/problems").json()["items"]
    assert listed == told
    assert instance.get("/contests/autumn/problems/none").status_code == 404


def test_a_revealed_problem_shows_its_answer_where_it_is_asked_for(instance: Instance) -> None:
    """The list stays small."""
    autumn(instance.service)
    at = (instance.service.clock() + timedelta(seconds=2)).isoformat().replace("+00:00", ".000000Z")
    name = publish(instance.service, CUBES, freeze_started_at=at)
    path = f"/contests/autumn/problems/{name}"
    assert instance.get(path).json()["freeze_started_at"] is not None
    assert instance.post(f"{path}/reveal", "organiser").status_code == 200
    told = instance.get(path).json()
    assert (told["revealed"], told["source"], told["terms"][1]) == (True, CUBES, "8")
    listed = instance.get("/contests/autumn/problems").json()["items"]
    assert [(one["revealed"], one["terms"]) for one in listed] == [(False, None), (True, None)]


def test_problems_come_in_pages(instance: Instance) -> None:
    """A season has hundreds."""
    first = autumn(instance.service)
    names = [first] + [
        publish(instance.service, f"def seq(n):\n    return n + {more}\n") for more in range(3)
    ]
    page = instance.get("/contests/autumn/problems?limit=3").json()
    rest = instance.get(f"/contests/autumn/problems?limit=3&cursor={page['next']}").json()
    assert [one["id"] for one in (*page["items"], *rest["items"])] == names
    assert rest["next"] is None


def test_what_is_published_after_a_freeze_is_shown_to_the_staff_alone(instance: Instance) -> None:
    """A problem published anew is shown as it was."""
    name = autumn(instance.service)
    freeze(instance.service, "autumn", by=ORGANISER)
    before = instance.get("/contests/autumn/problems").json()
    later = publish(instance.service, CUBES)
    assert instance.get("/contests/autumn/problems").json() == before
    assert instance.get(f"/contests/autumn/problems/{later}").status_code == 404
    listed = instance.get("/contests/autumn/problems", "organiser").json()["items"]
    assert [one["id"] for one in listed] == [name, later]


def test_participants_find_their_own_submissions_by_id_and_learn_no_positions(
    instance: Instance,
) -> None:
    """A position tells how much was recorded, and while a contest is frozen that is hidden."""
    name = autumn(instance.service)
    own = [submit(instance, name) for _ in range(3)]
    other = submit(instance, name, "organiser", user="bob")
    assert [one["seq"] for one in own] == [None, None, None]
    assert isinstance(other["seq"], int)
    path = "/contests/autumn/submissions"
    page = instance.get(f"{path}?limit=2", "participant").json()
    rest = instance.get(f"{path}?limit=2&cursor={page['next']}", "participant").json()
    assert [one["id"] for one in (*page["items"], *rest["items"])] == [one["id"] for one in own]
    assert rest["next"] is None
    assert {one["seq"] for one in (*page["items"], *rest["items"])} == {None}
    told = instance.get(f"{path}/{own[0]['id']}", "participant").json()
    assert (told["user"], told["seq"], told["records"]) == ("ada", None, [])
    assert instance.get(f"{path}/{other['id']}", "participant").status_code == 404
    assert instance.get(f"{path}/{other['id']}", "organiser").json()["seq"] == other["seq"]
    assert len(instance.get(path, "organiser").json()["items"]) == 4
    assert instance.get(f"{path}?cursor=Im5vbmUi", "participant").status_code == 422


def test_a_verdict_is_told_as_it_was_at_the_freeze(instance: Instance) -> None:
    """One that is replaced later is hidden news; it does not vanish either."""
    name = autumn(instance.service)
    first, second = submit(instance, name), submit(instance, name)
    judged(instance.service, str(first["id"]), name)
    freeze(instance.service, "autumn", by=ORGANISER)
    judged(instance.service, str(first["id"]), name, replace=True, verdict="time_limit")
    judged(instance.service, str(second["id"]), name)

    def verdicts(role: str) -> list[list[str]]:
        listed = instance.get("/contests/autumn/submissions", role).json()["items"]
        return [[row["verdict"] for row in one["records"]] for one in listed]

    assert verdicts("participant") == [["ok"], []]
    assert verdicts("organiser") == [["time_limit"], ["ok"]]


@pytest.mark.parametrize("role", [None, "viewer", "judge", "worker"])
def test_submissions_are_nobody_elses_business(instance: Instance, role: str | None) -> None:
    """Programs are secrets until their authors tell them."""
    sent = submit(instance, autumn(instance.service))
    answer = instance.get(f"/contests/autumn/submissions/{sent['id']}", role)
    assert answer.status_code == (401 if role is None else 403)
    assert SQUARES not in answer.text
