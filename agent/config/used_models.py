"""The models that the person used: the default for the next start, those that take no tools, windows that were learned.

Kept as `models.json` in the user's configuration folder, never in a workspace: a folder from elsewhere must not choose
where text is sent.
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
WINDOW_FOR: Final = timedelta(days=30)  # until the window that a server told is forgotten: it may have another now
IN_TEXT_FOR: Final = timedelta(days=30)  # until tools are offered natively again
GROWTH: Final = 1.25  # how much longer a prompt must be for the longest to be written again
_LOCK_SECONDS: Final = 2.0


class UsedModel(Struct, frozen=True):
    """`in_text` is when the server last rejected tools, in milliseconds since 1970; 0 where it takes them.

    `window` in tokens is what it named when it rejected a request as too long, and `window_told` when; 0 for never.
    `longest` is the longest prompt that it accepted, by its own count, about, and `longest_told` when. These are of the
    server at `address`.
    """

    spec: str
    in_text: int = 0
    window: int = 0
    window_told: int = 0
    longest: int = 0
    longest_told: int = 0
    address: str = ""


class ProbeVerdict(Struct, frozen=True, kw_only=True):
    """What a probe found: how tools are called (native, text or none), whether the model answers a greeting plainly,
    reads the system message and repeats itself."""

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
            "answers a greeting plainly" if self.is_plain else "answers a greeting with JSON or tags",
            "reads the system message" if self.system else "ignores the system message",
            *(["repeats itself"] if self.repeats else []),
        ]
        return f"Probed: it {', '.join(parts)}."


class LearnedWindow(Struct, frozen=True):
    """A model's window in tokens that its server named, and when."""

    tokens: int
    time: datetime


class _Store(Struct, frozen=True):
    default: str = ""  # the spec that was chosen last
    models: tuple[UsedModel, ...] = ()  # the last used first
    warm_up_offered: bool = False
    verdicts: dict[str, ProbeVerdict] = {}  # by the name of the model's file as its server has it, else by its spec
    schema: int = 1


class UsedModels:
    """The store. Safe for concurrent processes; one that cannot be read is empty, one that cannot be written stays."""

    def __init__(self, folder: Path, clock: Clock | None = None) -> None:
        self.path = resolve_path(folder / "models.json")
        self._clock = clock or SystemClock()

    @classmethod
    def of(cls, environment: Mapping[str, str], clock: Clock | None = None) -> "UsedModels":
        return cls(config_dir(environment), clock)

    @property
    def default(self) -> str:
        """The model that was chosen last; "" where none was."""
        return self._read().default

    @property
    def specs(self) -> tuple[str, ...]:
        """The models that answered or were chosen, the last first."""
        return tuple(model.spec for model in self._read().models)

    def calls_in_text(self, spec: str) -> bool:
        """Whether the model's server rejected tools within the last month."""
        since = next((model.in_text for model in self._read().models if model.spec == spec), 0)
        return bool(since) and self._clock.now() - from_ms(since) < IN_TEXT_FOR

    def window(self, spec: str, address: str) -> LearnedWindow | None:
        """The window that the model's server at this address named within the last month; None where it named none."""
        known = _known(self._read(), spec)
        if not known.window or known.address != address or not self._is_recent(known.window_told):
            return None
        return LearnedWindow(known.window, from_ms(known.window_told))

    def learn_window(self, spec: str, address: str, window: int) -> bool:
        """The model's server named its window by rejecting a request. False, and nothing is kept, where it accepted a
        longer prompt within the last month: an error that names a wrong figure must not hold for later sessions."""
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
        """The model's server accepted a prompt of so many tokens by its own count: a smaller window is forgotten."""
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
        """The window that the model's server named holds no longer."""

        def change(store: _Store) -> _Store:
            known = _known(store, spec)
            return _first(store, replace(known, window=0, window_told=0)) if known.window else store

        self._change(change)

    def chose(self, spec: str) -> None:
        """The model is the default from now on, gets tools natively again, and its learned window is forgotten."""

        def change(store: _Store) -> _Store:
            known = replace(_known(store, spec), in_text=0, window=0, window_told=0)
            return replace(_first(store, known), default=spec)

        self._change(change)

    def answered(self, spec: str, *, refused_tools: bool = False) -> None:
        """The model answered; `refused_tools`: its server rejected tools on the way."""

        def change(store: _Store) -> _Store:
            known = _known(store, spec)
            return _first(store, replace(known, in_text=to_ms(self._clock.now())) if refused_tools else known)

        self._change(change)

    def learn_verdict(self, known_as: str, verdict: ProbeVerdict) -> None:
        """Keeps what a probe found, for the model that its server knows as this."""

        def change(store: _Store) -> _Store:
            verdicts = {known_as: verdict, **{name: old for name, old in store.verdicts.items() if name != known_as}}
            return replace(store, verdicts=dict(islice(verdicts.items(), MOST_KEPT)))

        self._change(change)

    @property
    def verdicts(self) -> dict[str, ProbeVerdict]:
        """What probes found, by the name of a model's file as its server has it, else by the model's spec."""
        return self._read().verdicts

    def with_verdicts(self, settings: ModelSettings) -> ModelSettings:
        """The settings with what probes found, behind what the user set for the same model."""
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
        with suppress(OSError, LockTimeout):  # what is remembered here is a convenience: nothing fails for want of it
            make_private_folder(self.path.parent)
            with FileLock(self.path.with_name("models.lock"), timeout=_LOCK_SECONDS):
                before = self._read()
                after = change(before)
                if after != before:
                    write_atomically(self.path, msgspec.json.encode(after))


def _known(store: _Store, spec: str) -> UsedModel:
    return next((model for model in store.models if model.spec == spec), UsedModel(spec))


def _at(model: UsedModel, address: str) -> UsedModel:
    """The model with the figures of this address alone."""
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
