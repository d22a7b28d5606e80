"""The folder of the project, for tests that run programs in it or read files of it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
