"""The table of settings: each with its default, bounds and meaning."""

import ipaddress
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from agon.settings.model_judges import SECTIONS, ModelJudgeSettings
from agon.settings.public_url import checked_public_url
from agon.settings.rows import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    setting,
)

SandboxMode = Literal["bwrap", "degraded", "cold"]

_DATABASES = ("sqlite", "postgresql")
_PASSWORD = re.compile(r"((?<=://)[^/@:\s]*:)\S*(?=@)|((?<=[?&])password=)[^&\s]*")


def _list(value: Any) -> Any:
    """Return a list; a text, as in an environment variable, is split at its commas."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _database(value: str) -> str:
    if urlsplit(value).scheme.partition("+")[0] not in _DATABASES or "://" not in value:
        raise ValueError("write sqlite:///agon.db or postgresql://user@host/name")
    return value


def _host(value: str) -> str:
    if not value or re.search(r"[\s/]", value):
        raise ValueError("write an address or a name to listen on, such as 127.0.0.1")
    return value


def _cors_origin(value: str) -> str:
    """Return an origin as browsers send it: scheme, host and port in small letters."""
    if value == "*":
        return value
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        raise ValueError("write origins such as https://site.example, or *")
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise ValueError("leave out the path; an origin is scheme, host and port")
    return f"{parts.scheme}://{parts.netloc}".lower()


def _rate(value: str) -> str:
    """Return a valid rate in the notation of the package ``limits``; ``;`` separates several."""
    from limits import parse_many

    try:
        parse_many(value)
    except ValueError:
        raise ValueError("write a rate such as 600/minute, or 20/second;600/minute") from None
    return value


def _network(value: str) -> str:
    try:
        return str(ipaddress.ip_network(value))
    except ValueError as error:
        raise ValueError(f"{error}; write networks such as 10.0.0.0/8 or 127.0.0.1") from None


_Rate = Annotated[str, AfterValidator(_rate)]
_Networks = Annotated[tuple[Annotated[str, AfterValidator(_network)], ...], BeforeValidator(_list)]
_Origins = Annotated[
    tuple[Annotated[str, AfterValidator(_cors_origin)], ...], BeforeValidator(_list)
]
_Modes = Annotated[tuple[SandboxMode, ...], BeforeValidator(_list), Field(min_length=1)]


class Settings(ModelJudgeSettings):
    """The settings of a service; immutable, created by :func:`agon.settings.load`.

    Created directly, it uses its arguments and the defaults only, never the environment.
    """

    model_config = SettingsConfigDict(frozen=True, extra="forbid", env_prefix="AGON_")

    database: Annotated[str, AfterValidator(_database)] = setting(
        "sqlite:///agon.db",
        "URL of the database; a relative path of SQLite starts at the working folder.",
        bounds="a URL of sqlite or postgresql",
        secret=True,
    )
    database_lock_seconds: float = setting(
        20.0,
        "Seconds a session waits for another that writes; then its request gets 503. Less than "
        "request_timeout_seconds.",
        low=0.1,
        high=3600,
    )
    database_idle_seconds: float = setting(
        10.0,
        "Seconds a session that writes may be idle before PostgreSQL ends it: so long a process "
        "that was stopped holds its contest's lock. Less than database_lock_seconds.",
        low=0.1,
        high=3600,
    )
    server_key_file: str = setting(
        "",
        "File of the server's own key (32 random bytes, mode 0600), created at the first start. It "
        "hashes network addresses, encrypts webhook secrets and signs cursors. Empty: "
        "agon-server.key next to the database.",
        bounds="a path, or empty",
    )
    signing_key_file: str = setting(
        "",
        "File of the Ed25519 key (32 random bytes, mode 0600) that signs ledger heads, created "
        "at the first start. Empty: agon-signing.key next to the database.",
        bounds="a path, or empty",
    )
    tasks_folder: str = setting(
        "",
        "Folder that contains the task folders challenge contests may use. Empty: no contest can "
        "run tasks.",
        bounds="a path, or empty",
    )
    host: Annotated[str, AfterValidator(_host)] = setting(
        "127.0.0.1",
        "Address to listen on; 0.0.0.0 or :: is every address of the machine.",
        bounds="an address or a name",
    )
    port: int = setting(8080, "Port to listen on; 0 selects any free one.", low=0, high=65535)
    public_url: Annotated[str, AfterValidator(checked_public_url)] = setting(
        "",
        "Public URL of the service, for links in pages, invitations and webhooks; forms that its "
        "pages send are accepted. It may have a path (https://example.org/agon), which a proxy may "
        "remove from requests or leave. Empty: http://host:port.",
        bounds="an http or https URL without query, or empty",
    )
    processes: int = setting(1, "Processes that answer HTTP.", low=1, high=64)
    workers: int = setting(
        1,
        "Worker processes started with the server; 0 when all workers are started separately "
        "(agon worker).",
        low=0,
        high=64,
    )
    auth: Literal["required", "open"] = setting(
        "required",
        "Authentication: required demands a token of every client; open treats every client as an "
        "operator and works on loopback addresses only.",
    )
    trusted_proxies: _Networks = setting(
        (),
        "Networks of reverse proxies whose X-Forwarded-For, X-Forwarded-Host and X-Forwarded-Proto "
        "are trusted.",
        bounds="networks such as 10.0.0.0/8, with commas",
    )
    cors_origins: _Origins = setting(
        (),
        "Origins whose pages may call the API from a browser (CORS); * is every origin. A page "
        "needs a token as any client does; with auth = open other origins are rejected.",
        bounds="origins such as https://site.example with commas, or *",
    )
    metrics_public: bool = setting(
        False,
        "Whether /metrics answers without a token; otherwise it requires an operator's token.",
    )
    max_body_mib: int = setting(64, "Largest request body in MiB.", low=1, high=4096)
    request_timeout_seconds: float = setting(
        30.0, "Seconds after which a request is aborted with 503.", low=1, high=3600
    )
    rate_limit_token: _Rate = setting(
        "1200/minute",
        "Requests one token may make.",
        bounds="rates such as 20/second;600/minute",
        validate_default=False,
    )
    rate_limit_address: _Rate = setting(
        "300/minute",
        "Requests one network address may make without a token.",
        bounds="rates such as 20/second;600/minute",
        validate_default=False,
    )
    password_hashes: int = setting(
        2, "Passwords a process hashes at a time, each in 64 MiB; others wait.", low=1, high=64
    )
    sse_streams: int = setting(
        512, "Event streams open at a time in one process.", low=1, high=100_000
    )
    sse_streams_per_address: int = setting(
        16, "Event streams that one network address may have open.", low=1, high=10_000
    )
    sse_keepalive_seconds: float = setting(
        15.0, "Seconds of silence after which a stream sends a comment.", low=1, high=300
    )
    lease_seconds: float = setting(
        30.0,
        "Seconds a worker holds a job without a heartbeat before another may claim it; it sends "
        "three heartbeats in this time.",
        low=2,
        high=3600,
    )
    snapshots_kept: int = setting(
        20,
        "Newest snapshots of each board whose rows are stored, besides those at a freeze or an "
        "end and one a day; the others are rebuilt on demand.",
        low=1,
        high=100_000,
    )
    findings_minutes: float = setting(
        10.0,
        "Minutes from the end of an integrity scan to the next one, which starts automatically "
        "when there are new boards; 0: scans run only on request.",
        low=0,
        high=10_080,
    )
    ended_jobs_days: float = setting(
        30.0,
        "Days after which an ended job is deleted. 0: never.",
        low=0,
        high=36_500,
    )
    sandbox_modes: _Modes = setting(
        ("bwrap",),
        "Sandbox modes in which programs may be judged, the first preferred. degraded has no "
        "namespaces: allow it only where every program is trusted.",
        bounds="some of bwrap, degraded, cold, with commas",
    )
    webhook_allow_private: bool = setting(
        False,
        "Whether webhooks may use private and loopback addresses and plain http; for tests and "
        "closed networks.",
    )
    allow_private_bots: bool = setting(
        False,
        "Whether bots of arenas may use private and loopback addresses and plain http; for a "
        "league on one network.",
    )
    arena_round_minutes: float = setting(
        120.0,
        "Minutes from one automatic round of an arena to the next; 0 turns automatic rounds off. A "
        "changed value holds from the next round on, once the server or a worker that runs rounds "
        "starts again.",
        low=0,
        high=525_600,
    )
    development: bool = setting(
        False,
        "Whether the site has the page /styleguide, which shows every component of its design.",
    )
    log_format: Literal["text", "json"] = setting(
        "text", "Format of the log on stderr: readable text, or one JSON object a line."
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        "info", "Minimum severity that is logged."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 (pydantic-settings' signature)
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the arguments as the only source; :func:`load` adds the others."""
        return (init_settings,)

    @cached_property
    def database_file(self) -> Path | None:
        """Return SQLite's file; None for PostgreSQL and for a database in memory."""
        kind, _, rest = self.database.partition("://")
        path = rest.removeprefix("/").partition("?")[0]
        if kind.partition("+")[0] != "sqlite" or path in {"", ":memory:"}:
            return None
        return Path(path)

    @property
    def server_key_path(self) -> Path:
        """Return the path of the server's key: as set, else next to the database."""
        return Path(self.server_key_file or self._database_folder / "agon-server.key")

    @property
    def signing_key_path(self) -> Path:
        """Return the path of the key that signs ledger heads: as set, else next to the database."""
        return Path(self.signing_key_file or self._database_folder / "agon-signing.key")

    @property
    def url(self) -> str:
        """Return the public URL: as set, else that of host and port."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{name}:{self.port}"

    @property
    def _database_folder(self) -> Path:
        return Path() if self.database_file is None else self.database_file.parent


@dataclass(frozen=True)
class Setting:
    """The description of a setting.

    Attributes:
        name: its name; in ``agon.toml`` the last part of it is the key within ``section``.
        variable: its environment variable.
        default: its default value.
        bounds: the values allowed, in words.
        meaning: what it does.
        secret: whether (a part of) its value is never shown.
    """

    name: str
    variable: str
    default: Any
    bounds: str
    meaning: str
    secret: bool

    @property
    def section(self) -> str:
        """The table of ``agon.toml`` in which it stands, such as ``arena.judge``; empty: none."""
        return next((name for name in SECTIONS if self.name.startswith(f"{_flat(name)}_")), "")

    @property
    def key(self) -> str:
        """The key in its table of ``agon.toml``."""
        return self.name.removeprefix(f"{_flat(self.section)}_") if self.section else self.name


def _flat(section: str) -> str:
    return section.replace(".", "_")


def _setting_of(name: str) -> Setting:
    field = Settings.model_fields[name]
    extra: Any = field.json_schema_extra
    low = next((item.ge for item in field.metadata if hasattr(item, "ge")), None)
    high = next((item.le for item in field.metadata if hasattr(item, "le")), None)
    bounds = extra["bounds"]
    if low is not None:
        kind = "a whole number" if field.annotation is int else "a number"
        bounds = f"{kind} from {low:g} to {high:,}"
    elif field.annotation is bool:
        bounds = "true or false"
    elif get_origin(field.annotation) is Literal and not bounds:
        bounds = "one of " + ", ".join(get_args(field.annotation))
    return Setting(
        name=name,
        variable=f"AGON_{name.upper()}",
        default=field.default,
        bounds=bounds,
        meaning=field.description or "",
        secret=extra["secret"],
    )


SETTINGS: dict[str, Setting] = {
    row.name: row
    for row in sorted(map(_setting_of, Settings.model_fields), key=lambda row: row.section)
}
"""All settings by name, in the order in which they are shown: those of a section at the end."""


def display_value(name: str, value: Any) -> Any:
    """Return a setting's value for display: secrets as ``***``, URLs without their password.

    Example:
        >>> display_value("database", "postgresql://agon:hunter2@db/agon")
        'postgresql://agon:***@db/agon'
        >>> display_value("database", "sqlite:///agon.db"), display_value("port", 80)
        ('sqlite:///agon.db', 80)
    """
    if not SETTINGS[name].secret or value == "":
        return value
    text = str(value)
    return _PASSWORD.sub(r"\1\2***", text) if "://" in text else "***"
