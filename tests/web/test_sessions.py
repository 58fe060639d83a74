"""Sign in, act, sign out: with the rights of a token and never with those of another page."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from agon.app.access.tokens import Grant, new_token, public_id, revoke_token, tokens
from agon.app.access.users import set_password
from agon.app.contests.boards.publish import publish
from agon.app.wrong_passwords import BY_NETWORK
from agon.web.addresses import problem
from fakes.autumn import RIGHT, autumn, judged
from fakes.instance import instance_at
from fakes.service import OPERATOR
from web.browser import Browser
from web.markup import Markup

PASSWORD = "correct horse battery"  # noqa: S105 (of a test)


@pytest.fixture(autouse=True)
def _quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords in little memory; ``test_passwords.py`` tests the real strength."""
    monkeypatch.setattr("agon.app.password_hashing.MEMORY_KIB", 64)


@pytest.mark.exhaustive
def test_a_participant_signs_in_submits_and_sees_the_verdict(browser: Browser) -> None:
    """The whole way of a participant, without a script."""
    name = autumn(browser.instance.service)
    address = problem("autumn", name)
    assert "Sign in</a> to submit" in browser.get(address).text
    response = browser.sign_in()
    assert (response.status_code, response.headers["location"]) == (303, "/account")
    page = browser.get(address)
    assert Markup(page.text).errors == []
    fields = {"source": RIGHT.replace("\n", "\r\n"), "form_token": browser.form_token(address)}
    sent = browser.send(address, fields)
    assert (sent.status_code, sent.headers["location"]) == (303, f"{address}#submissions")
    assert "waiting" in browser.get(address).text
    service = browser.instance.service
    [submission] = browser.instance.get("/contests/autumn/submissions", "organiser").json()["items"]
    judged(service, submission["id"], name)
    publish(browser.instance.service, "autumn")
    shown = Markup(browser.get(address).text).text
    assert "waiting" not in shown
    assert "ok" in shown.partition("Your submissions")[2]
    assert "/c/autumn/people/ada" in browser.get("/c/autumn").text


@pytest.mark.exhaustive
def test_a_rejected_program_is_kept_in_its_form_with_the_reason(browser: Browser) -> None:
    """What was typed is not lost."""
    address = problem("autumn", autumn(browser.instance.service))
    browser.sign_in()
    source = "def solver(:\n    'typed <by> hand'"
    fields = {"source": "\n" * 300_000 + source, "form_token": browser.form_token(address)}
    response = browser.send(address, fields)
    assert response.status_code == 422
    page = Markup(response.text)
    assert (source in page.text, page.errors) == (True, [])
    assert browser.get(address).text.count("<tr>") == 0


def test_a_session_is_a_token_of_its_own_that_sign_out_revokes(browser: Browser) -> None:
    """Rotation: the token that was pasted is not in the cookie."""
    response = browser.sign_in()
    cookie = response.headers["set-cookie"]
    assert "; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200" in cookie
    assert browser.instance.tokens["participant"] not in cookie
    assert response.headers["cache-control"] == "no-store"
    assert "ada" in Markup(browser.get("/account").text).text
    signed_in = browser.cookie
    token = browser.form_token("/account")
    assert browser.send("/sign-out", {"form_token": token}).headers["location"] == "/"
    assert browser.cookie == "agon_session="
    assert browser.get("/account").status_code == 401
    browser.cookie = signed_in
    assert browser.get("/account").status_code == 401
    [session] = [
        each for each in tokens(browser.instance.service, user="ada") if each.session is not None
    ]
    assert session.revoked_at is not None


@pytest.mark.exhaustive
def test_a_session_ends_after_half_a_day(browser: Browser) -> None:
    """A forgotten browser is not signed in for good."""
    browser.sign_in()
    service = browser.instance.service
    assert browser.get("/account").status_code == 200
    service.clock.at += timedelta(hours=13)  # type: ignore[attr-defined]  # the clock of tests
    assert browser.get("/account").status_code == 401
    assert browser.get("/").status_code == 200


