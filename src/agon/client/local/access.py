"""Users and tokens beside the database."""

from collections.abc import Iterator

from agon.app.access import tokens as token_cases
from agon.app.access import users as user_cases
from agon.app.access.tokens import Grant
from agon.app.service import Service
from agon.client.values import TokenTold, UserTold
from agon.entities.access import Caller

_PAGE = 100


class LocalAccess:
    """Look after users and tokens; see :class:`agon.client.ports.Access`."""

    def __init__(self, service: Service, by: Caller) -> None:
        self._service = service
        self._by = by

    def users(self) -> Iterator[UserTold]:
        """Yield all users in id order."""
        after = None
        while True:
            found = user_cases.users(self._service, after=after, limit=_PAGE, by=self._by)
            yield from map(UserTold.model_validate, found)
            if len(found) < _PAGE:
                return
            after = found[-1].id

    def create_user(self, user: str, *, name: str = "", password: str | None = None) -> UserTold:
        """Create a user."""
        made = user_cases.create_user(
            self._service, user=user, name=name, password=password, by=self._by
        )
        return UserTold.model_validate(made)

    def disable_user(self, user: str, *, disabled: bool = True) -> UserTold:
        """Disable a user, so that all tokens open nothing, or enable one again."""
        changed = user_cases.disable_user(self._service, user=user, disabled=disabled, by=self._by)
        return UserTold.model_validate(changed)

    def tokens(self, *, user: str | None = None) -> Iterator[TokenTold]:
        """Yield tokens, without their secrets."""
        after = None
        while True:
            found = token_cases.tokens(
                self._service, user=user, after=after, limit=_PAGE, by=self._by
            )
            yield from map(TokenTold.model_validate, found)
            if len(found) < _PAGE:
                return
            after = found[-1].id

    def create_token(self, grant: Grant) -> tuple[TokenTold, str]:
        """Create a token; its text comes this once."""
        token, text = token_cases.create_token(self._service, grant, by=self._by)
        return TokenTold.model_validate(token), text

    def revoke_token(self, token: str) -> TokenTold:
        """Revoke a token at once and for good."""
        return TokenTold.model_validate(token_cases.revoke_token(self._service, token, by=self._by))
