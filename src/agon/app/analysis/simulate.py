"""Simulate records with honest participants and attackers, and write them with the truth."""

from collections.abc import Sequence
from pathlib import Path

from agon.disciplines import Simulation, discipline
from agon.errors import NotFound, Unreadable, did_you_mean
from agon.records.writing import TableFormat, write_tables

DEFAULT_SIZE = 1_000
TRUTH = "truth"
"""Name of the folder with the truth, which no scorer reads."""


def simulate(
    discipline_name: str, *, size: int = DEFAULT_SIZE, seed: int = 1, attacks: Sequence[str] = ()
) -> Simulation:
    """Simulate records of a discipline; equal arguments give equal records.

    Args:
        discipline_name: the name of the discipline.
        size: number of records of its main kind (``discipline(of).simulator.size_unit``).
        seed: seed of all draws.
        attacks: names of attacks to mix in; each is one of ``discipline(of).attacks``.

    Raises:
        NotFound: there is no such discipline or attack, or the discipline has no simulator.
        Unreadable: the size is too small for a contest.

    Example:
        >>> simulation = simulate("dojo", size=20, seed=1)
        >>> {name: table.num_rows for name, table in simulation.tables.items()}
        {'problems': 4, 'submissions': 20}
    """
    simulator = discipline(discipline_name).require_simulator()
    known = simulator.attacks
    for attack in attacks:
        if attack not in known:
            raise NotFound(
                f"{discipline_name} has no attack {attack!r}: {did_you_mean(attack, known)}"
            )
    try:
        return simulator.simulate(size=size, seed=seed, attacks=tuple(dict.fromkeys(attacks)))
    except ValueError as error:  # the discipline needs more for a contest
        raise Unreadable(f"cannot simulate {discipline_name}: {error}") from None


def write_simulation(simulation: Simulation, out: Path, *, form: TableFormat = "parquet") -> None:
    """Write the tables into a new folder, and the truth into ``truth/`` inside it.

    Args:
        simulation: the records.
        out: the folder; it is created when its content is complete.
        form: ``parquet``, ``csv`` or ``ndjson``.

    Raises:
        Conflict: the folder exists and is not empty.
    """
    truth = {f"{TRUTH}/{name}": table for name, table in simulation.truth.items()}
    write_tables({**simulation.tables, **truth}, out, format=form)