def test_a_session_ends_with_the_token_that_began_it(browser: Browser) -> None:
    """A token that was revoked because it leaked would act through its session otherwise."""
    token = browser.instance.token("organiser")
    browser.send("/sign-in", {"token": token})
    session = browser.cookie.partition("=")[2]
    browser.send("/sign-in", {"token": session})  # a session that a session began
    assert browser.cookie.partition("=")[2] != session
    assert browser.get("/account").status_code == 200
    revoke_token(browser.instance.service, public_id(token), by=OPERATOR)
    assert browser.get("/account").status_code == 401


def test_a_session_does_not_outlast_its_token(browser: Browser) -> None:
    """A token of six hours gives six hours, also when its session signs in again."""
    service = browser.instance.service
    browser.send("/sign-in", {"token": browser.instance.token("organiser", days=0.25)})
    service.clock.at += timedelta(hours=5)  # type: ignore[attr-defined]  # the clock of tests
    browser.send("/sign-in", {"token": browser.cookie.partition("=")[2]})
    assert browser.get("/account").status_code == 200
    service.clock.at += timedelta(hours=2)  # type: ignore[attr-defined]
    assert browser.get("/account").status_code == 401


def test_a_new_password_ends_the_sessions(browser: Browser) -> None:
    """Who changes a password wants others out."""
    service = browser.instance.service
    set_password(service, user="olga", password=PASSWORD, by=OPERATOR)
    browser.send("/sign-in", {"user": "olga", "password": PASSWORD})
    assert browser.get("/account").status_code == 200
    set_password(service, user="olga", password=PASSWORD[::-1], by=OPERATOR)
    assert browser.get("/account").status_code == 401


def test_a_worker_s_token_does_not_sign_in(browser: Browser) -> None:
    """Workers are programs."""
    response = browser.sign_in("worker")
    assert (response.status_code, browser.cookie) == (401, "")


def test_old_sessions_hide_no_token(browser: Browser) -> None:
    """Each sign-in adds a session; after a thousand the user was a viewer."""
    service = browser.instance.service
    set_password(service, user="olga", password=PASSWORD, by=OPERATOR)
    old, _ = new_token(service, Grant(user="olga", role="viewer"))
    with service.store.write() as session:
        for number in range(1001):
            session.access.add_token(replace(old, id=f"{number:022}", session="password"))
    browser.send("/sign-in", {"user": "olga", "password": PASSWORD})
    assert "organiser" in Markup(browser.get("/account").text).text


def test_the_cookie_is_secure_behind_a_proxy_that_ends_tls(browser: Browser) -> None:
    """The server itself is asked over HTTP there; the browser states the scheme of the page."""
    fields = {"token": browser.instance.tokens["viewer"]}
    for scheme, secure in (("https", True), ("http", False)):
        response = browser.send("/sign-in", fields, origin=f"{scheme}://testserver")
        assert response.headers["set-cookie"].endswith("; Secure") == secure


PROXY, VISITOR = ("10.0.0.1", 1), ("203.0.113.7", 1)
FORWARDED = {"host": "agon:8080", "x-forwarded-host": "evil.example, agon.example",
             "x-forwarded-proto": "https"}  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("settings", "peer", "headers", "status"),
    [
        ({}, PROXY, {"host": "agon:8080"}, 403),
        ({"public_url": "https://agon.example"}, PROXY, {"host": "agon:8080"}, 303),
        ({"public_url": "https://agon.example"}, VISITOR, {"host": "agon:8080"}, 303),
        ({"public_url": "https://another.example"}, PROXY, {"host": "agon:8080"}, 403),
        ({"trusted_proxies": ("10.0.0.0/8",)}, PROXY, FORWARDED, 303),
        ({"trusted_proxies": ("10.0.0.0/8",)}, VISITOR, FORWARDED, 403),
        (
            {"trusted_proxies": ("10.0.0.0/8",)},
            PROXY,
            {**FORWARDED, "x-forwarded-host": "a b"},
            403,
        ),
    ],
)
def test_forms_are_accepted_behind_a_proxy_that_rewrites_the_host(
    tmp_path: Path, settings: dict[str, object], peer: tuple[str, int], headers: dict[str, str],
    status: int,
) -> None:  # fmt: skip
    """The page is https://agon.example for the visitor; only a trusted proxy may say so."""
    instance = instance_at(tmp_path, **settings)  # type: ignore[arg-type]  # of any type
    with TestClient(instance.app, client=peer) as client:
        response = client.post(
            "/sign-in", data={"token": instance.tokens["viewer"]}, follow_redirects=False,
            headers={**headers, "origin": "https://agon.example"},
        )  # fmt: skip
    assert response.status_code == status
    instance.close()


