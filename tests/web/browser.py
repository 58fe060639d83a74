"""A visitor of the site with a cookie, who loads pages and sends forms."""

from dataclasses import dataclass
from typing import Any

from fakes.instance import Instance


@dataclass
class Browser:
    """A visitor with a cookie."""

    instance: Instance
    cookie: str = ""

    def get(self, address: str) -> Any:
        """Load a page."""
        return self.instance.client.get(address, headers=self._headers(), follow_redirects=False)

    def send(self, address: str, fields: dict[str, str], files: Any = None, **headers: str) -> Any:
        """Send a form; keep or drop the cookie that the response sets."""
        response = self.instance.client.post(
            address, data=fields, files=files, headers={**self._headers(), **headers},
            follow_redirects=False,
        )  # fmt: skip
        self.instance.client.cookies.clear()  # each visitor has its own
        if "set-cookie" in response.headers:
            self.cookie = response.headers["set-cookie"].partition(";")[0]
        return response

    def submit(self, page: str, address: str, fields: dict[str, str], files: Any = None) -> Any:
        """Send a form of a page that this visitor has loaded."""
        return self.send(address, {**fields, "form_token": self.form_token(page)}, files)

    def form_token(self, address: str) -> str:
        """Return the hidden value of the form on a page."""
        page: str = self.get(address).text
        return page.partition('name="form_token" value="')[2].partition('"')[0]

    def sign_in(self, role: str = "participant") -> Any:
        """Sign in with a role's token."""
        return self.send("/sign-in", {"token": self.instance.tokens[role], "next": "/account"})

    def _headers(self) -> dict[str, str]:
        return {"cookie": self.cookie} if self.cookie else {}
