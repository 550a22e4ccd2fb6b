"""The tables of mutants meet the code that they spoil."""

import pathlib
import sys

import pytest

MUTANTS = pathlib.Path(__file__).parent / "mutants"


@pytest.fixture
def mutants(monkeypatch):
    monkeypatch.syspath_prepend(str(MUTANTS))
    import mutants

    yield mutants
    for name in [name for name in sys.modules if name.startswith("mutant")]:
        monkeypatch.delitem(sys.modules, name)


def test_what_a_mutant_replaces_stands_once_in_its_file_and_its_tests_are_there(mutants):
    of_all_tables = mutants.with_homes(mutants.read_tables(mutants.TABLES))
    assert len(of_all_tables) > 400
    assert [problem for one in of_all_tables if (problem := mutants.is_stale(one))] == []
