"""Convert other formats to records; each module is one format."""

from agon.app.importers.formats import (
    FORMATS,
    Format,
    all_formats,
    format_of_frame,
    import_records,
)
from agon.app.importers.reading import foreign

__all__ = ["FORMATS", "Format", "all_formats", "foreign", "format_of_frame", "import_records"]
