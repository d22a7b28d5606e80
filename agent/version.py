"""The version that is installed."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version

from foundation.install_hints import DISTRIBUTION


def version() -> str:
    """`0.2.0`, or `unknown` where the program runs without being installed."""
    try:
        return installed_version(DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"
