"""A large download beside curl's, and the second load of a graph beside the bare reading of its arrays.

    python bench_download.py [megabytes, 1000 by default] [million edges, 5 by default]

A server on this machine sends a file as fast as the kernel copies it. curl and the package's downloader fetch it in
turn to the same folder, each five times, in processes of their own; the median counts. "graphclust" is all that
`download` does: receive, digest (SHA-256), check, record and rename. CPU seconds are those of the fetching process, and
hang less on what else the machine does. Memory is the peak of the process, and what the download added to that.
"""

import contextlib
import http.server
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
from tables import write_table

REPEATS = 5
PATH = "/MM/Newman/karate.tar.gz"


def serving(folder: str) -> None:
    """Send the files of a folder until stdin is closed."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with open(folder + self.path, "rb") as file:
                n_bytes = os.fstat(file.fileno()).st_size
                self.send_response(200)
                self.send_header("Content-Length", str(n_bytes))
                self.send_header("ETag", '"one"')
                self.end_headers()
                self.wfile.flush()
                sent = 0
                with contextlib.suppress(ConnectionError):
                    while sent < n_bytes:
                        sent += os.sendfile(self.connection.fileno(), file.fileno(), sent, 1 << 24)

        def log_message(self, *_) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


def fetching(url: str, target: str) -> None:
    """Download once, and print seconds, peak of memory, and what was added to it."""
    import requests  # noqa: F401 - its import is not what is measured

    from graphclust.datasets.download import download
    from graphclust.datasets.urls import Address
    from graphclust.progress import Progress

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, cpu_start = time.perf_counter(), time.process_time()
    download(Address(url), pathlib.Path(target), 1 << 40, Progress())
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([seconds, cpu_seconds, peak / 1024, (peak - before) / 1024]))


def loading() -> None:
    """Fetch twice by name, then read the bare arrays; print the seconds of each."""
    from graphclust import fetch_suitesparse
    from graphclust.datasets import cache_folder
    from graphclust.datasets.array_cache import read_kept_graph

    seconds = []
    start = time.perf_counter()
    fetch_suitesparse("Newman/karate")
    seconds.append(time.perf_counter() - start)
    (converted,) = cache_folder().rglob("*.npz")
    read_kept_graph(converted)  # compiles
    for read in (lambda: fetch_suitesparse("Newman/karate"), lambda: dict(np.load(converted))):
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            read()
            times.append(time.perf_counter() - start)
        seconds.append(statistics.median(times))
    print(json.dumps([*seconds, converted.stat().st_size]))


def in_a_process(*arguments: str, **environment: str) -> list[float]:
    command = [sys.executable, __file__, *arguments]
    environment = {**os.environ, **environment}
    return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def curl(url: str, target: str) -> list[float]:
    """Seconds, and CPU seconds."""
    command = ["curl", "--silent", "--fail", "--output", target, "--write-out", "%{time_total}", url]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return [seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime]


def write_large_file(file: pathlib.Path, n_megabytes: int) -> None:
    block = np.random.default_rng(518).bytes(1_000_000)
    with file.open("wb") as target:
        target.write(b"\x1f\x8b")
        for _ in range(n_megabytes):
            target.write(block)


def write_archive(file: pathlib.Path, n_edges: int) -> None:
    """A random graph as the collection would pack it."""
    rng = np.random.default_rng(2209)
    n = n_edges // 10
    low = np.sort(rng.integers(1, n, n_edges))
    high = low + rng.integers(1, 1000, n_edges)
    keys = np.unique(low * (1 << 32) + high)
    low, high = keys >> 32, keys & 0xFFFFFFFF
    folder = file.parent / "karate"
    folder.mkdir()
    with (folder / "karate.mtx").open("w") as matrix:
        matrix.write(f"%%MatrixMarket matrix coordinate pattern symmetric\n{n + 1000} {n + 1000} {len(keys)}\n")
        for start in range(0, len(keys), 1 << 18):
            rows = zip(high[start : start + (1 << 18)].tolist(), low[start : start + (1 << 18)].tolist(), strict=True)
            matrix.write("".join(f"{v} {u}\n" for v, u in rows))
    subprocess.run(["tar", "-I", "gzip -1", "-cf", str(file), "-C", str(file.parent), "karate"], check=True)
    shutil.rmtree(folder)


def main(n_megabytes: int, n_million_edges: int) -> None:
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        archive = folder / PATH[1:]
        archive.parent.mkdir(parents=True)
        write_large_file(folder / "large.gz", n_megabytes)
        write_archive(archive, n_million_edges * 1_000_000)
        server = subprocess.Popen(
            [sys.executable, __file__, "serve", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        site = f"http://127.0.0.1:{int(server.stdout.readline())}"
        curls, ours = [], []
        for _ in range(REPEATS):
            curls.append(curl(f"{site}/large.gz", f"{name}/by_curl"))
            ours.append(in_a_process("fetch", f"{site}/large.gz", f"{name}/ours.gz"))
            for file in ("by_curl", "ours.gz", "ours.gz.json"):
                (folder / file).unlink()
        loads = in_a_process("load", GRAPHCLUST_MIRROR=site, GRAPHCLUST_CACHE=f"{name}/cache")
        server.stdin.close()
        server.wait()
    by_curl, by_us = np.median(curls, axis=0), np.median(ours, axis=0)
    size = f"{n_megabytes:,} MB"
    rate = f"{loads[3] / loads[2] / 1e6:.0f} MB/s"
    rows = [
        [f"{size} by curl", f"{by_curl[0]:.2f}", f"{by_curl[1]:.2f}", f"{n_megabytes / by_curl[0]:.0f} MB/s", ""],
        [
            f"{size} by graphclust", f"{by_us[0]:.2f}", f"{by_us[1]:.2f}", f"{n_megabytes / by_us[0]:.0f} MB/s",
            f"{by_us[2]:.0f} MiB, {by_us[3]:.1f} of it added",
        ],
        [f"{n_million_edges} M edges, first time by name", f"{loads[0]:.2f}", "", "", ""],
        [f"{n_million_edges} M edges, second time", f"{loads[1]:.2f}", "", f"{loads[3] / loads[1] / 1e6:.0f} MB/s", ""],
        [f"{n_million_edges} M edges, numpy.load of the arrays", f"{loads[2]:.2f}", "", rate, ""],
    ]  # fmt: skip
    columns = ["what", "seconds", "CPU seconds", "rate", "memory"]
    note = (
        f"Ratio of the rates: {by_curl[0] / by_us[0]:.2f}; load of the machine before: {load:.1f} of {os.cpu_count()}."
    )
    write_table("download", "Downloads from a server on the same machine, and graphs by name", columns, rows, note)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serving(sys.argv[2])
    elif sys.argv[1:2] == ["fetch"]:
        fetching(*sys.argv[2:])
    elif sys.argv[1:2] == ["load"]:
        loading()
    else:
        main(int((*sys.argv[1:], "1000")[0]), int((*sys.argv[2:], "5")[0]))
