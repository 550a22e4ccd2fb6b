"""Downloads from a server that fails in every way: what arrives is the file, or an error and nothing of its name."""

import gzip
import io
import os
import random
import time
import traceback

import http_faults as faults
import pytest
from cases import refuses

from graphclust import DownloadError, IntegrityError, ParameterError, ResourceLimitError
from graphclust.datasets import download as downloads
from graphclust.datasets.cache import read_record, sha256_of
from graphclust.datasets.download import Address, Patience, address_of, download
from graphclust.progress import Progress

CONTENT = faults.archive("x", random.Random(518).randbytes(2_700_000).hex())
PATH = "/MM/HB/x.tar.gz"


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """patience(...): how long downloads wait from now on."""

    def wait(*patience):
        monkeypatch.setattr(downloads, "PATIENCE", Patience(*patience))

    wait(0.5, 3, 0.002)
    return wait


@pytest.fixture
def server():
    with faults.running() as server:
        server.files[PATH] = CONTENT
        yield server


@pytest.fixture
def get(server, tmp_path):
    """get(*answers, **options): the record, from a server that answers so, in order."""

    def fetch(*answers, most_bytes=1 << 30, progress=None):
        server.answers[PATH] = list(answers) or [faults.serve]
        return download(Address(server.address + PATH), tmp_path / "x.tar.gz", most_bytes, progress or Progress())

    return fetch


def is_whole(folder) -> bool:
    """The file and its record, and nothing else."""
    file = folder / "x.tar.gz"
    assert sorted(os.listdir(folder)) == ["x.tar.gz", "x.tar.gz.json"]
    return file.read_bytes() == CONTENT and read_record(file).sha256 == sha256_of(file)


@pytest.mark.parametrize("code", [403, 404, 410])
def test_d01_a_refusal_is_final(get, server, tmp_path, code):
    with pytest.raises(DownloadError, match=f"{PATH}: HTTP status {code}") as raised:
        get(faults.status(code))
    assert len(server.log) == 1 and os.listdir(tmp_path) == []
    assert isinstance(raised.value, OSError) and str(tmp_path / "x.tar.gz") in str(raised.value)


def test_d02_errors_of_the_server_pass_but_not_for_ever(get, server, tmp_path):
    refuses(DownloadError, "HTTP status 500, after 3 attempts", get, faults.status(500))
    assert len(server.log) == 3 and os.listdir(tmp_path) == []
    get(faults.status(500), faults.status(503), faults.serve)
    assert len(server.log) == 6 and is_whole(tmp_path)


def test_pauses_double_up_to_a_minute_and_differ():
    patience = Patience(first_pause=1.0)
    for n_failures, least in ((1, 1), (2, 2), (5, 16), (50, 60)):
        pauses = {patience.pause(n_failures) for _ in range(20)}
        assert least <= min(pauses) and max(pauses) <= 1.5 * least and len(pauses) > 1


def test_d03_nobody_listens_and_no_such_host(tmp_path, patience):
    with faults.running() as server:
        gone = server.address
    with pytest.raises(DownloadError, match="Connection refused, after 3 attempts"):
        download(Address(gone + PATH), tmp_path / "x.tar.gz", 1 << 30, Progress())
    patience(1.0, 2, 0.001)
    with pytest.raises(DownloadError, match="after 2 attempts"):
        download(Address("http://no-host.invalid/x"), tmp_path / "x", 1, Progress())
    assert os.listdir(tmp_path) == []


def test_d04_connections_that_break_and_short_bodies_are_retried(get, server, tmp_path):
    refuses(IntegrityError, f"expected {len(CONTENT):,} bytes, got 1,000, after 3 attempts", get, faults.cut(1000))
    assert "x.tar.gz" not in os.listdir(tmp_path)
    get(faults.cut(1_000_000, reset=True), faults.cut(1000), faults.serve)
    assert is_whole(tmp_path) and len(server.log) == 6


@pytest.mark.parametrize("announced", [faults.longer, faults.unannounced(), faults.chunked])
def test_d05_only_the_announced_bytes_or_a_whole_archive(get, tmp_path, announced):
    get(announced)
    assert is_whole(tmp_path)