def test_who_is_signed_in_signs_in_as_another(browser: Browser) -> None:
    """The form to sign in belongs to no session."""
    browser.sign_in("viewer")
    assert browser.sign_in("organiser").status_code == 303
    assert "organiser" in Markup(browser.get("/account").text).text
    response = browser.send(
        "/sign-in", {"token": browser.instance.tokens["viewer"]}, origin="http://evil.example"
    )
    assert response.status_code == 403


def test_a_password_gives_the_rights_of_the_person_s_tokens(browser: Browser) -> None:
    """People remember a password; tokens say what they may do."""
    service = browser.instance.service
    set_password(service, user="olga", password=PASSWORD, by=OPERATOR)
    wrong = [
        browser.send("/sign-in", {"user": user, "password": password})
        for user, password in [("olga", "wrong"), ("vera", PASSWORD), ("nobody", PASSWORD)]
    ]
    assert [response.status_code for response in wrong] == [401, 401, 401]
    messages = {Markup(response.text).text.partition("With user")[0] for response in wrong}
    assert len(messages) == 1
    assert browser.send("/sign-in", {"user": "olga", "password": PASSWORD}).status_code == 303
    assert "organiser" in Markup(browser.get("/account").text).text


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("fields", "headers"),
    [
        ({}, {}),
        ({"form_token": "0" * 64}, {}),
        ({"form_token": ""}, {"origin": "http://evil.example"}),
        ({}, {"sec-fetch-site": "cross-site"}),
    ],
)
def test_a_form_of_another_page_is_rejected(
    browser: Browser, fields: dict[str, str], headers: dict[str, str]
) -> None:
    """The browser sends the cookie with every request."""
    address = problem("autumn", autumn(browser.instance.service))
    browser.sign_in()
    if fields.get("form_token") == "":
        fields = {"form_token": browser.form_token(address)}
    response = browser.send(address, {"source": RIGHT, **fields}, **headers)
    assert response.status_code == 403
    assert browser.instance.get("/contests/autumn/submissions", "organiser").json()["items"] == []


@pytest.mark.parametrize("charset", ["punycode", "utf-7", "unicode_escape"])
def test_a_form_in_another_charset_than_utf_8_is_rejected(browser: Browser, charset: str) -> None:
    """Clients choose the codec otherwise: one is quadratic, others give lone surrogates."""
    browser.sign_in("organiser")
    part = 'Content-Disposition: form-data; name="form_token"\r\n\r\n\\ud800+2AA-__'
    response = browser.instance.client.post(
        "/desk",
        content=f"--x\r\n{part}\r\n--x--\r\n",
        headers={
            "content-type": f"multipart/form-data; boundary=x; charset={charset}",
            "cookie": browser.cookie,
        },
    )
    assert (response.status_code, response.json()["detail"].partition(";")[0]) == (
        422, f"charset: expected utf-8, got {charset!r}"
    )  # fmt: skip


@pytest.mark.exhaustive
def test_the_cookie_does_not_authenticate_the_api(browser: Browser) -> None:
    """The API has no form tokens."""
    browser.sign_in("operator")
    assert browser.get("/api/v1/me").status_code == 401
    assert browser.send("/api/v1/contests/spring/open", {}).status_code == 401


