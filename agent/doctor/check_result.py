"""What the doctor says of one thing."""

from msgspec import Struct


class CheckResult(Struct, frozen=True):
    """One thing looked at. `state` is ok, missing (fine to be without), or wrong."""

    topic: str
    state: str
    sentence: str
    hint: str = ""
