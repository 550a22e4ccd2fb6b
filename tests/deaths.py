"""Forked processes that say what came of their work, and die at a chosen call of the file system, or when told to."""

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

CALLS = {
    "open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.listdir", "os.scandir",
    "fcntl.flock", "mmap.__new__", "shutil.rmtree", "os.link",
}  # fmt: skip
SECONDS = 60  # after which a child ends, unless its work sets another alarm


class Calls:
    """Counts the calls of this process from now on, and kills it before one of them; None for none."""

    def __init__(self, last: int | None):
        self.n, self.last = 0, last
        sys.addaudithook(self.count)

    def count(self, event: str, _: tuple) -> None:
        if event in CALLS:
            self.n += 1
            if self.n == self.last:
                os.kill(os.getpid(), signal.SIGKILL)


def start_child(work: Callable[[], Any]) -> tuple[int, int]:
    """A forked process that does the work, and where it will say what that returned."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        said, code = "", 0
        try:
            os.close(receive)
            signal.alarm(SECONDS)
            said = str(work())
        except MemoryError:
            said = "MemoryError"
        except BaseException:
            said, code = traceback.format_exc(), 1
        finally:
            with contextlib.suppress(BaseException), os.fdopen(send, "w") as pipe:
                pipe.write(said)
            os._exit(code)
    os.close(send)
    return child, receive


def answer_of(child: int, receive: int) -> tuple[int, str]:
    """The status of a child once it has ended, and what it said."""
    with os.fdopen(receive) as pipe:
        said = pipe.read()
    return os.waitpid(child, 0)[1], said


def in_a_child(work: Callable[[], Any], kill_after: float | None = None) -> tuple[int, str]:
    """The status of a forked process that does the work, and what it says; it may be killed meanwhile."""
    child, receive = start_child(work)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return answer_of(child, receive)
