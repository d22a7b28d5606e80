"""Models screen: what answers, what was found and used, keys, the embedder and costs; test, add and use a model."""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Protocol

from textual import work
from textual.binding import Binding, BindingType

from agent.commands.model_list import HOW_TO_GET_ONE
from agent.services.model_states import ANSWERS, NO_ANSWER, is_address
from agent.services.models_view import HOW_TO_SET_A_KEY
from foundation.errors import PalimpsestError
from foundation.figures import counted
from models.chat.service_keys import service_of
from models.chat.spec import DETECT_VARIABLE, parse_spec
from models.embed.open import NONE, parse_embedder
from tui.dialogs.confirm import ProposalScreen
from tui.dialogs.key import ask_key
from tui.dialogs.line import LineScreen, TypedLine
from tui.overview.list_screen import ListContents, ListRow, ListScreen
from tui.typed_app import app_of

if TYPE_CHECKING:
    from agent.services.model_check import ModelCheck
    from agent.services.models_view import ModelsView
    from agent.spending.report import Spent
    from models.chat.detect import DetectedModel
    from models.chat.port import Profile

_MODEL: Final = "model "  # before a spec, in the id of a row
_OFFLINE: Final = "offline"
NOT_LOOKED_FOR: Final = f"servers were not searched for: {DETECT_VARIABLE} is off"
_EXAMPLES: Final = (
    "A SPEC: ollama:qwen3:4b · llamacpp:default@http://10.0.0.5:8080/v1 · openai:qwen3@http://127.0.0.1:8000/v1",
    "An address lists the models of its server: http://127.0.0.1:8000/v1",
)
_EMBED_EXAMPLES: Final = (
    "ollama:nomic-embed-text · lmstudio:NAME · openai:NAME@ADDRESS · onnx:FOLDER · mlx:FOLDER · none",
    "Text from this workspace is sent to this address and nowhere else.",
)


class ModelsPort(Protocol):
    """What the screen needs of the session (agent.services.models_view)."""

    async def view(self) -> "ModelsView": ...

    def found(self) -> "AsyncGenerator[list[DetectedModel]]": ...

    async def states(self, specs: Sequence[str]) -> dict[str, str]: ...

    async def at(self, address: str) -> "list[DetectedModel]": ...

    def profile(self, spec: str) -> "Profile": ...

    def facts(self, profile: "Profile") -> str: ...

    def price_of_test(self, spec: str) -> str: ...

    async def test(self, spec: str) -> "ModelCheck": ...

    async def probe(self, spec: str) -> str: ...

    async def use_embedder(self, spec: str) -> str: ...

    @property
    def environment(self) -> Mapping[str, str]: ...