@pytest.mark.exhaustive
@pytest.mark.parametrize("following", ["//evil.example", "https://evil.example", "/\\evil", "\n/"])
def test_signing_in_leads_to_no_other_site(browser: Browser, following: str) -> None:
    """A link with another site's address in it looks like one of this site."""
    fields = {"token": browser.instance.tokens["viewer"], "next": following}
    assert browser.send("/sign-in", fields).headers["location"] == "/"


def test_guesses_are_limited(tmp_path: Path) -> None:
    """Guesses count against the rate of their network, also those of a signed-in user."""
    instance = instance_at(tmp_path, rate_limit_address="5/day")
    browser = Browser(instance)
    browser.sign_in()
    others = [{}, instance.as_("viewer")]
    statuses = [
        browser.send("/sign-in", {"user": "ada", "password": f"{n}"}, **others[n % 2]).status_code
        for n in range(6)
    ]
    instance.close()
    assert statuses == [401] * 4 + [429] * 2


def test_wrong_passwords_are_limited_by_name_without_locking_the_user_out(tmp_path: Path) -> None:
    """Guesses from a network do not keep the user out of others; unknown names have the limit."""
    instance = instance_at(tmp_path, trusted_proxies=("10.0.0.0/8",))
    service = instance.service
    set_password(service, user="olga", password=PASSWORD, by=OPERATOR)
    with TestClient(instance.app, client=PROXY) as client:

        def attempt(user: str, password: str, network: str) -> tuple[int, str]:
            response = client.post(
                "/sign-in", data={"user": user, "password": password}, follow_redirects=False,
                headers={"x-forwarded-for": network},
            )  # fmt: skip
            message = response.text.partition('role="alert">')[2].partition("<")[0]
            return response.status_code, message

        answers = {
            user: [attempt(user, f"wrong {n}", "203.0.113.7") for n in range(BY_NETWORK + 1)]
            for user in ("olga", "eve")
        }
        assert answers["olga"] == answers["eve"]  # a name that exists is not found by trial
        assert [status for status, _ in answers["olga"]] == [401] * BY_NETWORK + [429]
        assert "try again in 15 minutes, or sign in with a token" in answers["olga"][-1][1]
        assert attempt("olga", PASSWORD, "203.0.113.7")[0] == 429
        assert attempt("olga", PASSWORD, "198.51.100.1")[0] == 303
        service.clock.at += timedelta(minutes=16)  # type: ignore[attr-defined]  # the clock of tests
        assert attempt("olga", PASSWORD, "203.0.113.7")[0] == 303
    instance.close()


def test_signing_in_again_ends_the_session_in_the_browser(browser: Browser) -> None:
    """The cookie of before opens nothing, wherever it was copied to."""
    browser.sign_in("viewer")
    copied = browser.cookie
    browser.sign_in("organiser")
    current, browser.cookie = browser.cookie, copied
    assert browser.get("/account").status_code == 401
    browser.cookie = current
    assert "organiser" in Markup(browser.get("/account").text).text


def test_a_user_whose_token_was_revoked_sees_no_private_contest(browser: Browser) -> None:
    """Neither pages nor the API; a wrong limit was none at all."""
    instance = browser.instance
    instance.contest("secret", visibility="private")
    set_password(instance.service, user="vera", password=PASSWORD, by=OPERATOR)
    for token in tokens(instance.service, user="vera"):
        revoke_token(instance.service, token.id, by=OPERATOR)
    browser.send("/sign-in", {"user": "vera", "password": PASSWORD})
    text = browser.cookie.partition("=")[2]
    assert browser.get("/c/secret").status_code == 404
    assert "secret" not in browser.get("/").text
    me = instance.client.get("/api/v1/me", headers=instance.as_(None, text)).json()
    assert (me["role"], me["contests"]) == ("viewer", "public")
    statuses = [
        instance.client.get(f"/api/v1{path}", headers=instance.as_(None, text)).status_code
        for path in ("/contests/secret", "/contests/secret/boards", "/contests/secret/events")
    ]
    assert statuses == [404, 404, 404]
