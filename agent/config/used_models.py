"""Stores the models that the user used: the default for the next start, rejected tools, learned windows, probe results.

The store is `models.json` in the user's configuration folder, never in a workspace: a workspace from elsewhere must not
choose where text is sent.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from foundation.clock import Clock, SystemClock, from_ms, to_ms
from foundation.errors import PalimpsestError
from foundation.files import FileLock, LockTimeout, make_private_folder, read_bytes, resolve_path, write_atomically
from foundation.paths import config_dir
from foundation.typed_json import decode_json
from models.chat.spec import parse_spec
from models.settings import ModelSettings, ProfileOverride, ToolWay

MOST_KEPT: Final = 30
WINDOW_FOR: Final = timedelta(
    days=30
)  # a learned window expires, because the server may have been restarted with another
IN_TEXT_FOR: Final = timedelta(days=30)  # after that, tools are offered natively again
GROWTH: Final = 1.25  # a prompt longer by this factor replaces the longest
_LOCK_SECONDS: Final = 2.0


class UsedModel(Struct, frozen=True):
    """One model. Times are milliseconds since 1970; 0 means never.

    `in_text`: when the server last rejected tools. `window`: the tokens that the server stated when it rejected a
    request as too long, at `window_told`. `longest`: about the longest prompt that the server accepted, in tokens of
    its own count, at `longest_told`. Windows and prompts belong to the server at `address`.
    """

    spec: str
    in_text: int = 0
    window: int = 0
    window_told: int = 0
    longest: int = 0
    longest_told: int = 0
    address: str = ""


class ProbeVerdict(Struct, frozen=True, kw_only=True):
    """Result of a probe. `is_plain`: the model answers a greeting in prose. `system`: it reads the system message.
    `repeats`: it repeats itself."""

    tools: ToolWay
    is_plain: bool = True
    system: bool = True
    repeats: bool = False

    @property
    def text(self) -> str:
        """The verdict in a sentence."""
        ways = {"native": "calls tools natively", "text": "calls tools in text"}
        parts = [
            ways.get(self.tools, "calls no tools"),
            "answers a greeting with plain text" if self.is_plain else "answers a greeting with JSON or tags",
            "reads the system message" if self.system else "ignores the system message",
            *(["repeats itself"] if self.repeats else []),
        ]
        return f"Tested: it {', '.join(parts)}."


class LearnedWindow(Struct, frozen=True):
    """A window that a model's server stated, in tokens, and when."""

    tokens: int
    time: datetime


class _Store(Struct, frozen=True):
    default: str = ""  # the last chosen spec
    models: tuple[UsedModel, ...] = ()  # the last used first
    warm_up_offered: bool = False
    verdicts: dict[str, ProbeVerdict] = {}  # by `Profile.known_as`, else by the spec
    schema: int = 1