class ModelsScreen(ListScreen[str]):
    """Gives the spec of the model to use; None where none was chosen."""

    heading = "Models"
    keys: ClassVar[str] = "Enter use · t test · p probe · k key · a add · e embedder · r refresh · Esc back"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "test", "Send the model a short test request", id="models.test", show=False),
        Binding("p", "probe", "Find out how the model calls tools", id="models.probe", show=False),
        Binding("k", "key", "Store the key of the model's service", id="models.key", show=False),
        Binding("a", "add", "Add a model or an address", id="models.add", show=False),
        Binding("e", "embedder", "Choose the embedder, or none", id="models.embedder", show=False),
        Binding("r", "look", "Search for models again", id="models.look", show=False),
    ]

    def __init__(self, models: ModelsPort) -> None:
        super().__init__()
        self._models = models
        self._found: dict[str, DetectedModel] = {}  # by spec
        self._added: dict[str, Profile] = {}
        self._states: dict[str, str] = {}
        self._is_looking = True

    def on_mount(self) -> None:
        super().on_mount()
        self.call_after_refresh(self.action_look)

    async def read(self) -> ListContents:
        view = await self._models.view()
        own = view.current.spec
        about = f"{own} · {view.window_status}" if own != _OFFLINE else "offline: no language model"
        rows = [*self._in_use(view), *self._here(own, view), *self._by_key(view), *self._used(view, own)]
        if not self._is_looking and not self._found and ANSWERS not in self._states.values():
            rows += _how_to_get_one()
        rows += [*_embedder(view), *_costs(view), *_keys(view)]
        return ListContents(tuple(rows), about)

    def _in_use(self, view: "ModelsView") -> Iterator[ListRow]:
        yield ListRow(label="In use")
        own = view.current.spec
        state = ANSWERS if own in self._found else self._states.get(own, "")
        yield self._row(view.current, state if state == ANSWERS or state.startswith(NO_ANSWER) else "in use")
        if own != _OFFLINE:
            yield self._row(self._models.profile(_OFFLINE), "without a model")

    def _here(self, own: str, view: "ModelsView") -> Iterator[ListRow]:
        yield ListRow(label="Found on this machine" + (" · searching …" if self._is_looking else ""))
        for spec, model in self._found.items():
            if spec != own:
                yield self._row(model.profile, model.provider)
        if not view.is_looked_for:
            yield ListRow(label=NOT_LOOKED_FOR, id="none", detail=f"{NOT_LOOKED_FOR}. a adds an address.")
        elif not self._found and not self._is_looking:
            yield ListRow(
                label="no model server is running on its usual port",
                id="none",
                detail="Checked the usual ports of Ollama, LM Studio and llama.cpp. r checks again, a adds an "
                "address. Without a model, the chat quotes what it remembers.",
            )
        added = [profile for spec, profile in self._added.items() if spec not in self._found and spec != own]
        if added:
            yield ListRow(label="Added here")
        for profile in added:
            yield self._row(profile, "not used yet")

    def _by_key(self, view: "ModelsView") -> Iterator[ListRow]:
        models = [model for model in view.by_key if model.spec != view.current.spec]
        if models:
            yield ListRow(label="From your keys; not contacted")
        for model in models:
            yield self._row(model.profile, "a service")

    def _used(self, view: "ModelsView", own: str) -> Iterator[ListRow]:
        shown = {own, *self._found, *self._added, *(model.spec for model in view.by_key)}
        specs = [spec for spec in view.used if spec not in shown]
        if specs:
            yield ListRow(label="Used before")
        for spec in specs:
            try:
                yield self._row(self._models.profile(spec), self._states.get(spec, "used before"))
            except PalimpsestError as error:
                yield ListRow(label=spec, id=f"bad {spec}", figure="cannot be used", detail=error.message)

    def _row(self, profile: "Profile", state: str) -> ListRow:
        facts = self._models.facts(profile)
        return ListRow(
            label=profile.spec,
            id=f"{_MODEL}{profile.spec}",
            figure=state if len(state) <= 24 else f"{state[:23]}…",
            detail=facts if len(state) <= 24 else f"{state}\n{facts}",
        )

    # Detection

    @work(exclusive=True, group="look")
    async def action_look(self) -> None:
        """Looks for models on this machine; the list fills as servers answer."""
        self._is_looking, self._found = True, {}
        self.reload()
        async for models in self._models.found():
            self._found |= {model.spec: model for model in models}
            self.reload()
        view = await self._models.view()
        asked = dict.fromkeys([view.current.spec, *view.used])
        unknown = [spec for spec in asked if spec not in self._found and spec != _OFFLINE]
        self._states = await self._models.states(unknown)
        self._is_looking = False
        self.reload()

    # What keys do

    @property
    def _spec(self) -> str:
        """The spec of the chosen row; "" where it is no model."""
        row = self.chosen
        return row.id.removeprefix(_MODEL) if row and row.id.startswith(_MODEL) else ""

    async def open_row(self, row: ListRow) -> None:
        if self._spec:
            self.dismiss(self._spec)
        elif row.id == "embedder":
            self.action_embedder()

    @work(exclusive=True, group="test")
    async def action_test(self) -> None:
        """Asks the chosen model for a word; asks the person first where that costs."""
        if not (spec := self._spec):
            self.say("Choose a model first.", wrong=True)
            return
        try:
            if (price := self._models.price_of_test(spec)) and not await self._agrees(spec, price):
                return
            self.say(f"Testing {spec} …")
            checked = await self._models.test(spec)
        except PalimpsestError as error:
            self.say(f"{spec}: {error.message} {error.hint}".strip(), wrong=True)
            return
        self.say(f"{checked.sentence} Answer: {checked.text[:200] or 'nothing'}")
        self.reload()

    @work(exclusive=True, group="test")
    async def action_probe(self) -> None:
        """Finds out by some short requests how the chosen model on this machine calls tools."""
        if not (spec := self._spec):
            self.say("Choose a model first.", wrong=True)
            return
        self.say(f"Probing {spec} with up to five short requests …")
        try:
            verdict = await self._models.probe(spec)
        except PalimpsestError as error:
            self.say(f"{error.message} {error.hint}".strip(), wrong=True)
            return
        self.say(f"{verdict} Enter uses the model.")
        self.reload()

    async def _agrees(self, spec: str, price: str) -> bool:
        rows = (("sends", f"one short request to {spec}"), ("costs", price))
        return bool(await app_of(self).push_screen_wait(ProposalScreen("Test the model", rows)))

    @work(exclusive=True, group="add")
    async def action_key(self) -> None:
        """Asks for the key of the chosen model's service."""
        environment = self._models.environment
        if not (self._spec and (service := service_of(parse_spec(self._spec), environment))):
            self.say("Choose a model of an online service first.", wrong=True)
        elif stored := await ask_key(self, service, environment):
            self.say(f"{stored} Enter uses the model.")
            self.reload()

    @work(exclusive=True, group="add")
    async def action_add(self) -> None:
        """Adds the model that a SPEC names, or those of the server at an address."""
        typed = await self._typed("Add a model", _EXAMPLES, _check_model, "ollama:qwen3:4b")
        if typed is None:
            return
        try:
            if is_address(typed.text):
                self.say(f"Asking {typed.text} for its models …")
                profiles = [model.profile for model in await self._models.at(typed.text)]
            else:
                profiles = [self._models.profile(typed.text)]
        except PalimpsestError as error:
            self.say(f"{error.message} {error.hint}".strip(), wrong=True)
            return
        self._added |= {profile.spec: profile for profile in profiles}
        self.contents = await self.read()
        self.draw(f"{_MODEL}{profiles[0].spec}")
        self.say("t tests it, Enter uses it.")

    @work(exclusive=True, group="add")
    async def action_embedder(self) -> None:
        """Chooses what makes vectors, or nothing."""
        typed = await self._typed("The embedder", _EMBED_EXAMPLES, parse_embedder, "ollama:nomic-embed-text")
        if typed is None:
            return
        try:
            self.say(await self._models.use_embedder(typed.text))
        except PalimpsestError as error:
            self.say(f"{error.message} {error.hint}".strip(), wrong=True)

    async def _typed(self, title: str, notes: Sequence[str], check: object, example: str) -> TypedLine | None:
        assert callable(check)
        return await app_of(self).push_screen_wait(LineScreen(title, notes, check, example=example))


