"""``agon db``: upgrade, back up, restore and verify the database of the service."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agon.cli.shared.commands import Command, Group, option
from agon.cli.shared.target import Target

if TYPE_CHECKING:
    from agon.store.maintenance.verify import DatabaseVerification


@click.group("db", cls=Group)
def command() -> None:
    """Upgrade, back up, restore and verify the database.

    Each works with SQLite and with PostgreSQL.

      agon db upgrade
      agon db backup backup.tar.gz
      agon db verify --database postgresql://agon@db/agon
    """


_database = option("--database", metavar="URL", help="The database (default: setting database).")


@command.command("upgrade", cls=Command)
@_database
@option("--dry-run", is_flag=True, help="Print what would be done; change nothing.")
def upgrade(*, database: str | None, dry_run: bool) -> None:
    """Upgrade the database to the revision of this agon; create the tables of an empty one.

    All changes are made in one transaction.

      agon db upgrade
    """
    url = _url(database)
    from agon.store import migrations

    if dry_run:
        before, newest = migrations.current(url), migrations.NEWEST
        change = "no change" if before == newest else f"would upgrade from {_revision_text(before)}"
        click.echo(f"{newest}: {change}")
        return
    before, after = migrations.upgrade(url)
    change = "no change" if before == after else f"upgraded from {_revision_text(before)}"
    click.echo(f"{after}: {change}")


@command.command("current", cls=Command)
@_database
def current(*, database: str | None) -> None:
    """Print the revision of the database, and whether this agon works with it.

    Exit code 3 if there is no database, 5 if it has another revision.

      agon db current
    """
    from agon.errors import Unavailable

    url = _url(database)
    from agon.store.migrations import NEWEST

    revision = _require_revision(url)
    click.echo(revision)
    if revision != NEWEST:
        raise Unavailable(f"this agon works with {NEWEST}; run agon db upgrade")


@command.command("backup", cls=Command)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@_database
def backup(file: Path, *, database: str | None) -> None:
    """Write one consistent state of the database to FILE; the service may keep running.

    A name that ends in .tar.gz gives an archive from which SQLite and PostgreSQL are restored;
    any other name gives a SQLite file. The key files are not in it; back them up separately.

      agon db backup 2026-11-22.tar.gz
    """
    from agon.cli.shared.output import working

    url = _url(database)
    from agon.store.maintenance import backup as backups
    from agon.wiring import now

    _require_revision(url)
    with working("backing up"):
        written = backups.backup(url, file, now=now())
    click.echo(f"{written.path}: {written.size:,} bytes")


@command.command("restore", cls=Command)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@_database
def restore(file: Path, *, database: str | None) -> None:
    """Restore the backup FILE into a missing or empty database.

    The backup is verified first; on any issue the database stays as it was. A backup of an earlier
    version of agon is upgraded to this revision.

      agon db restore 2026-11-22.tar.gz --database postgresql://agon@db/agon
    """
    from agon.cli.shared.output import working

    url = _url(database)
    from agon.store.maintenance import backup as backups
    from agon.wiring import now

    with working("restoring"):
        result = backups.restore(file, url, now=now())
    _print(result)


@command.command("verify", cls=Command)
@_database
def verify(*, database: str | None) -> None:
    """Verify every ledger in the database and compare everything derived from it.

    The rules that ledgers and published boards record are compared with their editions, and the
    draws of live arenas are repeated from their secret numbers. Exit code 1 with all issues, each
    with contest and position. Records of a round that the round did not make are noted.

      agon db verify
    """
    from agon.cli.shared.output import working

    url = _url(database)
    from agon.app.arena.draw_audit import check_stored_draws
    from agon.store import open_store
    from agon.store.maintenance.verify import verify as verify_database

    _require_revision(url)
    with working("verifying"):
        result = verify_database(url)
        store = open_store(url, create=False)
        try:
            draws = check_stored_draws(store)
        finally:
            store.close()
    result = replace(result, issues=(*result.issues, *draws.issues))
    result.require_no_issues()
    for note in draws.notes:
        click.echo(f"note: {note}", err=True)
    _print(result)


def _print(result: "DatabaseVerification") -> None:
    click.echo(f"OK: {result.contests:,} contests, {result.entries:,} entries")


def _require_revision(url: str) -> str:
    """Return the revision of the database.

    Raises:
        NotFound: there is no database.
    """
    from agon.errors import NotFound
    from agon.store.migrations import current as revision

    current = revision(url)
    if current is None:
        raise NotFound("the database is empty or missing; run agon db upgrade")
    return current


def _revision_text(revision: str | None) -> str:
    return revision or "nothing"


def _url(database: str | None) -> str:
    """Return the database of the settings.

    Raises:
        Unavailable: the packages of the service are not installed.
    """
    from agon.extras import extra_not_installed

    url = Target(None, None, database).settings().database
    if missing := extra_not_installed("serve"):
        raise missing
    return url
