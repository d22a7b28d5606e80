"""Install commands for hints, as the running program was set up."""

import importlib.util
import sys

DISTRIBUTION = "palimpsest-shell"


def install_command(requirement: str) -> str:
    """A line for the shell. The environment that run.py makes holds no pip: the caller's own fills it."""
    if importlib.util.find_spec("pip") is not None:
        return f'"{sys.executable}" -m pip install "{requirement}"'
    return f'python3 -m pip --python "{sys.executable}" install "{requirement}"'


def missing_extra(extra: str, module: str) -> str:
    """The command that installs one of our own extras where its module is missing; else ""."""
    return "" if importlib.util.find_spec(module) is not None else install_extra(extra)


def install_extra(extra: str) -> str:
    """The command that installs one of our own extras."""
    return install_command(f"{DISTRIBUTION}[{extra}]")
