"""The command that attacks one discipline."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agon.attacks.catalog import DEFAULT_SIZE
from agon.attacks.goals import RANK_GOALS
from agon.cli.shared import parameters, sources
from agon.cli.shared.commands import Command, all_options, option
from agon.cli.shared.output import TABLE, deliver, require_new_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agon.app.analysis.attack import AttackReport, EditionAttacks
    from agon.attacks.prices import Prices
    from agon.attacks.replays import AttackReplay
    from agon.attacks.results import AttackResult
    from agon.cli.shared.tables import Output
    from agon.records.names.mapping import SourceMapping

_HELP = """Show what each known attack on {name} costs and gains, and which findings notice it.

    The attacker takes part twice: honestly, with one account of middling skill, and with the
    attack. Plans of rising effort are tried until one reaches the goal. Money is computed from a
    table of prices. Equal options give equal results. With --format svg, a chart of the prices;
    with --format html, one page with all charts, their data, and what agon attack detectors
    measures.

      agon attack {name}
      agon attack {name} --list-attacks
      agon attack {name} --goal first --format json
      agon attack {name} --format html > report.html
      agon attack {name} --records data/ --out attacks/
      agon attack {name} --replay attacks/FILE.json
    """
_WORLDS = 5
"""Simulated contests per row of the page's figures on findings."""

_PEOPLE = {
    "challenge": "miners and validators",
    "arena": "each has a bot and judges",
    "community": "users",
    "dojo": "users, each with 20 submissions",
}
"""Who takes part in a season."""
_SIZE = "Size of the simulated season."