def test_d05_an_archive_cut_off_without_a_length_is_seen(get, server, tmp_path):
    get(faults.unannounced(1_500_000), faults.unannounced())
    assert is_whole(tmp_path)
    (tmp_path / "x.tar.gz").unlink()
    with pytest.raises(IntegrityError, match="broke off, and no length was announced, after 3 attempts"):
        get(faults.unannounced(1_500_000))
    assert os.listdir(tmp_path) == ["x.tar.gz.json"]


def test_d05_an_endless_stream_and_a_large_file(get, server, tmp_path):
    refuses(ResourceLimitError, "max_download_bytes=2000000", get, faults.endless, most_bytes=2_000_000)
    refuses(ResourceLimitError, f"{len(CONTENT):,} bytes would come", get, faults.serve, most_bytes=2_000_000)
    assert os.listdir(tmp_path) == [] and len(server.log) == 2


def test_a_disk_without_room_is_seen_before(get, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000})())
    refuses(ResourceLimitError, "the disk has 1,000 left", get)
    assert "x.tar.gz" not in os.listdir(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("answer", [faults.stall(0), faults.stall(70_000), faults.trickle])
def test_d06_a_server_that_stalls(get, tmp_path, patience, answer):
    start = time.monotonic()
    patience(0.3, 2, 0.001)
    with pytest.raises(DownloadError, match=r"no answer in time|only .* bytes came"):
        get(answer)
    assert time.monotonic() - start < 3.0 and "x.tar.gz" not in os.listdir(tmp_path)


def test_d07_a_page_instead_of_an_archive(get, server, tmp_path):
    refuses(IntegrityError, "not a gzip archive \\(starts with '<html'\\)", get, faults.page)
    assert len(server.log) == 1 and os.listdir(tmp_path) == []


def test_d08_other_bytes_than_on_record(get, server, tmp_path):
    first = get()
    file = tmp_path / "x.tar.gz"
    file.unlink()
    server.files[PATH] = other = gzip.compress(b"another file", mtime=0)
    with pytest.raises(IntegrityError) as raised:
        get()
    message = str(raised.value)
    file.write_bytes(other)
    assert first.sha256[:12] in message and sha256_of(file)[:12] in message and str(file) in message
    file.unlink()
    assert os.listdir(tmp_path) == ["x.tar.gz.json"] and read_record(file) == first


def test_d09_the_first_download_is_recorded(get, tmp_path):
    record = get()
    assert is_whole(tmp_path) and record == read_record(tmp_path / "x.tar.gz")
    assert (record.size, record.sha256) == (len(CONTENT), sha256_of(tmp_path / "x.tar.gz"))


def test_d10_redirections(get, server, tmp_path):
    def refused(*answers):
        server.log.clear()
        with pytest.raises(DownloadError) as raised:
            get(*answers)
        assert os.listdir(tmp_path) == []
        return str(raised.value)

    assert "circle" in refused(faults.redirect(PATH)) and len(server.log) == 6
    assert "another host" in refused(faults.redirect("http://example.invalid/x"))
    assert "another host" in refused(faults.redirect(f"http://127.0.0.1:{server.server_port + 1}/x"))
    assert "a file: address" in refused(faults.redirect("file:///etc/passwd"))
    assert "a ftp: address" in refused(faults.redirect("ftp://127.0.0.1/x"))
    assert "another host" in refused(faults.redirect(server.address.replace("//", "//user:secret@") + PATH))
    assert "not an address" in refused(faults.redirect("http://[/"))
    assert len(server.log) == 1
    server.files["/elsewhere"] = CONTENT
    get(faults.redirect("/elsewhere?x=1"))
    assert is_whole(tmp_path)


def test_bodies_of_redirections_and_of_errors_that_pass_are_never_read(get, server, tmp_path):
    def endless(code, **more):
        def answer(handler, content):
            handler.start(code, None, **more)
            faults.send_without_end(handler, content)
            server.files["too", "much"] = b""

        return answer

    server.files["/elsewhere"] = CONTENT
    get(endless(503), endless(302, Location="/elsewhere"))
    assert is_whole(tmp_path) and ("too", "much") not in server.files


def asked(monkeypatch, *redirections) -> list[tuple[str, str | None]]:
    """The addresses and logins that are asked for from now on; the answers are redirections, and then an error."""
    import requests
    from urllib3 import HTTPResponse

    log, left = [], [*redirections]

    def answer(_, request, **__):
        log.append((request.url, request.headers.get("Authorization")))
        if not left:
            raise requests.exceptions.SSLError("of https://user:secret@somewhere")
        answer = requests.Response()
        answer.request, answer.url, answer.status_code = request, request.url, 302
        answer.headers["Location"], answer.raw = left.pop(0), HTTPResponse(io.BytesIO(), preload_content=False)
        return answer

    monkeypatch.setattr("requests.adapters.HTTPAdapter.send", answer)
    return log


def test_d10_https_is_never_left_and_logins_stay_with_their_host(monkeypatch, tmp_path):
    log = asked(monkeypatch, "/b", "http://sparse-files.engr.tamu.edu/MM/a")
    with pytest.raises(DownloadError, match="certificate was not accepted") as raised:
        download(Address("https://sparse.tamu.edu/a", ("user", "secret")), tmp_path / "x", 1, Progress())
    files = "https://sparse-files.engr.tamu.edu/MM/a"
    assert [url for url, _ in log] == ["https://sparse.tamu.edu/a", "https://sparse.tamu.edu/b", files]
    assert [login is not None for _, login in log] == [True, True, False]
    assert "secret" not in str(raised.value) and os.listdir(tmp_path) == []
    asked(monkeypatch, "https://mirror.example/b", "http://mirror.example/c")
    with pytest.raises(
        DownloadError, match=r"mirror\.example/b redirects to http://mirror\.example, .* expected https"
    ):
        download(Address("http://mirror.example/a"), tmp_path / "x", 1, Progress())


def test_ctrl_c_leaves_nothing(get, tmp_path):
    def stop(stage, done, total):
        assert stage == "downloading" and done <= total == len(CONTENT)
        if done > 1_000_000:
            raise KeyboardInterrupt

    refuses(KeyboardInterrupt, None, get, progress=Progress(stop))
    assert os.listdir(tmp_path) == []


def test_a_full_disk_while_writing(get, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(downloads, "_blocks", full)
    refuses(OSError, r"No space left on device: .*x\.tar\.gz\.part", get)
    assert os.listdir(tmp_path) == []


def test_d21_logins_are_used_and_never_shown(server, tmp_path):
    mirror = server.address.replace("//", "//some:secret%21@")
    address = address_of("MM/HB/x.tar.gz", "suitesparse", mirror + "/")
    assert "secret" not in address.url and address.login == ("some", "secret!")
    download(address, tmp_path / "x.tar.gz", 1 << 30, Progress())
    assert server.log[0][1].startswith("Basic ")
    assert b"secret" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    for answer in (faults.status(404), faults.status(500), faults.cut(10), faults.page, faults.redirect("ftp://x")):
        server.answers[PATH] = [answer]
        with pytest.raises(DownloadError) as raised:
            download(address, tmp_path / "y.tar.gz", 1 << 30, Progress())
        assert "secret" not in "".join(traceback.format_exception(raised.value))


def test_d21_a_proxy_with_a_password_is_not_shown(tmp_path, monkeypatch, patience):
    patience(0.5, 1)
    monkeypatch.setenv("http_proxy", "http://some:secret@127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(DownloadError) as raised:
        download(Address("http://somewhere.invalid/x"), tmp_path / "x", 1, Progress())
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "mirror", ["secret", "ftp://secret/", "http://", "http://h/?token=secret", "http://h:x/secret"]
)
def test_impossible_mirrors_are_named_without_secrets(mirror):
    with pytest.raises(ParameterError, match="mirror is not an address") as raised:
        address_of("x", "suitesparse", mirror)
    assert "secret" not in str(raised.value)


def test_addresses_of_sites_and_mirrors(monkeypatch):
    monkeypatch.delenv("GRAPHCLUST_MIRROR", raising=False)
    assert address_of("MM/HB/x.tar.gz", "suitesparse").url == "https://sparse.tamu.edu/MM/HB/x.tar.gz"
    assert address_of("data/x", "snap").url == "https://snap.stanford.edu/data/x"
    monkeypatch.setenv("GRAPHCLUST_MIRROR", "https://[::1]:8000/copy/")
    assert address_of("data/x", "snap").url == "https://[::1]:8000/copy/data/x"
