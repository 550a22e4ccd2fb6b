"""A process that dies at a chosen call of the file system: any moment of its work, however fast the machine is."""

import os
import signal
import sys

CALLS = {
    "open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.listdir", "os.scandir",
    "fcntl.flock", "mmap.__new__", "shutil.rmtree", "os.link",
}  # fmt: skip


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
