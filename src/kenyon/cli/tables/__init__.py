"""Files in, files out: samples from tables and folders of images, and tables of answers.

Files are read and written in pieces, so that memory does not grow with them.
"""

from kenyon.cli.tables.formats import FORMATS, TABLES
from kenyon.cli.tables.reading import read_samples
from kenyon.cli.tables.samples import BadRows, Columns, Progress, Samples
from kenyon.cli.tables.writing import TableWriter, write_table

__all__ = [
    "FORMATS",
    "TABLES",
    "BadRows",
    "Columns",
    "Progress",
    "Samples",
    "TableWriter",
    "read_samples",
    "write_table",
]
