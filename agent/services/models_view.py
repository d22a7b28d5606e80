"""What the models screen shows and does: models with their facts, the embedder, costs, keys, and a test."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.config.used_models import ProbeVerdict
from agent.services.embedder import use_embedder
from agent.services.model_check import ABOUT_TOKENS, ModelCheck, check_model
from agent.services.model_probe import probe_model
from agent.services.model_states import model_states, models_at
from agent.spending.report import Spent, caps_sentence, spending_report
from context.assembly.budget import budget_for
from context.settings import ContextSettings
from foundation.keys import StoredKeys
from models.chat.detect import DetectedModel, detect_each, services
from models.chat.open import open_model
from models.chat.port import ModelSize, Profile
from models.chat.service_keys import service_of
from models.chat.spec import DETECT_VARIABLE, ModelSpec, address_of, key_variable, parse_spec
from models.embed.open import NONE
from models.prices import PriceList
from models.settings import ModelSettings

if TYPE_CHECKING:
    from agent.session import Session

_PROTOCOLS: Final = {
    "anthropic": "Anthropic's Messages API",
    "mlx": "in this process, by mlx-lm",
    "offline": "no language model: quotes from memory, with citations",
}
_CHAT_PROTOCOL: Final = "OpenAI's chat protocol"
KEY_VARIABLES: Final = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "PALIMPSEST_ANTHROPIC_KEY", "PALIMPSEST_OPENAI_KEY")
HOW_TO_SET_A_KEY: Final = (
    "k stores the key of the selected model's service in the system's keyring, or in "
    "a file that only you can read. Environment variables take precedence: ANTHROPIC_API_KEY and "
    "OPENAI_API_KEY are sent only to that provider, PALIMPSEST_OPENAI_KEY to any address in a SPEC."
)


class ModelsView(Struct, frozen=True, kw_only=True):
    """What is known without asking a server."""

    current: Profile
    window_status: str
    is_looked_for: bool  # whether servers on this machine are asked
    used: tuple[str, ...]  # specs, the last first
    by_key: tuple[DetectedModel, ...]  # of services whose key is set; none was asked
    embedder: str  # "none" where search goes by words
    vectors: str
    conversation: Spent | None
    today: Spent
    caps: str
    keys: tuple[str, ...]  # variables that are set, and services whose key is stored


class SessionModels:
    """The models of one session."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._config = session.config
        self._settings = self._config.models
        self._verdicts: Mapping[str, ProbeVerdict] = {}

    async def view(self) -> ModelsView:
        return await asyncio.to_thread(self._view)

    def _view(self) -> ModelsView:
        session, config = self._session, self._config
        self._verdicts = session.models_used.verdicts
        self._settings = session.models_used.with_verdicts(config.models)
        rows, now = session.memory.spending(), session.clock.now()
        id_ = session.conversation.id if session.conversation else ""
        own = spending_report([row for row in rows if id_ and row.conversation == id_], config.models, now)
        report = spending_report(rows, config.models, now)
        coverage = session.memory.search.vectors.coverage()
        embedder = config.embed.embedder.strip() or NONE
        vectors = f"{coverage.entries:,} of {coverage.of:,} entries, {coverage.vectors:,} vectors"
        return ModelsView(
            current=session.profile,
            window_status=session.window_status,
            is_looked_for=config.environment.get(DETECT_VARIABLE) != "off",
            used=tuple(spec for spec in session.models_used.specs if spec != "offline"),
            by_key=tuple(services(config.environment, config.models)),
            embedder=embedder,
            vectors="" if embedder == NONE else vectors,
            conversation=own.conversations[0] if own.conversations else None,
            today=report.today,
            caps=caps_sentence(report),
            keys=(
                *(name for name in KEY_VARIABLES if config.environment.get(name)),
                *StoredKeys(config.environment).places(),
            ),
        )

    def found(self) -> AsyncGenerator[list[DetectedModel]]:
        """The models of servers on this machine, as each answers."""
        return detect_each(self._config.environment, settings=self._settings)

    async def states(self, specs: Sequence[str]) -> dict[str, str]:
        """What is known of models that were used before (`it answers`)."""
        return (await model_states(self._config, specs, self._session.profile.spec))[0]

    async def at(self, address: str) -> list[DetectedModel]:
        """The models of the server at this address. Raises Misuse where none answers."""
        return await models_at(self._config, address)

    def profile(self, spec: str) -> Profile:
        """What is known of a model by its name alone. Raises Misuse."""
        return open_model(spec, settings=self._settings, env=self._config.environment).profile

    def facts(self, profile: Profile) -> str:
        """The facts of a model, a line each."""
        config = self._config
        facts = model_facts(profile, config.environment, config.models, config.context)
        verdict = self._verdicts.get(profile.known_as) or self._verdicts.get(profile.spec)
        return "\n".join([*facts, verdict.text] if verdict else facts)

    def price_of_test(self, spec: str) -> str:
        """What a test may cost, in a sentence; "" where it is free."""
        profile, settings = self.profile(spec), self._config.models
        if not profile.remote and PriceList(settings.prices).price(spec, profile.name) is None:
            return ""
        return f"about {ABOUT_TOKENS} tokens. {price_sentence(profile, settings)}"

    async def test(self, spec: str) -> ModelCheck:
        """One short request. Raises ModelFailed."""
        checked = await check_model(self._config, spec)
        self._session.budget.take(checked.profile, checked.usage)
        return checked

    async def probe(self, spec: str) -> str:
        """Finds out how the model calls tools; a sentence. It holds when the model is chosen next.

        Raises Misuse for a model on another machine, and ModelFailed.
        """
        return (await probe_model(self._config, spec)).text

    @property
    def environment(self) -> Mapping[str, str]:
        return self._config.environment

    async def use_embedder(self, spec: str) -> str:
        """Sets the embedder for all workspaces of the user; a sentence. Raises Misuse and ConfigError."""
        session, config = self._session, self._config
        before = config.embed.embedder
        chosen = await asyncio.to_thread(use_embedder, session.workspace, config.environment, spec, before, user=True)
        what = "Keyword search only" if chosen.spec == NONE else f"{chosen.spec} computes the vectors"
        return f"{what} from the next start of the chat; saved in {chosen.path}."


