"""Test rows without a key: which of them are one record."""

from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from fakes.service import ORGANISER


def test_equal_rows_without_a_key_of_a_second_request_are_named(service: Service) -> None:
    """Within a request the second is a record; of a second request it was dropped in silence."""
    create(service, NewContest(id="spring", discipline="community", title="Spring"), by=ORGANISER)
    open_contest(service, "spring", by=ORGANISER)
    flag = ("flags", {"user_id": "ada"}, None)
    record(service, "spring", [("users", {"id": "ada"}, None)], by=ORGANISER)
    twice = record(service, "spring", [flag, flag], by=ORGANISER)
    assert (twice.added, twice.notes) == (2, ())
    again = record(service, "spring", [flag], by=ORGANISER)
    assert (again.added, again.repeated) == (0, 1)
    (note,) = again.notes
    assert note == (
        "flags: 1 row without a key was there already and is no further record; equal rows that "
        "are records of their own need an id, or have to be sent in one request"
    )
