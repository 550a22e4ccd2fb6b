"""The soak notices each kind of leak that it looks for, and none where nothing leaks."""

import gc
import os
import pathlib
import sys
import tempfile
import threading
import types

import numpy as np
import pytest

sys.path.append(str(pathlib.Path(__file__).with_name("benchmarks")))
import soak

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what the process holds")
LOOKS = 25


def test_a_process_that_grows_is_a_fault_whatever_it_holds(monkeypatch):
    monkeypatch.setattr(soak, "WARM", LOOKS)
    monkeypatch.setattr(soak, "SPARE", {"mib": 8.0, "descriptors": 4, "threads": 4})
    over, held, waiting = threading.Event(), [], []

    def look(leaks):
        if leaks:
            held.append(np.ones(1 << 18))  # 2 MiB
            waiting.append((os.open(os.devnull, os.O_RDONLY), threading.Thread(target=over.wait)))
            waiting[-1][1].start()
        return soak.Health.now()

    gc.freeze()  # else each look takes as long as all that the tests have imported
    try:
        assert soak.growth([look(leaks=False) for _ in range(LOOKS)]) == []
        faults = soak.growth([look(leaks=True) for _ in range(LOOKS)])
    finally:
        gc.unfreeze()
        over.set()
        for descriptor, thread in waiting:
            os.close(descriptor)
            thread.join()
    assert [fault.split()[0] for fault in faults] == ["mib", "descriptors", "threads"]


def test_what_a_try_leaves_or_raises_is_its_fault(monkeypatch, tmp_path):
    temporaries = tmp_path / "temporaries"
    temporaries.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporaries))

    def leave(chance, folder):
        (temporaries / "forgotten").write_text("")
        return "done"

    tries = {"quiet": lambda chance, folder: "done", "leaves": leave, "breaks": lambda chance, folder: 1 // 0}
    monkeypatch.setitem(sys.modules, "soak_tries", types.SimpleNamespace(TRIES=tries))
    faults = {name: soak.attempt(name, "0", 0, tmp_path)[1] for name in tries}
    assert faults["quiet"] == "" and faults["leaves"] == "temporaries were left: ['forgotten']"
    assert "ZeroDivisionError" in faults["breaks"] and [*temporaries.iterdir()] == []
