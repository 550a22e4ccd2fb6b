"""What a wheel for one platform needs, which carries compiled loops; the package itself is described in pyproject.toml.

    GRAPHCLUST_WHEEL_LOOPS=1 python -m build --wheel

Loops are compiled for this processor, or for NUMBA_CPU_NAME (generic: any of its kind). Where the wheel is installed
with another version of Python or of numba they are not used, and loops are compiled as ever.
"""

import os
import pathlib
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

WITH_LOOPS = os.environ.get("GRAPHCLUST_WHEEL_LOOPS", "") not in ("", "0")


class BuildWithLoops(build_py):
    """Copies the package, and compiles its loops into the copy."""

    def run(self) -> None:
        super().run()
        root = pathlib.Path(self.build_lib).resolve()
        inherited = {name: value for name, value in os.environ.items() if name != "GRAPHCLUST_LOOPS"}
        command = [sys.executable, "-m", "graphclust", "compile", "--into", str(root / "graphclust/compiled/cache")]
        subprocess.run(command, env=inherited | {"PYTHONPATH": str(root)}, cwd=root, check=True)


class PlatformDistribution(Distribution):
    """A package with files for one platform and version of Python."""

    def has_ext_modules(self) -> bool:
        return True


if WITH_LOOPS:
    import tomllib

    needed = tomllib.loads(pathlib.Path(__file__).with_name("pyproject.toml").read_text())["project"]["dependencies"]
    setup(cmdclass={"build_py": BuildWithLoops}, distclass=PlatformDistribution, setup_requires=needed)
else:
    setup()
