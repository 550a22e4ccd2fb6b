# ruff: noqa: E501 - a case a line
"""Broken and hostile files, each read in a process with 3 GiB of address space and 20 seconds: see fault_runner."""

import bz2
import gzip
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
from itertools import pairwise

import pytest
from runners import runner_of

BANNER = b"%%MatrixMarket matrix coordinate real general\n"
PATTERN = b"%%MatrixMarket matrix coordinate pattern general\n"
SYMMETRIC = b"%%MatrixMarket matrix coordinate real symmetric\n"
INTEGER = BANNER.replace(b"real", b"integer")
UNSAFE = "UnsafeArchiveError"
FORMAT, VALIDATION, LIMIT = "GraphFormatError", "GraphValidationError", "ResourceLimitError"


@pytest.fixture(scope="module")
def load():
    """load(path, **options) -> what happened, as plain data."""
    with runner_of("fault_runner.py") as runner:
        yield lambda path, **options: runner.ask([str(path), options])


@pytest.mark.slow
def test_the_package_beside_the_tests_is_tested_whatever_else_is_installed(tmp_path):
    (tmp_path / "graphclust").mkdir()
    (tmp_path / "graphclust" / "__init__.py").write_text("raise ImportError('another one')")
    runner = pathlib.Path(__file__).parents[1] / "fault_runner.py"
    question = json.dumps([str(tmp_path / "missing"), {}])
    ended = subprocess.run(
        [sys.executable, runner], env={**os.environ, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path, input=question,
        capture_output=True, text=True,
    )  # fmt: skip
    assert json.loads(ended.stdout)["error"] == "FileNotFoundError", ended.stderr


def archive(*members: tuple[str, bytes], kind: bytes = tarfile.REGTYPE) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as file:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content) if kind == tarfile.REGTYPE else 0
            member.type, member.linkname = kind, "/etc/passwd"
            file.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def checksum_off(packed: bytes) -> bytes:
    return packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:]


def size_that_lies() -> bytes:
    """A member that claims more bytes than follow."""
    member = tarfile.TarInfo("a/a.mtx")
    member.size = 1 << 40
    return gzip.compress(member.tobuf() + PATTERN + b"2 2 1\n1 2\n")