def model_facts(
    profile: Profile, environment: Mapping[str, str], settings: ModelSettings, context: ContextSettings
) -> list[str]:
    """Window and reserve, abilities, protocol and address, key, price: a sentence each."""
    spec = parse_spec(profile.spec)
    if spec.provider == "offline":
        return ["No language model: answers quote from memory, with citations. Nothing is sent, and it is free."]
    reserve = budget_for(profile.window, context).reserve
    window = f"Window {profile.window:,} tokens, {reserve:,} of them reserved for the answer."
    tools = "tools natively" if profile.tools else "tools in text" if profile.text_tools else "no tools"
    size = f" It counts as {profile.size.value}." if profile.size is not ModelSize.UNKNOWN else ""
    lines = [
        window if profile.window_known else "Its window is not known yet; it is requested with the first message.",
        f"It reads {'text and images' if profile.vision else 'text, no images'}, and calls {tools}.{size}",
        f"Reached by {_protocol(spec, environment)}. "
        f"{'What you write is sent to another machine.' if profile.remote else 'Nothing leaves this machine.'}",
        _key(spec, environment, remote=profile.remote),
        price_sentence(profile, settings),
    ]
    return [line for line in lines if line]


def price_sentence(profile: Profile, settings: ModelSettings) -> str:
    """What the model costs, as far as it is known."""
    price = PriceList(settings.prices).price(profile.spec, profile.name)
    if price is not None:
        return (
            f"A million tokens cost {price.input:g} {price.currency} read, {price.output:g} {price.currency} written."
        )
    if profile.remote:
        return "The provider charges by tokens; no price is set (models.prices)."
    return "It is free."


def _protocol(spec: ModelSpec, environment: Mapping[str, str]) -> str:
    protocol = _PROTOCOLS.get(spec.provider, _CHAT_PROTOCOL)
    return protocol if spec.provider == "mlx" else f"{protocol} at {address_of(spec, environment)}"


def _key(spec: ModelSpec, environment: Mapping[str, str], *, remote: bool) -> str:
    variable = "" if spec.provider == "mlx" else key_variable(spec, environment)
    if variable:
        return f"Its key comes from {variable}."
    if not remote or not (service := service_of(spec, environment)):
        return ""
    place = StoredKeys(environment).places().get(service)
    return f"Its key is stored in the {place}." if place else "No key is set for it; k stores one."
