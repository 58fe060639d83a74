"""Build and score an example of every discipline that has one."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from agon.app.analysis.records import read_records
from agon.app.analysis.score import Result, score
from agon.app.analysis.simulate import TRUTH, simulate
from agon.app.dojo.example import example_problems, judge_example
from agon.app.examples import dataset
from agon.app.importers import import_records
from agon.app.sandbox import Sandbox
from agon.disciplines import Demo, Discipline, discipline, names
from agon.errors import Conflict, Unavailable
from agon.records.writing import write_tables

_MARK = "agon-demo.txt"

# So different that no two of their combinations look alike.
_FIRST = (
    "Amara", "Bjorn", "Chiara", "Dmitri", "Elena", "Farid", "Grace", "Hiroshi", "Ingrid", "Jamal",
    "Kavya", "Lucas", "Mei", "Nikhil", "Olivia", "Pedro",
)  # fmt: skip
_LAST = (
    "Abara", "Bergström", "Castillo", "Dufour", "Eriksen", "Fischer", "Gupta", "Haddad", "Ivanova",
    "Jansen", "Kowalski", "Lindqvist",
)  # fmt: skip

OpenSandbox = Callable[[], Sandbox]
Progress = Callable[[str], None]


@dataclass(frozen=True)
class DemoResult:
    """The example of one discipline, scored.

    Attributes:
        discipline: the discipline's name.
        example: how the discipline describes it.
        source: the database file with its records.
        origin: where the records come from, in one sentence.
        result: the scored records.
        commands: commands for the user to try next.
    """

    discipline: str
    example: Demo
    source: Path
    origin: str
    result: Result
    commands: tuple[str, ...]


@dataclass(frozen=True)
class _Records:
    """The records of an example.

    Attributes:
        tables: the discipline's tables.
        truth: what simulated records hide from a scorer.
        origin: where the records come from, in one sentence.
        attribution: the file that names their authors and license, if there is one.
    """

    tables: Mapping[str, pa.Table]
    truth: Mapping[str, pa.Table]
    origin: str
    attribution: Path | None = None


def build_demo(
    folder: Path,
    *,
    open_sandbox: OpenSandbox | None = None,
    progress: Progress = lambda _: None,
) -> Iterator[DemoResult]:
    """Build the examples in a folder, and yield them one by one, scored.

    Programs are run in the sandbox; without one, or where none is available, a discipline that
    judges programs is simulated. The folder gets ``<discipline>.duckdb`` (the records in the
    embedded database) and ``<discipline>/`` (the same as Parquet, the truth of simulated ones in
    ``truth/``). It appears when it is complete; an earlier demo there is replaced.

    Raises:
        Conflict: the folder holds something else.
    """
    if folder.exists() and not (folder / _MARK).is_file() and any(folder.iterdir()):
        raise Conflict(f"{folder} exists and is not a demo; give another folder with --dir")
    demos = [
        (chosen, chosen.demo) for chosen in map(discipline, names()) if chosen.demo is not None
    ]
    building = folder.with_name(f".{folder.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    try:
        building.mkdir(parents=True)
        origins = {}
        for chosen, demo in demos:
            progress(f"building {chosen.name}")
            records = _records(chosen, demo, open_sandbox, progress)
            origins[chosen.name] = records.origin
            _write(records, building, chosen.name)
        text = "".join(f"{name}: {origin}\n" for name, origin in origins.items())
        (building / _MARK).write_text(f"Made by agon demo.\n{text}", encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    for chosen, demo in demos:
        progress(f"scoring {chosen.name}")
        source = folder / f"{chosen.name}.duckdb"
        commands = tuple(line.format(source=source) for line in demo.commands)
        result = score(chosen.name, source, overrides=demo.overrides)
        yield DemoResult(chosen.name, demo, source, origins[chosen.name], result, commands)


def _records(
    discipline: Discipline, demo: Demo, open_sandbox: OpenSandbox | None, progress: Progress
) -> _Records:
    """Return an example's records: imported, judged just now, or simulated."""
    if demo.dataset is not None:
        data = dataset(demo.dataset)
        imported = import_records(data.format, data.folder)
        return _Records(imported.tables, {}, f"real data: {data.credit}", data.attribution)
    judges_programs = (
        discipline.submissions is not None and discipline.submissions.judging == "program"
    )
    if not judges_programs or open_sandbox is None:
        return _simulate(discipline, demo)
    try:
        with open_sandbox() as sandbox:
            return _judge_example(discipline, sandbox, progress)
    except Unavailable as missing:
        records = _simulate(discipline, demo)
        return replace(records, origin=f"{records.origin}; nothing could be run here ({missing})")


def _simulate(discipline: Discipline, demo: Demo) -> _Records:
    simulation = simulate(discipline.name, size=demo.size, seed=demo.seed, attacks=demo.attacks)
    among = f", with attackers: {', '.join(demo.attacks)}" if demo.attacks else ""
    tables = _with_people_names(simulation.tables, discipline)
    return _Records(tables, simulation.truth, f"simulated, seed {demo.seed}{among}")


def _with_people_names(
    tables: Mapping[str, pa.Table], discipline: Discipline
) -> Mapping[str, pa.Table]:
    """Return tables whose invented names read as those of people, where participants have names.

    Names of attackers stay, as do all beyond the number of combinations.
    """
    if discipline.names is None:
        return tables
    table_name, _, field = discipline.names.column.partition(".")
    table = tables[table_name]
    if field not in table.column_names:  # names are optional
        return tables
    known = table[field].to_pylist()
    combined = [f"{first} {last}" for first, last in zip(_FIRST * len(_LAST), _last(), strict=True)]
    renamed = [
        name if name is None or not name.isalpha() or index >= len(combined) else combined[index]
        for index, name in enumerate(known)
    ]
    column = table.schema.get_field_index(field)
    changed = table.set_column(column, field, pa.array(renamed, pa.string()))
    return {**tables, table_name: changed}


def _last() -> list[str]:
    """Return the surnames so that no first name has one of them twice."""
    return [
        _LAST[(index + turn) % len(_LAST)]
        for turn in range(len(_LAST))
        for index in range(len(_FIRST))
    ]


def _judge_example(discipline: Discipline, sandbox: Sandbox, progress: Progress) -> _Records:
    """Run the example season's programs, and return its records."""
    with tempfile.TemporaryDirectory(prefix="agon-demo-") as folder:
        season = Path(folder) / "season"
        runs = judge_example(season, sandbox, progress=progress)
        records = read_records(discipline.name, season)
        tables = {table.name: records.arrow(table.name) for table in discipline.schema}
    note = (
        ""
        if sandbox.mode == "bwrap"
        else ", without namespaces: bubblewrap, or the namespaces that it needs, are missing"
    )
    origin = (
        f"real runs: {runs} programs for {len(example_problems())} sequences, judged just now in "
        f"the sandbox (mode {sandbox.mode}{note})"
    )
    return _Records(tables, {}, origin)


def _write(records: _Records, folder: Path, name: str) -> None:
    truth = {f"{TRUTH}/{table}": rows for table, rows in records.truth.items()}
    write_tables({**records.tables, **truth}, folder / name)
    if records.attribution is not None:
        shutil.copy(records.attribution, folder / name / records.attribution.name)
    _into_database(records.tables, folder / f"{name}.duckdb")


def _into_database(tables: Mapping[str, pa.Table], file: Path) -> None:
    """Write tables into a new file of the embedded database."""
    import duckdb

    with duckdb.connect(str(file)) as database:
        for name, table in tables.items():
            database.register("given", table)
            database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
            database.unregister("given")
