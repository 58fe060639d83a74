"""Convert other formats to records; each module is one format."""

from agon.app.importers.formats import FORMATS, Format, format_of_frame, import_records
from agon.app.importers.imported import Imported

__all__ = ["FORMATS", "Format", "Imported", "format_of_frame", "import_records"]
