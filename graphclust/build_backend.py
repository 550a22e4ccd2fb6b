"""The build of this package: setuptools', and of wheels for one platform that carry compiled loops.

    GRAPHCLUST_WHEEL_LOOPS=1 python -m build --wheel

Loops are compiled for this processor, or for NUMBA_CPU_NAME (generic: any of its kind). Where the wheel is installed
with another version of Python or of numba they are not used, and loops are compiled as ever.

pyproject.toml names this module as the build backend: functions that are not here are those of setuptools. When it is
imported none of the packages that graphclust needs is installed yet.
"""

from __future__ import annotations

import os
import pathlib
import platform
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from typing import Any

Settings = dict[str, Any] | None


def __getattr__(name: str) -> Any:
    from setuptools import build_meta

    return getattr(build_meta, name)


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Build a source archive that holds what .ci/MANIFEST.in lists, so that its tests run; returns its file name."""
    from setuptools import build_meta
    from setuptools.command.egg_info import manifest_maker

    manifest_maker.template = str(pathlib.Path(".ci", "MANIFEST.in"))
    return build_meta.build_sdist(sdist_directory, config_settings)


def is_asked_for() -> bool:
    """Whether the environment asks for compiled loops."""
    return os.environ.get("GRAPHCLUST_WHEEL_LOOPS", "") not in ("", "0")


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """What has to be installed for the build, in its folder: for compiling, all that the package needs."""
    from setuptools import build_meta

    needed = list(build_meta.get_requires_for_build_wheel(config_settings))
    if is_asked_for():
        needed += ["wheel", *tomllib.loads(pathlib.Path("pyproject.toml").read_text())["project"]["dependencies"]]
    return needed


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build a wheel, with compiled loops where they are asked for; returns its file name."""
    from setuptools import build_meta

    if not is_asked_for():
        return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    with tempfile.TemporaryDirectory() as folder:
        plain = build_meta.build_wheel(folder, config_settings, metadata_directory)
        return add_loops(pathlib.Path(folder, plain), wheel_directory)


def add_loops(wheel: pathlib.Path, directory: str) -> str:
    """Compile loops into a wheel, which is then for this platform and version of Python; returns its file name."""
    _run("-m", "wheel", "unpack", str(wheel), "--dest", str(wheel.parent))
    root = next(path for path in wheel.parent.iterdir() if path.is_dir())
    _run("-m", "graphclust", "compile", "--into", str(root / "graphclust/compiled/cache"), package=root)
    facts = next(root.glob("*.dist-info/WHEEL"))
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    text = facts.read_text().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
    facts.write_text(text.replace("Tag: py3-none-any", f"Tag: {python}-{python}-{platform_tag()}"))
    before = set(pathlib.Path(directory).glob("*.whl"))
    _run("-m", "wheel", "pack", str(root), "--dest-dir", directory)
    return (set(pathlib.Path(directory).glob("*.whl")) - before).pop().name


def platform_tag() -> str:
    """The platform as the tag of a wheel says it.

    Loops are linked by numba when they are loaded, to no version of glibc: where it has a wheel ours works, and its
    wheels for Linux are for glibc 2.27 and later.
    """
    name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return name.replace("linux_", "manylinux_2_27_") if platform.libc_ver()[0] == "glibc" else name


def _run(*arguments: str, package: pathlib.Path | None = None) -> None:
    """Run Python, with the package of a folder in place of any other."""
    inherited = {name: value for name, value in os.environ.items() if name != "GRAPHCLUST_LOOPS"}
    own = {} if package is None else {"PYTHONPATH": str(package)}
    subprocess.run([sys.executable, *arguments], env=inherited | own, cwd=package, check=True)