# id, name of the file, its content, the error, what its message must hold
REFUSED = [
    ("L01 empty", "a.mtx", b"", FORMAT, ["a.mtx", "empty"]),
    ("L01 white space only", "a.txt", b" \n\n", FORMAT, ["empty"]),
    ("L02 banner only", "a.mtx", BANNER, FORMAT, ["line 2", "Premature"]),
    ("L03 misspelt banner", "a.mtx", b"%%MatrixMarkt matrix\n1 1 0\n", FORMAT, ["Not a Matrix Market file", "format='snap'"]),
    ("L03 no banner", "a.mtx", b"3 3 1\n1 2 1.0\n", FORMAT, ["Not a Matrix Market file", "use format='snap'", "line 1"]),
    ("L03 edge list", "a.mtx.gz", gzip.compress(b"# c\n1 2\n"), FORMAT, ["Not a Matrix Market file", "line 2"]),
    ("lost banner, other name", "a.txt", b"3 3 2\n1 2 1.0\n2 3 1.0\n", FORMAT, ["banner", "line 1"]),
    ("L07 truncated", "a.mtx", BANNER + b"3 3 3\n1 2 1.0\n", FORMAT, ["Truncated", "declares 3", "found 1"]),
    ("L08 too many", "a.mtx", BANNER + b"3 3 1\n1 2 1.0\n2 3 1.0\n", FORMAT, ["line 4", "more entries than the 1"]),
    ("L09 index 0", "a.mtx", BANNER + b"3 3 1\n0 2 1.0\n", FORMAT, ["line 3", "index 0", "1-based"]),
    ("L10 index above n", "a.mtx", BANNER + b"3 3 2\n1 2 1\n1 4 1.0\n", FORMAT, ["line 4", "index 4", "out of bounds", "3"]),
    ("L10 negative index", "a.mtx", BANNER + b"3 3 1\n-1 2 1.0\n", FORMAT, ["line 3", "index -1", "out of bounds"]),
    ("L11 huge index", "a.mtx", BANNER + b"3 3 1\n99999999999999999999 2 1\n", FORMAT, ["line 3", "out of bounds"]),
    ("L11 huge dimension", "a.mtx", BANNER + b"99999999999999999999 99999999999999999999 1\n1 1 1\n", FORMAT, ["line 2"]),
    ("L12 float index", "a.mtx", BANNER + b"3 3 1\n1.5 2 1.0\n", FORMAT, ["line 3", "1.5", "whole number"]),
    ("L12 float index in a pattern", "a.mtx", PATTERN + b"3 3 1\n1 2.5\n", FORMAT, ["line 3", "2.5"]),
    ("hexadecimal index", "a.mtx", BANNER + b"2 2 1\n0x1 2 3\n", FORMAT, ["line 3", "'0x1'", "whole number"]),
    ("hexadecimal value", "a.mtx", BANNER + b"2 2 1\n1 2 0x1p3\n", FORMAT, ["line 3", "0x1p3"]),
    ("value below floats", "a.mtx", BANNER + b"2 2 1\n1 2 1e-320\n", VALIDATION, ["underflow"]),
    ("Arabic digits", "a.txt", "\u0661 \u0662\n\u0662 \u0663\n".encode(), FORMAT, ["line 1", "whole numbers"]),
    ("sign and time", "a.txt", b"# Directed\n1\t2\t-1\t100\n", FORMAT, ["line 2", "4 columns"]),
    ("one name in a line", "a.csv", b"a,b\n,d\n", VALIDATION, ["line 2", "1 row lacks an id", "missing="]),
    ("gzip in gzip", "a.gz", gzip.compress(gzip.compress(b"1 2\n")), FORMAT, ["binary"]),
    ("METIS, endless constraints", "a.graph", b"3 2 011 99999999999\n1 2\n1 3\n2\n", VALIDATION, ["line 1", "constraint=0"]),
    ("L12 text value", "a.mtx", BANNER + b"3 3 1\n1 2 abc\n", FORMAT, ["line 3", "abc"]),
    ("L12 missing value", "a.mtx", BANNER + b"3 3 1\n1 2\n", FORMAT, ["line 3", "missing"]),
    ("two points", "a.mtx", BANNER + b"3 3 1\n1 2 1.2.3\n", FORMAT, ["line 3", "1.2.3"]),
    ("empty exponent", "a.mtx", BANNER + b"3 3 1\n1 2 5e\n", FORMAT, ["line 3", "5e"]),
    ("commas", "a.mtx", BANNER + b"3 3 1\n1,2,1.0\n", FORMAT, ["line 3"]),
    ("fraction in an integer file", "a.mtx", INTEGER + b"3 3 1\n1 2 3.7\n", FORMAT, ["line 3"]),
    ("L13 entries bomb", "a.mtx", BANNER + b"3 3 999999999999\n1 2 1\n", FORMAT, ["999999999999 entries", "bytes", "line 2"]),
    ("L13 packed", "a.mtx.gz", gzip.compress(BANNER + b"3 3 999999999\n1 2 1\n"), FORMAT, ["999999999 entries"]),
    ("L14 nodes bomb", "a.mtx", BANNER + b"3000000000 3000000000 1\n1 2 1\n", LIMIT, ["bytes", "memory_limit"]),
    ("L14 smaller bomb", "a.mtx", BANNER + b"200000000 200000000 1\n1 2 1\n", LIMIT, ["bytes", "memory_limit"]),
    ("L15 negative size", "a.mtx", BANNER + b"3 3 -1\n", FORMAT, ["line 2", "3 3 -1"]),
    ("L16 nan", "a.mtx", BANNER + b"3 3 1\n1 2 nan\n", VALIDATION, ["non-finite", "line 3"]),
    ("L16 inf", "a.mtx", BANNER + b"3 3 1\n1 2 -inf\n", VALIDATION, ["non-finite", "line 3"]),
    ("L16 1e999", "a.mtx", BANNER + b"3 3 2\n1 2 1\n2 3 1e999\n", VALIDATION, ["1 non-finite", "(2, 3)", "line 4"]),
    ("L17 extra column", "a.mtx", BANNER + b"3 3 1\n1 2 1.0 7\n", FORMAT, ["line 3", "4 columns"]),
    ("L17 value in a pattern", "a.mtx", PATTERN + b"3 3 1\n1 2 1\n", FORMAT, ["line 3", "3 columns"]),
    ("L18 rectangular symmetric", "a.mtx", SYMMETRIC + b"3 4 1\n2 1 1\n", FORMAT, ["line 2", "must be square"]),
    ("L19 both triangles", "a.mtx", SYMMETRIC + b"3 3 2\n2 1 1\n1 2 1\n", FORMAT, ["both triangles", "(0, 1)"]),
    ("L21 skew", "a.mtx", SYMMETRIC.replace(b"symm", b"skew-symm") + b"2 2 1\n2 1 1\n", VALIDATION, ["skew-symmetric", "abs"]),
    ("L21 complex", "a.mtx", BANNER.replace(b"real", b"complex") + b"2 2 1\n2 1 1 1\n", VALIDATION, ["complex"]),
    ("L21 hermitian", "a.mtx", SYMMETRIC.replace(b"symmetric", b"hermitian") + b"2 2 0\n", VALIDATION, ["hermitian"]),
    ("L22 array", "a.mtx", b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", FORMAT, ["coordinate required"]),
    ("L22 vector", "a.mtx", b"%%MatrixMarket vector coordinate real general\n2 1\n1 1\n", FORMAT, ["vector"]),
    ("L23 2^63", "a.mtx", INTEGER + b"2 2 1\n1 2 9223372036854775808\n", FORMAT, ["line 3"]),
    ("L25 no nodes", "a.mtx", BANNER + b"0 0 0\n", VALIDATION, ["at least 1 node"]),
    ("L26 garbage", "a.txt", bytes(range(256)) * 20, FORMAT, ["binary"]),
    ("HDF5", "cells.h5ad", b"\x89HDF\r\n\x1a\n" + bytes(100), FORMAT, ["is an HDF5 file", "anndata.read_h5ad(path) to cluster_anndata"]),
    ("one word above a marked word", "a.txt", b"3\n#nodes\n0 1\n1 2\n", FORMAT, ["the first edge is '3', 1 columns"]),
    ("L26 UTF-16", "a.txt", "1 2\n".encode("utf-16"), FORMAT, ["UTF-16"]),
    ("L26 NUL within", "a.txt", b"1 2\n" * 90_000 + b"1 \0\n", FORMAT, ["line 90001"]),
    ("V04 negative in a list", "a.txt", b"1 2 1\n2 3 -1.5\n", VALIDATION, ["1 negative", "(2, 3)"]),
    ("L29 comments only", "a.txt", b"# Nodes: 3\n# nothing\n", VALIDATION, ["no edges"]),
    ("L30 ragged", "a.txt", b"1 2\n1 3\n2 3 5\n", FORMAT, ["line 3", "more columns"]),
    ("L30 ragged the other way", "a.txt", b"1 2 1\n1 3\n", FORMAT, ["line 2", "fewer columns"]),
    ("L30 five columns", "a.txt", b"1 2 1 1082040961 7\n", FORMAT, ["line 1", "5 columns"]),
    ("L31 negative id", "a.txt", b"1 2\n-1 2\n", FORMAT, ["line 2", "-1 2"]),
    ("L31 2^63", "a.txt", b"1 2\n1 9223372036854775808\n", FORMAT, ["line 2"]),
    ("5000 digits", "a.txt", b"1 2\n1 " + b"9" * 5000 + b" 3\n", FORMAT, ["line 2"]),
    ("5000 digits of DIMACS", "a.col", b"p edge 2 1\ne 1 " + b"9" * 5000 + b"\n", FORMAT, ["line 2"]),
    ("L31 1e3", "a.txt", b"1 2\n1e3 2\n", FORMAT, ["line 2", "1e3"]),
    ("L31 abc", "a.txt", b"1 2\nabc 2\n", FORMAT, ["line 2", "abc", "format='csv'"]),
    ("L31 quoted", "a.csv", b'1,2\n"1",2\n', FORMAT, ["line 2"]),
    ("L36 empty field", "a.csv", b"1,2,3\n1,,2\n", VALIDATION, ["line 2", "lacks an id"]),
    ("weight nan", "a.txt", b"1 2 3\n1 4 nan\n", VALIDATION, ["non-finite", "(1, 4)"]),
    ("L38 wrong number of edges", "a.graph", b"3 3\n2\n1 3\n2\n", FORMAT, ["header says 3 edges", "found 4"]),
    ("L38 without the ending", "a.txt", b"3 3\n2\n1 3\n2\n", FORMAT, ["header says 3 edges"]),
    ("L39 too few lines", "a.graph", b"3 2\n2\n1 3", FORMAT, ["header says 3 nodes", "2 lines"]),
    ("L39 too many lines", "a.graph", b"2 1\n2\n1\n1\n", FORMAT, ["line 4", "more lines than the 2 nodes"]),
    ("L40 neighbor 0", "a.graph", b"2 1\n2\n0\n", FORMAT, ["line 3", "1 to 2"]),
    ("L40 neighbor above n", "a.graph", b"2 1\n3\n1\n", FORMAT, ["line 2"]),
    ("L40 missing reverse", "a.graph", b"3 1\n2 3\n\n\n", FORMAT, ["2 edges lack", "(0, 1)"]),
    ("L40 unequal weights", "a.graph", b"2 1 1\n2 5\n1 6\n", FORMAT, ["1 edge lacks", "(0, 1)"]),
    ("L40 self-loop", "a.graph", b"2 1\n1\n2\n", FORMAT, ["line 2", "self-loop"]),
    ("L41 fmt 7", "a.graph", b"2 1 7\n2\n1\n", FORMAT, ["fmt is 7", "line 1"]),
    ("L41 zero weight", "a.graph", b"2 1 1\n2 0\n1 0\n", FORMAT, ["line 2", "above 0"]),
    ("L41 negative weight", "a.graph", b"2 1 1\n2 -4\n1 -4\n", FORMAT, ["line 2", "above 0"]),
    ("L41 weight missing", "a.graph", b"2 1 1\n2\n1\n", FORMAT, ["line 2", "missing"]),
    ("METIS nodes bomb", "a.graph", b"2000000000 1\n2\n1\n", FORMAT, ["2000000000 nodes", "bytes"]),
    ("L42 truncated gzip", "a.txt.gz", gzip.compress(b"1 2\n" * 99999)[:-40], FORMAT, ["truncated or corrupt gzip"]),
    ("L42 corrupt gzip", "a.txt.gz", gzip.compress(b"1 2\n3 4\n")[:-8] + b"\0" * 8, FORMAT, ["truncated or corrupt gzip"]),
    ("L42 truncated bzip2", "a.txt.bz2", bz2.compress(b"1 2\n" * 99999)[:-20], FORMAT, ["truncated or corrupt bzip2"]),
    ("no ring in METIS", "a.txt", b"4 4\n2 4\n1 3\n2 3\n1 3\n", FORMAT, ["4 4, may count", "header=False"]),
    ("quote without an end", "a.csv", b'a,b\nc,"d\ne,f\n', FORMAT, ["line 2", "not a row of a table"]),
    ("quote without an end first", "a.csv", b'a,"b\nc,d\n', FORMAT, ["line 1", "not a row of a table"]),
    ("weights beyond degrees", "a.txt", b"1 2 1e300\n", VALIDATION, ["degree overflow"]),
    ("garbage after gzip", "a.txt.gz", gzip.compress(b"1 2\n") + b"garbage", FORMAT, ["truncated or corrupt gzip"]),
    ("Fortran's exponent", "a.mtx", BANNER + b"2 2 1\n1 2 1.0D+00\n", FORMAT, ["line 3", "1.0D+00"]),
    ("too many by one", "a.mtx", BANNER + b"3 3 0\n1 2 1\n", FORMAT, ["line 3", "more entries than the 0"]),
    ("unsigned 2^64", "a.mtx", BANNER.replace(b"real", b"unsigned-integer") + b"2 2 1\n1 2 18446744073709551616\n", FORMAT, ["line 3"]),
    ("old Mac lines", "a.txt", b"1 2\r2 3\r3 4\r", FORMAT, ["line 1"]),
    ("zip", "a.zip", b"PK\x03\x04aaaaaaaa", FORMAT, ["zip archive"]),
    ("HTML", "a.mtx.gz", b"<!DOCTYPE HTML PUBLIC>\n<html>", FORMAT, ["HTML"]),
    ("D15 no matrix", "a.tar.gz", archive(("a/b.mtx", b"x"), ("readme", b"y")), FORMAT, ["Name/Name.mtx", "a/b.mtx, readme"]),
    ("D15 two matrices", "a.tar.gz", archive(("a/a.mtx", PATTERN + b"2 2 1\n1 2\n"), ("b/b.mtx", b"")), FORMAT, ["second"]),
    ("D12 outside", "a.tar.gz", archive(("../../evil.mtx", PATTERN + b"2 2 1\n1 2\n")), UNSAFE, ["../../evil.mtx", "Name/Name.mtx"]),
    ("D12 link", "a.tar.gz", archive(("a/a.mtx", b""), kind=tarfile.SYMTYPE), UNSAFE, ["'a/a.mtx'", "Name/Name.mtx"]),
    ("D12 hard link", "a.tar.gz", archive(("a/a.mtx", b""), kind=tarfile.LNKTYPE), UNSAFE, ["neither a file nor a folder"]),
    ("D12 pipe", "a.tar.gz", archive(("a/a.mtx", b""), kind=tarfile.FIFOTYPE), UNSAFE, ["neither a file nor a folder"]),
    ("D12 device", "a.tar.gz", archive(("a/a.mtx", b""), kind=tarfile.CHRTYPE), UNSAFE, ["neither a file nor a folder"]),
    ("D12 absolute", "a.tar.gz", archive(("/a/a.mtx", PATTERN + b"2 2 1\n1 2\n")), UNSAFE, ["'/a/a.mtx'"]),
    ("D12 beside the matrix", "a.tar.gz", archive(("a/a.mtx", PATTERN + b"2 2 1\n1 2\n"), ("a/../../b", b"")), UNSAFE, ["a/../../b"]),
    ("D13 links upon links", "a.tar.gz", archive(*[("a/" * 60 + "l", b"")] * 9, kind=tarfile.SYMTYPE), UNSAFE, ["neither a file nor a folder"]),
    ("D16 checksum after the last member", "a.tar.gz", checksum_off(gzip.compress(gzip.decompress(archive(("a/a.mtx", PATTERN + b"2 2 1\n1 2\n"))) + bytes(1 << 20))), FORMAT, ["corrupt gzip"]),
    ("D15 size that lies", "a.tar.gz", size_that_lies(), FORMAT, []),
    ("D15 many members", "a.tar.gz", archive(*[(f"{i}", b"") for i in range(10_001)]), FORMAT, ["more than 10000 members"]),
    ("D16 truncated tar", "a.tar.gz", gzip.compress(gzip.decompress(archive(("a/a.mtx", b"x" * 9999)))[:2000]), FORMAT, []),
    ("JSON", "a.json", b'{"nodes": []}', FORMAT, ["no known format"]),
]  # fmt: skip
ENTITIES = b"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">%s]><graphml><graph><node id="&k;"/></graph></graphml>"""
LAUGHS = ENTITIES % b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(10))
REFUSED.append(("a billion laughs", "a.graphml", LAUGHS, FORMAT, ["entities"]))


@pytest.mark.parametrize("case", REFUSED, ids=[case[0] for case in REFUSED])
def test_refused_with_a_named_error(load, tmp_path, case):
    _, name, content, error, words = case
    path = tmp_path / name
    path.write_bytes(content)
    answer = load(path)
    assert answer["error"] == error, answer
    assert answer["message"].startswith(str(path)) and answer["ours"]
    for word in words:
        assert word in answer["message"]
    assert "\n" not in answer["message"]
    assert os.listdir(tmp_path) == [name]


ACCEPTED = [
    ("L04 BOM", "a.mtx", b"\xef\xbb\xbf" + BANNER + b"2 2 1\n1 2 3\n", (2, 1)),
    ("BOM before a list", "a.txt", b"\xef\xbb\xbf1 2\n2 3\n", (3, 2)),
    ("L05 capitals", "a.mtx", BANNER.upper() + b"2 2 1\n1 2 3\n", (2, 1)),
    ("L06 CRLF, blanks", "a.mtx", b"%%MatrixMarket matrix coordinate real general\r\n\r\n  3 3 2\r\n\r\n 1 2 3\r\n  2 3 1 \r\n", (3, 2)),
    ("L06 long comment", "a.mtx", BANNER + b"%" + b"x" * 200_000 + b"\n2 2 1\n1 2 3\n", (2, 1)),
    ("comments within", "a.mtx", BANNER + b"3 3 2\n1 2 3\n% so\n2 3 1\n", (3, 2)),
    ("no last newline", "a.mtx", BANNER + b"2 2 1\n1 2 3", (2, 1)),
    ("L20 upper triangle", "a.mtx", SYMMETRIC + b"3 3 2\n1 2 3\n3 2 1\n", (3, 2)),
    ("L25 no entries", "a.mtx", BANNER + b"3 3 0\n", (3, 0)),
    ("unsigned", "a.mtx", BANNER.replace(b"real", b"unsigned-integer") + b"2 2 1\n1 2 18446744073709551615\n", (2, 1)),
    ("L32 sparse huge ids", "a.txt", b"0 1000000000000\n", (2, 1)),
    ("largest id", "a.txt", b"9223372036854775807 4\n", (2, 1)),
    ("L35 loop", "a.txt", b"1 1\n1 2\n", (2, 2)),
    ("L36 comma", "a.csv", b"1,2\n2,3\n", (3, 2)),
    ("L36 semicolon", "a.csv", b"1;2\n2;3\n", (3, 2)),
    ("L36 trailing tabs", "a.txt", b"1\t2\t\n2\t3 \t\n", (3, 2)),
    ("L36 mixed blanks", "a.txt", b"1 \t2\n  2  3\n", (3, 2)),
    ("L36 header", "a.txt", b"Source Target\n1 2\n2 3\n", (3, 2)),
    ("Gephi's table", "a.csv", b"Source,Target,Type,Id,Label,Weight\n1,2,Undirected,0,,2.5\n2,3,Undirected,1,,1.0\n", (3, 2)),
    ("text ids", "a.csv", b'"Smith, J",Jones\nJones,"O""Neill"\n', (3, 2)),
    ("blanks around a comma", "a.csv", b"a , b \nb , c\n\"d\", a\n", (4, 3)),
    ("blanks in quotes", "a.csv", b'"a ",b\nb,a\n', (3, 2)),
    ("tabs in a banner", "a.mtx", BANNER.replace(b" ", b"\t") + b"2\t2\t1\n1\t2\t3\n", (2, 1)),
    ("comments within, BOM, CRLF", "a.mtx", b"\xef\xbb\xbf" + PATTERN.replace(b"\n", b"\r\n") + b"% c\r\n3 3 2\r\n2 1\r\n%\r\n3 2\r\n\r\n", (3, 2)),
    ("leading zeros", "a.mtx", BANNER + b"2 2 1\n001 0002 3.\n", (2, 1)),
    ("Gephi's, target first", "a.csv", b"target,weight,source\na,1,b\nb,2,c\n", (3, 2)),
    ("METIS, comment within", "a.graph", b"% c\n3 2\n% x\n2\n1 3\n2\n", (3, 2)),
    ("a folder and ./", "a.tar.gz", archive(("./a/._a.mtx", b"\0\5"), ("./a/a.mtx", PATTERN + b"2 2 1\n1 2\n")), (2, 1)),
    ("long names", "a.tar.gz", archive((f"{'é' * 150}/{'é' * 150}.mtx", PATTERN + b"2 2 1\n1 2\n")), (2, 1)),
    ("text ids by blanks", "a.txt", b"9q a9 1\nts a9 1\n", (3, 2)),
    ("Konect", "out.x", b"% sym unweighted\n% 2 3 3\n1 2\n2 3\n", (3, 2)),
    ("L41 fmt 1", "a.graph", b"2 1 1\n2 5\n1 5\n", (2, 1)),
    ("L41 fmt 100", "a.graph", b"2 1 100\n9 2\n9 1\n", (2, 1)),
    ("L39 blank line", "a.graph", b"% c\n3 1\n2\n1\n\n\n", (3, 1)),
    ("plus sign", "a.mtx", BANNER + b"2 2 1\n1 2 +1.5E+0\n", (2, 1)),
    ("zeros after gzip", "a.txt.gz", gzip.compress(b"1 2\n2 3\n") + b"\0" * 512, (3, 2)),
    ("plain tar", "a.tar", gzip.decompress(archive(("a/a.mtx", PATTERN + b"2 2 1\n1 2\n"))), (2, 1)),
    ("a ring in METIS", "a.txt", b"4 4\n2 4\n1 3\n2 4\n1 3\n", (4, 4)),
    ("long field", "a.csv", b"source,target\n" + b"a" * 200_000 + b",b\n", (2, 1)),
    ("L42 two members", "a.txt.gz", gzip.compress(b"1 2\n") + gzip.compress(b"2 3\n"), (3, 2)),
    ("L44 gzip called .txt", "a.txt", gzip.compress(b"1 2\n2 3\n"), (3, 2)),
    ("L44 text called .gz", "a.txt.gz", b"1 2\n2 3\n", (3, 2)),
    ("bzip2", "a", bz2.compress(b"1 2\n2 3\n"), (3, 2)),
    ("D14 companions first", "a.tar.gz", archive(("a/a_b.mtx", b"x"), ("a/a_coord.mtx", b"y"), ("a/a.mtx", PATTERN + b"2 2 1\n1 2\n")), (2, 1)),
]  # fmt: skip


@pytest.mark.parametrize("case", ACCEPTED, ids=[case[0] for case in ACCEPTED])
def test_unusual_files_are_read_with_the_right_size(load, tmp_path, case):
    _, name, content, size = case
    path = tmp_path / name
    path.write_bytes(content)
    answer = load(path)
    assert (answer.get("n_nodes"), answer.get("n_edges")) == size, answer


@pytest.mark.slow
def test_l43_gzip_bomb(load, tmp_path):
    with gzip.open(tmp_path / "zeros.gz", "wb") as file:
        for _ in range(200):
            file.write(b"0 1\n" * (1 << 18))
    answer = load(tmp_path / "zeros.gz")
    assert answer["error"] == LIMIT and "200 to one" in answer["message"] and answer["peak"] < 1 << 30
    assert load(tmp_path / "zeros.gz", max_bytes=1 << 20)["error"] == LIMIT
    assert load(tmp_path / "zeros.gz", max_bytes=1 << 30)["n_edges"] == 1


@pytest.mark.parametrize("start", [b"7" * (1 << 19), b"1 2\n" * (1 << 17)])
def test_l37_a_gigabyte_without_a_newline(load, tmp_path, start):
    path = tmp_path / "line.txt"
    path.write_bytes(start)
    os.truncate(path, 1 << 30)  # a hole of zeros, no bytes on disk
    answer = load(path)
    assert answer["error"] == FORMAT and "line too long" in answer["message"] and answer["peak"] < 1 << 29


def test_l49_paths(load, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path, error, word in (
        (tmp_path / "pipe", FORMAT, "not a regular file"),
        (tmp_path / "folder", "IsADirectoryError", "directory"),
        (tmp_path / "missing", "FileNotFoundError", "missing"),
        ("", "FileNotFoundError", "empty"),
        ("a\0b", "ValueError", "NUL"),
        ("/dev/zero", FORMAT, "not a regular file"),
    ):
        answer = load(path)
        assert answer["error"] == error and word in answer["message"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_l49_unreadable(load, tmp_path):
    (tmp_path / "secret").write_text("1 2\n")
    (tmp_path / "secret").chmod(0)
    assert load(tmp_path / "secret")["error"] == "PermissionError"


SEED, N_FILES, SECONDS = 518, 20_000, 100
MOST_FAULTS = 20  # after so many the rest would say nothing new


@pytest.mark.slow
def test_damaged_files_of_every_format_end_in_named_errors():
    """The seed is that of GRAPHCLUST_FUZZ_SEED, if set; what is wrong is shown with the command that shows it again."""
    seed, first, faults = int(os.environ.get("GRAPHCLUST_FUZZ_SEED", SEED)), 0, []
    runner = pathlib.Path(__file__).parents[1] / "fuzz_files.py"
    print(f"seed {seed}")
    # One that compiles takes more memory than one that reads may.
    subprocess.run([sys.executable, str(runner), str(seed), "0", "0"], check=True, timeout=5 * SECONDS)
    while first < N_FILES and len(faults) < MOST_FAULTS:
        command = [sys.executable, str(runner), str(seed), str(first), str(N_FILES)]
        child = subprocess.run(command, capture_output=True, text=True, timeout=2 * SECONDS)
        lines = child.stdout.splitlines()
        numbers = [int(line) for line in lines if line.isdigit()]
        assert numbers, child.stderr
        for number, line in pairwise(lines):
            if line.startswith("["):
                faults.append((f"{runner} {seed} {number} {int(number) + 1}", *json.loads(line)))
        if child.returncode != 0:
            faults.append(
                (f"{runner} {seed} {numbers[-1]} {numbers[-1] + 1}", f"ended by {child.returncode}", child.stderr)
            )
        first = numbers[-1] + 1
    assert faults == []