class UsedModels:
    """Reads and writes the store; safe for concurrent processes. An unreadable store counts as empty; a failed write is
    ignored."""

    def __init__(self, folder: Path, clock: Clock | None = None) -> None:
        self.path = resolve_path(folder / "models.json")
        self._clock = clock or SystemClock()

    @classmethod
    def of(cls, environment: Mapping[str, str], clock: Clock | None = None) -> "UsedModels":
        return cls(config_dir(environment), clock)

    @property
    def default(self) -> str:
        """Returns the last chosen model; "" if none was chosen."""
        return self._read().default

    @property
    def specs(self) -> tuple[str, ...]:
        """Returns the models that answered or were chosen, newest first."""
        return tuple(model.spec for model in self._read().models)

    def calls_in_text(self, spec: str) -> bool:
        """Returns whether the model's server rejected tools within the last month."""
        since = next((model.in_text for model in self._read().models if model.spec == spec), 0)
        return bool(since) and self._clock.now() - from_ms(since) < IN_TEXT_FOR

    def window(self, spec: str, address: str) -> LearnedWindow | None:
        """Returns the window that the server at this address stated within the last month, or None."""
        known = _known(self._read(), spec)
        if not known.window or known.address != address or not self._is_recent(known.window_told):
            return None
        return LearnedWindow(known.window, from_ms(known.window_told))

    def learn_window(self, spec: str, address: str, window: int) -> bool:
        """Stores the window that the server stated in an error. Returns whether it was stored.

        A window is not stored if the server accepted a longer prompt within the last month: the error is then wrong.
        """
        kept: list[bool] = []

        def change(store: _Store) -> _Store:
            known = _at(_known(store, spec), address)
            kept.append(window >= known.longest or not self._is_recent(known.longest_told))
            if not kept[-1]:
                return store
            return _first(store, replace(known, window=window, window_told=to_ms(self._clock.now())))

        self._change(change)
        return bool(kept) and kept[-1]

    def accepted(self, spec: str, address: str, tokens: int) -> None:
        """Stores that the server accepted a prompt of so many tokens. Deletes a smaller learned window."""
        now = to_ms(self._clock.now())

        def change(store: _Store) -> _Store:
            known = _at(_known(store, spec), address)
            if known.window and tokens > known.window:
                known = replace(known, window=0, window_told=0)
            if tokens > GROWTH * known.longest or not self._is_recent(known.longest_told):
                known = replace(known, longest=tokens, longest_told=now)
            return store if known == _known(store, spec) else _first(store, known)

        self._change(change)

    def forget_window(self, spec: str) -> None:
        """Deletes the learned window."""

        def change(store: _Store) -> _Store:
            known = _known(store, spec)
            return _first(store, replace(known, window=0, window_told=0)) if known.window else store

        self._change(change)

    def chose(self, spec: str) -> None:
        """Makes the model the default. Resets its learned window and how it is offered tools."""

        def change(store: _Store) -> _Store:
            known = replace(_known(store, spec), in_text=0, window=0, window_told=0)
            return replace(_first(store, known), default=spec)

        self._change(change)

    def answered(self, spec: str, *, refused_tools: bool = False) -> None:
        """Stores that the model answered. `refused_tools`: its server rejected tools before."""

        def change(store: _Store) -> _Store:
            known = _known(store, spec)
            return _first(store, replace(known, in_text=to_ms(self._clock.now())) if refused_tools else known)

        self._change(change)

    def learn_verdict(self, known_as: str, verdict: ProbeVerdict) -> None:
        """Stores the verdict of a probe under the server's name of the model."""

        def change(store: _Store) -> _Store:
            verdicts = {known_as: verdict, **{name: old for name, old in store.verdicts.items() if name != known_as}}
            return replace(store, verdicts=dict(islice(verdicts.items(), MOST_KEPT)))

        self._change(change)

    @property
    def verdicts(self) -> dict[str, ProbeVerdict]:
        """Returns the verdicts of probes by the server's name of the model, else by the spec."""
        return self._read().verdicts

    def with_verdicts(self, settings: ModelSettings) -> ModelSettings:
        """Adds the verdicts of probes to the settings. A profile that the user set takes precedence."""
        is_open = settings.tools is None and settings.tool_calls == "auto"
        found = {
            name: ProfileOverride(tools=verdict.tools if is_open else None, system=None if verdict.system else False)
            for name, verdict in self._read().verdicts.items()
            if name not in settings.profiles
        }
        return replace(settings, profiles=settings.profiles | found) if found else settings

    def offer_warm_up(self) -> bool:
        """Records the offer of the warm-up. Returns True the first time."""
        was_offered = self._read().warm_up_offered
        self._change(lambda store: replace(store, warm_up_offered=True))
        return not was_offered

    def _is_recent(self, ms: int) -> bool:
        return self._clock.now() - from_ms(ms) < WINDOW_FOR

    def _read(self) -> _Store:
        try:
            store = decode_json(read_bytes(self.path, owned=True), _Store)
        except (OSError, msgspec.DecodeError):
            return _Store()
        valid = tuple(model for model in store.models if _is_spec(model.spec))
        return replace(store, models=valid, default=store.default if _is_spec(store.default) else "")

    def _change(self, change: Callable[[_Store], _Store]) -> None:
        with suppress(OSError, LockTimeout):  # losing this store costs a convenience, no data
            make_private_folder(self.path.parent)
            with FileLock(self.path.with_name("models.lock"), timeout=_LOCK_SECONDS):
                before = self._read()
                after = change(before)
                if after != before:
                    write_atomically(self.path, msgspec.json.encode(after))


def _known(store: _Store, spec: str) -> UsedModel:
    return next((model for model in store.models if model.spec == spec), UsedModel(spec))


def _at(model: UsedModel, address: str) -> UsedModel:
    """Returns the model without figures of another address."""
    if model.address == address:
        return model
    return replace(model, address=address, window=0, window_told=0, longest=0, longest_told=0)


def _first(store: _Store, model: UsedModel) -> _Store:
    others = [other for other in store.models if other.spec != model.spec]
    return replace(store, models=(model, *others)[:MOST_KEPT])


def _is_spec(text: str) -> bool:
    try:
        return bool(text) and str(parse_spec(text)) == text
    except PalimpsestError:
        return False
