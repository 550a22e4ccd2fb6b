"""Make the package's catalog from the published facts of the SuiteSparse collection.

    python tests/make_catalog.py suitesparse_catalogue.csv

The file says nothing of when it was made, so that making it again changes nothing.
"""

import gzip
import pathlib
import sys

CATALOG = pathlib.Path(__file__).parents[1] / "graphclust" / "datasets" / "suitesparse.csv.gz"


def main(source: str) -> None:
    CATALOG.write_bytes(gzip.compress(pathlib.Path(source).read_bytes(), compresslevel=9, mtime=0))


if __name__ == "__main__":
    main(sys.argv[1])