def _check_model(text: str) -> None:
    if not is_address(text):
        parse_spec(text)


def _how_to_get_one() -> Iterator[ListRow]:
    yield ListRow(label="How to get one (optional)")
    for number, way in enumerate(HOW_TO_GET_ONE[1:-1]):
        yield ListRow(label=way, id=f"how {number}", detail=f"{way}\nr checks again, a adds an address.")


def _embedder(view: "ModelsView") -> Iterator[ListRow]:
    yield ListRow(label="Search by meaning")
    if view.embedder == NONE:
        detail = "Search matches words only. An embedder also finds passages with the same meaning. Enter chooses one."
        yield ListRow(label="no embedder", id="embedder", figure="words only", detail=detail)
    else:
        detail = f"{view.vectors}. Enter chooses another one, or none to search by words only."
        yield ListRow(label=view.embedder, id="embedder", figure=view.vectors.partition(", ")[0], detail=detail)


def _costs(view: "ModelsView") -> Iterator[ListRow]:
    yield ListRow(label="Usage and cost")
    for label, spent in (("this conversation", view.conversation), ("today", view.today)):
        yield ListRow(label=label, id=f"cost {label}", figure=_cost(spent), detail=_cost_detail(spent, view.caps))
    caps = view.caps or "No daily limit is set: `/settings models.daily_tokens`, `/settings models.daily_cost`."
    yield ListRow(label=caps, id="caps", detail=f"{caps} Prices are set in `/settings models.prices`.")


def _cost(spent: "Spent | None") -> str:
    return f"{spent.tokens:,} tokens · {spent.cost}" if spent and spent.requests else "nothing yet"


def _cost_detail(spent: "Spent | None", caps: str) -> str:
    if spent is None or not spent.requests:
        return f"No model was called yet. {caps}".strip()
    return (
        f"{counted(spent.requests, 'request')}: {spent.prompt_tokens:,} tokens read, "
        f"{spent.cached_tokens:,} of them cached, {spent.completion_tokens:,} written. {spent.cost}. {caps}"
    ).strip()


def _keys(view: "ModelsView") -> Iterator[ListRow]:
    yield ListRow(label="Keys of services")
    label = ", ".join(view.keys) if view.keys else "none is set"
    yield ListRow(label=label, id="keys", figure="set" if view.keys else "", detail=HOW_TO_SET_A_KEY)
