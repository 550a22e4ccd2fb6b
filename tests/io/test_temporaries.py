"""What is written appears whole or not at all: names are exchanged, and temporaries of the dead are removed."""

import fcntl
import os
import threading

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from graph_files import same_csr

import graphclust as gc
from graphclust.io import atomic_write
from graphclust.io.atomic_write import name_of_partial, temporary_file, temporary_folder, whole_file
from graphclust.io.store import store

OLD, NEW = nx.path_graph(5), nx.path_graph(9)


@pytest.fixture(params=["one step", "two steps"])
def steps(request, monkeypatch):
    """How a folder takes the place of another: on file systems that can exchange names, and on others."""
    if request.param == "two steps":
        monkeypatch.setattr(atomic_write, "exchange", lambda *_: False)
    return request.param


@pytest.fixture
def aside(tmp_path) -> str:
    """A store that stepped aside, whose replacement was killed before the new one had its name."""
    name = str(tmp_path / "g")
    gc.save_store(name, OLD)
    aside = atomic_write._beside(name, "old")
    os.rename(name, aside)
    return aside


def test_exchange_swaps_two_folders_or_leaves_them(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text("")
    done = atomic_write.exchange(str(tmp_path / "a"), str(tmp_path / "b"))
    assert os.listdir(tmp_path / "b") == (["a"] if done else ["b"])
    assert not atomic_write.exchange(str(tmp_path / "a"), str(tmp_path / "none"))


def test_a_store_takes_the_place_of_another(tmp_path, steps):
    name = tmp_path / "g"
    gc.save_store(name, OLD)
    mapped = gc.open_store(name)
    gc.save_store(name, NEW, overwrite=True)
    assert gc.open_store(name).n_nodes == 9 and os.listdir(tmp_path) == ["g"]
    assert same_csr(mapped, gc.as_graph(OLD)), "who has mapped the old one keeps reading it"


def test_a_link_to_a_store_is_replaced_and_its_target_kept(tmp_path, steps):
    gc.save_store(tmp_path / "target", OLD)
    (tmp_path / "g").symlink_to("target")
    gc.save_store(tmp_path / "g", NEW, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["g", "target"]
    assert gc.open_store(tmp_path / "g").n_nodes == 9 and gc.open_store(tmp_path / "target").n_nodes == 5


@pytest.mark.parametrize("array", ["indptr", "indices", "degrees"])
def test_a_store_that_is_replaced_while_it_is_mapped_is_one_of_the_two(tmp_path, monkeypatch, steps, array):
    name, waiting = tmp_path / "g", [nx.cycle_graph(5), NEW]
    gc.save_store(name, OLD)
    open_array = store.open_array

    def replaced(folder, now, length):
        if now == array and waiting:
            gc.save_store(name, waiting.pop(), overwrite=True)
        return open_array(folder, now, length)

    monkeypatch.setattr(store, "open_array", replaced)
    assert gc.open_store(name) == gc.as_graph(nx.cycle_graph(5)) and waiting == []


def test_a_writer_whose_target_is_replaced_meanwhile_replaces_it_too(tmp_path, steps, monkeypatch):
    name, other, rename = tmp_path / "g", tmp_path / "other", os.rename
    gc.save_store(name, OLD)
    gc.save_store(other, nx.path_graph(7))

    def after_another(source, target):
        """Another writer is quicker."""
        if target == str(name) and other.exists() and not name.exists():
            rename(other, name)
        rename(source, target)

    monkeypatch.setattr(os, "rename", after_another)
    assert gc.save_store(name, NEW, overwrite=True).n_nodes == 9
    assert sorted(os.listdir(tmp_path)) == (["g", "other"] if steps == "one step" else ["g"])


class Stopped(BaseException):
    """Ctrl-C at a chosen call."""


def test_ctrl_c_at_any_rename_leaves_one_store_and_nothing_else(tmp_path, monkeypatch, steps):
    rename = os.rename
    for last in range(1, 6):
        gc.save_store(tmp_path / "g", OLD, overwrite=True)
        n_calls = 0

        def counted(*names):
            nonlocal n_calls
            n_calls += 1
            if n_calls == last:  # noqa: B023
                raise Stopped
            rename(*names)

        with monkeypatch.context() as patch:
            patch.setattr(os, "rename", counted)
            try:
                gc.save_store(tmp_path / "g", NEW, overwrite=True)
            except Stopped:
                pass
            else:
                break
        assert gc.open_store(tmp_path / "g").n_nodes in (5, 9)
        left = [name for name in os.listdir(tmp_path) if name != "g"]
        assert left == [] or gc.open_store(tmp_path / "g").n_nodes == 9, "the old one may wait for the next write"
    assert last > 1 and os.listdir(tmp_path) == ["g"]


@pytest.mark.parametrize("look", [gc.open_store, gc.load_graph, lambda name: gc.convert_to_store(name, f"{name}2")])
def test_a_store_that_stepped_aside_is_taken_back_by_whoever_opens_it(tmp_path, aside, look):
    assert look(str(tmp_path / "g")).n_nodes == 5
    assert not os.path.exists(aside)


def test_a_store_that_stepped_aside_is_not_lost_to_the_next_save(tmp_path, aside):
    refuses(FileExistsError, "overwrite=True", gc.save_store, tmp_path / "g", NEW)
    assert gc.open_store(tmp_path / "g").n_nodes == 5
    assert gc.save_store(tmp_path / "g", NEW, overwrite=True).n_nodes == 9 and os.listdir(tmp_path) == ["g"]


def test_a_store_that_was_replaced_is_removed_by_the_next_save(tmp_path, aside):
    os.rename(aside, tmp_path / "kept")
    gc.save_store(tmp_path / "g", OLD)
    os.rename(tmp_path / "kept", aside)
    gc.save_store(tmp_path / "other", OLD)
    assert os.path.exists(aside), "only the next save of the same store knows that it was replaced"
    gc.save_store(tmp_path / "g", NEW, overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["g", "other"]


def test_whoever_misses_a_store_waits_while_its_writer_lives(tmp_path, aside):
    handle = os.open(aside, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    found = []
    reader = threading.Thread(target=lambda: found.append(gc.open_store(tmp_path / "g").n_nodes))
    reader.start()
    reader.join(0.05)
    assert found == []
    gc.save_store(tmp_path / "h", NEW)
    os.rename(tmp_path / "h", tmp_path / "g")  # the second step
    os.close(handle)
    reader.join(10)
    assert found == [9] and os.path.exists(aside)


WRITERS = {
    "graph": lambda folder: gc.save_graph(folder / "g.mtx", NEW),
    "labels": lambda folder: gc.write_labels(folder / "l.tsv", np.zeros(3, int)),
    "store": lambda folder: gc.save_store(folder / "s", NEW),
    "conversion": lambda folder: gc.convert_to_store(folder / "g.txt", folder / "s"),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_temporaries_of_dead_writers_are_removed_and_others_are_left(tmp_path, writer):
    (tmp_path / "g.txt").write_text("0 1\n")
    dead = tmp_path / ".graphclust-00c0ffee"
    dead.write_text("half a fi")
    with temporary_folder(str(tmp_path / "x")) as half:
        os.rename(half, tmp_path / "moved")
    dead_folder = tmp_path / os.path.basename(half)
    dead_folder.mkdir()
    (dead_folder / "indptr.npy").write_text("")
    theirs = [".graphclust-notes", ".graphclust.toml", ".graphclust-00c0ffee.bak"]
    for name in theirs:
        (tmp_path / name).write_text("")
    (tmp_path / ".graphclust-deadbeef").symlink_to(tmp_path / theirs[0])
    with temporary_file(str(tmp_path)) as (_, alive), temporary_folder(str(tmp_path / "s")) as alive_folder:
        WRITERS[writer](tmp_path)
        assert os.path.exists(alive) and os.path.exists(alive_folder)
    assert not dead.exists() and not dead_folder.exists()
    left = {name for name in os.listdir(tmp_path) if name.startswith(".")}
    assert left == {*theirs, ".graphclust-deadbeef"}


def test_two_writers_of_one_file_side_by_side(tmp_path):
    name = tmp_path / "l.tsv"
    with whole_file(name, overwrite=True) as one, whole_file(name, overwrite=True) as other:
        one.write(b"one")
        other.write(b"other")
    assert name.read_text() == "one" and os.listdir(tmp_path) == ["l.tsv"]


def test_ctrl_c_leaves_no_temporary_at_any_call(tmp_path, monkeypatch):
    for call in ("open", "fsync", "replace", "fdopen"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
            refuses(KeyboardInterrupt, None, gc.write_labels, tmp_path / "l.json", np.zeros(3, int))
        assert os.listdir(tmp_path) == [], call


def test_ctrl_c_of_a_conversion_that_has_only_begun_leaves_nothing(tmp_path):
    (tmp_path / "g.txt").write_text("0 1\n1 2\n")
    for stage in ("reading", "sorting into buckets", "writing the rows"):

        def stop(now, done, total):
            if now == stage:  # noqa: B023
                raise KeyboardInterrupt

        refuses(KeyboardInterrupt, None, gc.convert_to_store, tmp_path / "g.txt", tmp_path / "g", progress=stop)
        assert os.listdir(tmp_path) == ["g.txt"], stage


def partial_of(target, names=("lock", "lines", "state.json")):
    folder = name_of_partial(str(target))
    os.mkdir(folder, 0o755)
    for name in names:
        with open(os.path.join(folder, name), "w"):
            pass
    return folder


def test_parts_of_a_killed_conversion_go_with_the_next_write_to_its_target(tmp_path):
    for target in ("g", "other"):
        partial_of(tmp_path / target)
    gc.save_store(tmp_path / "g", NEW)
    assert sorted(os.listdir(tmp_path)) == ["g", "other.partial"]


def test_parts_of_a_living_conversion_and_folders_of_others_stay(tmp_path):
    folder = partial_of(tmp_path / "g")
    with open(os.path.join(folder, "lock"), "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        gc.save_store(tmp_path / "g", NEW)
    assert len(os.listdir(folder)) == 3
    gc.save_graph(tmp_path / "h.txt", NEW)
    theirs = partial_of(tmp_path / "h", ["thesis.tex"])
    gc.save_store(tmp_path / "h", NEW)
    assert os.listdir(theirs) == ["thesis.tex"]


def test_a_conversion_that_died_after_the_exchange_does_not_go_on_with_the_old_store(tmp_path, monkeypatch, steps):
    for name, graph in (("old", OLD), ("new", NEW)):
        gc.save_graph(tmp_path / f"{name}.txt", graph)
    gc.convert_to_store(tmp_path / "old.txt", tmp_path / "g")
    for module in ("store.convert", "atomic_write"):
        monkeypatch.setattr(f"graphclust.io.{module}.forget", lambda _: None)
    gc.convert_to_store(tmp_path / "new.txt", tmp_path / "g", overwrite=True)
    partial = tmp_path / "g.partial"
    assert (partial / "state.json").exists()
    gc.save_store(partial / "store", OLD)  # half removed, or whole
    os.remove(partial / "store" / "degrees.npy")
    monkeypatch.undo()
    assert gc.convert_to_store(tmp_path / "new.txt", tmp_path / "g", overwrite=True).n_nodes == 9
    assert same_csr(gc.open_store(tmp_path / "g"), gc.as_graph(NEW)) and not partial.exists()


@pytest.mark.parametrize("length", [233, 234, 247, 248, 255])
def test_names_as_long_as_the_file_system_allows(tmp_path, length, steps):
    name = tmp_path / ("s" * length)
    for graph in (OLD, NEW):
        assert gc.save_store(name, graph, overwrite=True).n_nodes == len(graph)
    gc.save_graph(tmp_path / "g.txt", OLD)
    assert gc.convert_to_store(tmp_path / "g.txt", name, overwrite=True).n_nodes == 5
    table, matrix = tmp_path / ("l" * (length - 4) + ".tsv"), tmp_path / ("m" * (length - 4) + ".mtx")
    gc.write_labels(table, np.zeros(3, int))
    gc.save_graph(matrix, NEW)
    assert sorted(os.listdir(tmp_path)) == sorted(["g.txt", name.name, table.name, matrix.name])


def test_a_link_in_the_place_of_the_lock_is_refused_and_not_followed(tmp_path):
    (tmp_path / "g.txt").write_text("0 1\n")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for planted in ("lock", "lines", "state.json", "store"):
        folder = tmp_path / "g.partial"
        folder.mkdir()
        (folder / planted).symlink_to(victim)
        with pytest.raises(gc.ParameterError, match=r"g\.partial, .* holds a link"):
            gc.convert_to_store(tmp_path / "g.txt", tmp_path / "g")
        assert victim.read_text() == "precious" and os.listdir(folder) == [planted]
        (folder / planted).unlink()
        folder.rmdir()


def test_a_folder_of_parts_that_others_have_made_or_can_fill_is_refused(tmp_path, monkeypatch):
    (tmp_path / "g.txt").write_text("0 1\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("")
    partial = tmp_path / "g.partial"
    partial.symlink_to(elsewhere)
    refuses(gc.ParameterError, "is not a folder", gc.convert_to_store, tmp_path / "g.txt", tmp_path / "g")
    partial.unlink()
    partial.mkdir()
    partial.chmod(0o777)
    with pytest.raises(gc.ParameterError, match="can be written to by other users"):
        gc.convert_to_store(tmp_path / "g.txt", tmp_path / "g")
    partial.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: os.stat(partial).st_uid + 1)
        refuses(gc.ParameterError, "belongs to another user", gc.convert_to_store, tmp_path / "g.txt", tmp_path / "g")
    assert os.listdir(elsewhere) == ["precious"] and os.listdir(partial) == []
    assert gc.convert_to_store(tmp_path / "g.txt", tmp_path / "g").n_edges == 1 and not partial.exists()


def test_the_parts_are_for_their_owner_alone(tmp_path):
    (tmp_path / "g.txt").write_text("0 1\n")
    modes = set()
    gc.convert_to_store(
        tmp_path / "g.txt", tmp_path / "g", progress=lambda *_: modes.add(os.stat(tmp_path / "g.partial").st_mode)
    )
    assert {mode & 0o777 for mode in modes} == {0o700}
    assert os.stat(tmp_path / "g").st_mode & 0o500 == 0o500
