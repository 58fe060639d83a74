"""Write small workbooks (.xlsx) as spreadsheets save them."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def write_workbook(file: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
    """Write a workbook; numbers are numbers, None is an empty cell, all else is text."""
    numbers = range(1, len(sheets) + 1)
    with zipfile.ZipFile(file, "w") as archive:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/sheet{n}.xml" '
            f'ContentType="{_OFFICE}.worksheet+xml"/>'
            for n in numbers
        )
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{_PACKAGE}/content-types">'
            f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
            f'relationships+xml"/><Override PartName="/xl/workbook.xml" '
            f'ContentType="{_OFFICE}.sheet.main+xml"/>{parts}</Types>',
        )
        archive.writestr("_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")]))
        links = [("worksheet", f"worksheets/sheet{n}.xml") for n in numbers]
        archive.writestr("xl/_rels/workbook.xml.rels", _relations(links))
        listed = "".join(
            f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>'
            for n, name in zip(numbers, sheets, strict=True)
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>{listed}</sheets></workbook>',
        )
        for n, rows in zip(numbers, sheets.values(), strict=True):
            body = "".join(_row(at, row) for at, row in enumerate(rows, 1))
            archive.writestr(
                f"xl/worksheets/sheet{n}.xml",
                f'<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData></worksheet>',
            )
    return file


def _relations(links: Sequence[tuple[str, str]]) -> str:
    items = "".join(
        f'<Relationship Id="r{n}" Type="{_LINKS}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(links, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{items}</Relationships>'


def _row(at: int, values: Sequence[object]) -> str:
    cells = "".join(
        _cell(f"{chr(ord('A') + column)}{at}", value)
        for column, value in enumerate(values)
        if value is not None
    )
    return f'<row r="{at}">{cells}</row>'


def _cell(place: str, value: object) -> str:
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    text = f'<t xml:space="preserve">{escape(str(value))}</t>'
    return f'<c r="{place}" t="inlineStr"><is>{text}</is></c>'