_TOML_AND_JSON = click.Path(exists=True, dir_okay=False, path_type=Path)
_WHAT = (
    option(
        "--edition",
        "editions",
        metavar="E",
        multiple=True,
        help="Rules to attack; may be given several times (default: the reference edition).",
    ),
    option(
        "--attack",
        "names",
        metavar="NAME",
        multiple=True,
        help="Only this attack; may be given several times (--list-attacks names them).",
    ),
    option("--list-attacks", is_flag=True, help="List the attacks and stop."),
)
_HOW = (
    parameters.seed,
    option(
        "--goal",
        type=click.Choice(list(RANK_GOALS)),
        help="The rank to aim at (default: the goal of each attack).",
    ),
    option(
        "--records",
        "source",
        metavar="SOURCE",
        help="Attack these records from their last epoch on, instead of a simulated season.",
    ),
    sources.with_mapping,
    option(
        "--search",
        "trials",
        type=click.IntRange(min=0, max=10_000),
        default=0,
        metavar="N",
        help="Try N other plans of each attack, in search of a cheaper one.",
    ),
    option("--ablation", is_flag=True, help="Switch every guard of the editions off alone, too."),
    option(
        "--prices",
        "price_file",
        type=_TOML_AND_JSON,
        metavar="FILE",
        help="TOML with prices that replace those of agon.",
    ),
    option(
        "--replay",
        "replay_file",
        type=_TOML_AND_JSON,
        metavar="FILE",
        help="Repeat a stored run; exit code 1 if the result differs.",
    ),
    parameters.form(TABLE, "json", "svg", "html"),
    option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Store each run in this new folder as a file that replays, and a report that is not "
        "a table.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class _Choices:
    """The options of one call, but ``--list-attacks``."""

    editions: tuple[str, ...]
    names: tuple[str, ...]
    size: int
    seed: int
    goal: str | None
    source: str | None
    mapping: "SourceMapping | None"
    trials: int
    ablation: bool
    price_file: Path | None
    replay_file: Path | None
    form: str
    out: Path | None


def command_of(discipline: str) -> click.Command:
    """Return the command that attacks a discipline."""

    def command(*, list_attacks: bool, **choices: Any) -> None:
        if list_attacks:
            _list(discipline)
        else:
            _attack(discipline, _Choices(**choices))

    people = _PEOPLE.get(discipline)
    size = option(
        "--size",
        type=click.IntRange(min=1),
        default=DEFAULT_SIZE,
        show_default=True,
        metavar="N",
        help=f"People of the simulated season: {people}." if people else _SIZE,
    )
    function = all_options((*_WHAT, size, *_HOW), command)
    return click.command(discipline, cls=Command, help=_HELP.format(name=discipline))(function)


def _attack(discipline: str, choices: _Choices) -> None:
    """Attack a discipline, or repeat a stored run, and print and store the report."""
    if choices.mapping is not None and choices.source is None:
        raise click.UsageError("a mapping is about records; name them with --records")
    if choices.out is not None:
        require_new_folder(choices.out)
    report = _measure(discipline, choices)
    if choices.out is not None:
        _write(report, choices.out)
    if choices.form == TABLE:
        _show(report)
        return
    from agon.records.writing import write_atomically

    document = b"".join(_document(report, choices.form, stored=choices.out is not None))
    if choices.out is not None:
        write_atomically(choices.out / f"report.{choices.form}", [document])
    deliver([document], None)


def _measure(discipline: str, choices: _Choices) -> "AttackReport":
    """Return the report of all attacks, or of the stored run that is repeated."""
    prices = _read_prices(choices.price_file, discipline)
    stored = None if choices.replay_file is None else _read_replay(choices.replay_file, discipline)

    from agon.app.analysis.attack import attack, repeat
    from agon.cli.shared.output import working

    source, mapping = choices.source, choices.mapping
    with working("attacking"):
        if stored is not None:
            return repeat(stored, source=source, mapping=mapping, prices=prices)
        return attack(
            discipline,
            editions=choices.editions,
            names=choices.names,
            size=choices.size,
            seed=choices.seed,
            goal=choices.goal,
            source=source,
            mapping=mapping,
            prices=prices,
            trials=choices.trials,
            ablation=choices.ablation,
        )


def _list(discipline: str) -> None:
    from agon.attacks.catalog import lab_of
    from agon.cli.shared.tables import Output, TableColumn

    strategies = lab_of(discipline).strategies
    summary = Output()
    summary.table(
        [
            TableColumn("attack", [strategy.name for strategy in strategies]),
            TableColumn("goal", [strategy.goal for strategy in strategies]),
            TableColumn("what it does", [strategy.meaning for strategy in strategies], folds=True),
            TableColumn("attacker has", [strategy.controls for strategy in strategies], folds=True),
            TableColumn("attacker sees", [strategy.knows for strategy in strategies], folds=True),
        ]
    )
    summary.deliver()


def _read_prices(file: Path | None, discipline: str) -> "Prices | None":
    if file is None:
        return None
    from agon.attacks.catalog import lab_of
    from agon.attacks.prices import read_prices

    return read_prices(_text_of(file), source=str(file), default=lab_of(discipline).prices)


def _read_replay(file: Path, discipline: str) -> "AttackReplay":
    from agon.attacks.replays import parse_replay
    from agon.errors import Conflict, Unreadable

    try:
        value = json.loads(_text_of(file))
    except ValueError as error:
        raise Unreadable(f"{file}: {error}; give a file that agon attack --out wrote") from None
    replay = parse_replay(value, source=str(file))
    if replay.discipline != discipline:
        raise Conflict(
            f"{file}: expected a replay of {discipline}, got one of {replay.discipline}; "
            f"run agon attack {replay.discipline}"
        )
    return replay


def _text_of(file: Path) -> str:
    from agon.errors import Unreadable

    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{file}: {error}; give a text file in UTF-8") from None


def _write(report: "AttackReport", out: Path) -> None:
    from agon.cli.shared.formats import json_chunks
    from agon.records.writing import write_atomically

    out.mkdir(exist_ok=True)
    for name, replay in report.replays():
        write_atomically(out / name, json_chunks(replay.to_dict()))
    click.echo(f"wrote {out}", err=True)


def _document(report: "AttackReport", form: str, *, stored: bool) -> "Iterable[bytes]":
    """Return a report as JSON, as a chart of prices, or as a page with all charts."""
    if form == "json":
        from agon.cli.shared.formats import json_chunks

        return json_chunks(report.to_dict(stored=stored))
    from agon.app.analysis.attack_page import page, price_chart

    if form == "svg":
        return [price_chart(report).encode(), b"\n"]
    from agon.app.analysis.detectors import detectors
    from agon.attacks.catalog import LABS
    from agon.cli.shared.output import working

    if report.discipline not in LABS:  # only agon's own measure their checks
        return [page(report, (), worlds=0).encode()]
    with working("measuring findings"):
        measured = detectors(report.discipline, seed=report.seed, worlds=_WORLDS)
    return [page(report, measured.detectors, worlds=_WORLDS).encode()]


def _show(report: "AttackReport") -> None:
    from agon.cli.shared.tables import Output

    summary = Output()
    for attacked in report.editions:
        summary.line(attacked.edition.full_name, style="bold")
        _draw(summary, attacked.results, report.prices)
        _draw_search(summary, report, attacked)
        _draw_guards(summary, attacked, report.prices)
    summary.deliver()


def _draw(out: "Output", results: "tuple[AttackResult, ...]", prices: "Prices") -> None:
    from agon.cli.shared.tables import TableColumn, number, signed_text

    costs = [result.effort.to_dict(prices) for result in results]
    out.table(
        [
            TableColumn("attack", [result.name for result in results]),
            TableColumn("goal", [result.goal for result in results]),
            TableColumn("reached", ["yes" if result.reached else "no" for result in results]),
            TableColumn("$", [f"{cost['money']:,.2f}" for cost in costs], right=True),
            TableColumn(
                "ranks won", [signed_text(result.gain.ranks) for result in results], right=True
            ),
            TableColumn("share won", [result.gain.percent for result in results], right=True),
            TableColumn(
                "found by", ["\n".join(_detections(r)) or "nothing" for r in results], folds=True
            ),
            TableColumn("accounts", [number(cost["accounts"]) for cost in costs], right=True),
            TableColumn("actions", [number(cost["actions"]) for cost in costs], right=True),
            TableColumn("honest moved", [number(r.harm.honest_moved) for r in results], right=True),
            TableColumn(
                "honest accused", [number(r.harm.honest_accused) for r in results], right=True
            ),
        ],
        needed=7,
    )


def _draw_search(out: "Output", report: "AttackReport", attacked: "EditionAttacks") -> None:
    from agon.app.analysis.attack_page import plan_text, ratio_text
    from agon.cli.shared.tables import TableColumn

    if not attacked.searches:
        return
    rows = list(report.cheapest(attacked))
    plans = [plan_text(result) for _, result, _ in rows]
    money = [f"{result.effort.money(report.prices):,.2f}" for _, result, _ in rows]
    out.line(f"cheapest of {sum(each.trials for each in attacked.searches):,} other plans")
    out.table(
        [
            TableColumn("goal", [goal for goal, _, _ in rows]),
            TableColumn("attack", [result.name for _, result, _ in rows]),
            TableColumn("plan", plans, folds=True),
            TableColumn("$", money, right=True),
            TableColumn(
                "of catalog",
                [ratio_text(ratio) for _, _, ratio in rows],
                right=True,
            ),
        ],
        needed=5,
    )


def _draw_guards(out: "Output", attacked: "EditionAttacks", prices: "Prices") -> None:
    from agon.cli.shared.tables import TableColumn

    if not attacked.guards:
        return
    effects = ["\n".join(guard.effect_texts(prices)) or "none" for guard in attacked.guards]
    out.line("without one guard")
    out.table(
        [
            TableColumn("guard", [", ".join(guard.rules) for guard in attacked.guards], folds=True),
            TableColumn("attacks it spoils", effects, folds=True),
            TableColumn(
                "honest ranks",
                [f"{guard.correlation:.4f}" for guard in attacked.guards],
                right=True,
            ),
        ],
        needed=3,
    )


def _detections(result: "AttackResult") -> "Iterator[str]":
    for detection in result.detected:
        yield f"{detection.finding} ({detection.after_actions:,} actions)"
