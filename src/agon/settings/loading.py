"""Find every setting: in options, else the environment, else ``agon.toml``, else its default."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import PydanticBaseSettingsSource

from agon.errors import NotFound, Unreadable, did_you_mean
from agon.settings.table import SETTINGS, Settings, shown

COMMANDS: Final = (
    "arena", "attack", "cases", "challenge", "check", "compare", "config", "contest", "db", "demo",
    "dojo", "explain", "import", "jobs", "replay", "rules", "score", "serve", "simulate", "token",
    "user", "webhooks", "worker",
)  # fmt: skip
"""Words after ``AGON_`` that begin the variable of a command's option, not a setting's."""

_OTHERS: Final = frozenset(
    {
        "AGON_CONFIG", "AGON_CONTAINER_ENGINE", "AGON_CONTAINER_RUNTIME", "AGON_DEBUG",
        "AGON_SERVER", "AGON_TASK", "AGON_TOKEN",
    }
)  # fmt: skip
_PLACES: Final = ("agon.toml", "/etc/agon/agon.toml")
_KEY = re.compile(r"""^\s*["']?([A-Za-z0-9_-]+)["']?\s*=""")


@dataclass(frozen=True)
class Origin:
    """Tell what a setting is and who said so.

    Attributes:
        name: the setting.
        value: its value as it may be shown (secrets as ``***``).
        source: ``default``, ``agon.toml:3``, ``AGON_PORT`` or ``--port``.
    """

    name: str
    value: Any
    source: str


class _Layer(PydanticBaseSettingsSource):
    """One place that settings come from: values by name, and where each stands."""

    def __init__(self, values: Mapping[str, Any], places: Mapping[str, str]) -> None:
        super().__init__(Settings)
        self.values = values
        self.places = places

    def get_field_value(
        self,
        field: FieldInfo,  # noqa: ARG002 (pydantic-settings' signature)
        field_name: str,
    ) -> tuple[Any, str, bool]:
        """Return a field's value as it was given."""
        return self.values.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return all values."""
        return dict(self.values)


def load(
    overrides: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    cwd: str | Path = ".",
) -> Settings:
    """Load the settings: ``overrides`` > ``AGON_…`` > ``agon.toml`` > defaults.

    Args:
        overrides: options of the command line by setting's name; None means not given.
        environ: environment variables; by default this process's own. Empty ones are not set.
        cwd: where a relative ``AGON_CONFIG`` and ``agon.toml`` are looked for.

    Raises:
        NotFound: the file that ``AGON_CONFIG`` names is missing.
        Unreadable: a name is unknown (with the closest one) or a value is none; all at once,
            each with the place it stands at.
    """
    return _settled(_layers(overrides, environ, cwd))


def origins(
    overrides: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    cwd: str | Path = ".",
) -> list[Origin]:
    """Load the settings and tell of each where it came from; arguments and errors of ``load``."""
    layers = _layers(overrides, environ, cwd)
    settings = _settled(layers)
    return [
        Origin(name, shown(name, getattr(settings, name)), _place(layers, name) or "default")
        for name in SETTINGS
    ]


def toml_file(environ: Mapping[str, str], cwd: str | Path = ".") -> Path | None:
    """Find the file of settings: ``AGON_CONFIG``, else ``./agon.toml``, else that in ``/etc/agon``.

    Raises:
        NotFound: the one that ``AGON_CONFIG`` names is missing.
    """
    if named := environ.get("AGON_CONFIG"):
        path = Path(cwd) / named
        if not path.is_file():
            raise NotFound(f"AGON_CONFIG names {path}, and there is no such file; correct it")
        return path
    return next((path for place in _PLACES if (path := Path(cwd) / place).is_file()), None)


def _layers(
    overrides: Mapping[str, Any] | None, environ: Mapping[str, str] | None, cwd: str | Path
) -> tuple[_Layer, ...]:
    """Read every place, strongest first; unknown names in any of them are refused together."""
    environ = os.environ if environ is None else environ
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    said = {name: text for name, text in environ.items() if name.startswith("AGON_") and text}
    path = toml_file(environ, cwd)
    written, lines = ({}, {}) if path is None else _read(path)
    spelt = {setting.variable: name for name, setting in SETTINGS.items()}
    faults = [
        *(f"{_option(name)} is no setting; {did_you_mean(name, SETTINGS)}"
          for name in given if name not in SETTINGS),
        *(f"{name} is no setting; {did_you_mean(name, spelt)}"
          for name in sorted(said) if name not in spelt and not _is_foreign(name)),
        *(f"{lines[name]}: {name} is no setting; {did_you_mean(name, SETTINGS)}"
          for name in written if name not in SETTINGS),
    ]  # fmt: skip
    if faults:
        raise Unreadable("\n".join(faults))
    variables = {name: variable for variable, name in spelt.items() if variable in said}
    return (
        _Layer(given, {name: _option(name) for name in given}),
        _Layer({name: said[variable] for name, variable in variables.items()}, variables),
        _Layer(written, lines),
    )


def _is_foreign(variable: str) -> bool:
    """Tell whether an ``AGON_…`` variable belongs to a command's option or to another part."""
    return variable in _OTHERS or variable.startswith(
        tuple(f"AGON_{word.upper()}_" for word in COMMANDS)
    )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _read(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Read a TOML file: its values, and the place (``agon.toml:3``) of each."""
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as refused:
        raise Unreadable(f"{path} is no TOML: {refused}; correct it there") from None
    numbers = {
        found[1]: at for at, line in enumerate(text.splitlines(), 1) if (found := _KEY.match(line))
    }
    return values, {
        name: f"{path}:{numbers[name]}" if name in numbers else str(path) for name in values
    }


def _place(layers: tuple[_Layer, ...], name: str) -> str | None:
    return next((layer.places[name] for layer in layers if name in layer.places), None)


def _settled(layers: tuple[_Layer, ...]) -> Settings:
    sources: dict[str, Any] = {"_build_sources": (layers, {})}  # merges them, first one strongest
    try:
        return Settings(**sources)
    except ValidationError as refused:
        raise Unreadable("\n".join(_faults(refused, layers))) from None


def _faults(refused: ValidationError, layers: tuple[_Layer, ...]) -> Iterator[str]:
    """Tell each fault once: place, name, value, and what would be right."""
    told = set()
    for error in refused.errors(include_url=False):
        wrong = (error.get("ctx") or {}).get("error")
        if not error["loc"]:
            yield str(wrong or error["msg"])
            continue
        name = str(error["loc"][0])
        if name in told:
            continue
        told.add(name)
        value = next(layer.values[name] for layer in layers if name in layer.values)
        right = str(wrong) if wrong is not None else f"write {SETTINGS[name].bounds}"
        yield f"{_place(layers, name)}: {name} cannot be {shown(name, value)!r}; {right}"
