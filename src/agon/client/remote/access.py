"""Users and tokens over HTTP."""

from collections.abc import Iterator
from typing import Any

from agon.app.access.tokens import Grant
from agon.client.values import TokenTold, UserTold
from agon.client.wire import Wire


class RemoteAccess:
    """Look after users and tokens; see :class:`agon.client.ports.Access`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def users(self) -> Iterator[UserTold]:
        """Yield all users in id order."""
        yield from map(UserTold.model_validate, self._wire.pages("users"))

    def create_user(self, user: str, *, name: str = "", password: str | None = None) -> UserTold:
        """Create a user."""
        asked = {"id": user, "name": name, "password": password}
        return UserTold.model_validate(self._wire.send("POST", "users", body=asked))

    def disable_user(self, user: str, *, disabled: bool = True) -> UserTold:
        """Disable a user, so that all tokens open nothing, or enable one again."""
        changed = self._wire.send("PATCH", "users", user, body={"disabled": disabled})
        return UserTold.model_validate(changed)

    def tokens(self, *, user: str | None = None) -> Iterator[TokenTold]:
        """Yield tokens, without their secrets."""
        yield from map(TokenTold.model_validate, self._wire.pages("tokens", user=user))

    def create_token(self, grant: Grant) -> tuple[TokenTold, str]:
        """Create a token; its text comes this once."""
        asked: dict[str, Any] = {
            "user": grant.user,
            "role": grant.role,
            "label": grant.label,
            "contests": None if grant.contests is None else list(grant.contests),
            "scopes": list(grant.scopes),
            "days": grant.days,
        }
        made = self._wire.send("POST", "tokens", body=asked)
        return TokenTold.model_validate(made), str(made["token"])

    def revoke_token(self, token: str) -> TokenTold:
        """Revoke a token at once and for good."""
        return TokenTold.model_validate(self._wire.send("DELETE", "tokens", token))
