"""All settings: the structs of the packages, composed, and a description of each setting.

A setting has a type, a default and a sentence. The sentence is its `Meta(description=…)`, or the docstring below it.
"""

import enum
import types
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Literal, TypeGuard, Union, cast, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import FieldInfo

from agent.hooks.settings import HookSettings
from agent.importers.settings import ImportSettings
from agent.mcp.settings import McpSettings
from agent.tools.settings import ToolSettings
from context.settings import ContextSettings
from foundation.log import LogSettings
from memory.settings import (
    ArchiveSettings,
    BackupSettings,
    CheckSettings,
    DiskSettings,
    KnowledgeSettings,
    ObserveSettings,
    RetentionSettings,
    SyncSettings,
    VersionSettings,
)
from models.chat.spec import parse_spec
from models.embed.settings import EmbedSettings
from models.settings import ModelSettings


class ScreenSettings(Struct, frozen=True, kw_only=True):
    """Settings of the screen."""

    pictures: Annotated[
        Literal["auto", "kitty", "sixel", "blocks", "off"],
        Meta(
            description="How pictures are shown: auto depends on the terminal, blocks uses coloured half "
            "blocks, off shows names only."
        ),
    ] = "auto"
    theme: str = "auto"
    """The colours: auto follows the terminal, `/theme` lists the others."""
    notify: Annotated[
        Literal["auto", "bell", "osc9", "osc777", "desktop", "off"],
        Meta(
            description="Notification of answers and questions while the terminal is not focused: auto "
            "depends on the terminal, osc9 and osc777 use its notifications, desktop those of the system, "
            "off disables them."
        ),
    ] = "auto"
    vim_keys: bool = False
    """Vim keys in the prompt: Esc enters normal mode, i and a insert mode."""
    reader: Annotated[
        Literal["auto", "on", "off"],
        Meta(
            description="Plain-line chat for screen readers: auto turns it on if ACCESSIBLE is set and not "
            "0; --screen-reader overrides it."
        ),
    ] = "auto"
    panel: Annotated[
        Literal["auto", "on", "off"],
        Meta(
            description="The side panel: auto shows it from 140 columns if it has content, on from 100 "
            "columns. F7 toggles it."
        ),
    ] = "auto"
    keys: dict[str, str] = {}
    """Custom keys: `chat.search: alt+s`, with action names from F1 and commas between several keys."""


GUARDED = "guarded"
"""`Meta(extra={"guarded": True})`: a setting that needs trust whatever its type."""


class Settings(Struct, frozen=True, kw_only=True):
    """The structure of a configuration file."""

    model: str = "offline"
    """What answers: `provider:name[@address]`, or `offline`."""
    models: ModelSettings = msgspec.field(default_factory=ModelSettings)
    """How models are reached."""
    embed: EmbedSettings = msgspec.field(default_factory=EmbedSettings)
    """What turns texts into vectors, so that what was meant is found and not only what was said."""
    context: ContextSettings = msgspec.field(default_factory=ContextSettings)
    """What goes into a request."""
    archive: ArchiveSettings = msgspec.field(default_factory=ArchiveSettings)
    """How text becomes pages, and where they stand."""
    knowledge: KnowledgeSettings = msgspec.field(default_factory=KnowledgeSettings)
    """What of the files that were added stands in view."""
    observe: ObserveSettings = msgspec.field(default_factory=ObserveSettings)
    """Who makes observations."""
    versions: VersionSettings = msgspec.field(default_factory=VersionSettings)
    """How long versions of files are kept."""
    backup: BackupSettings = msgspec.field(default_factory=BackupSettings)
    """When a backup is due."""
    sync: SyncSettings = msgspec.field(default_factory=SyncSettings)
    """Where your other devices read and write."""
    retention: RetentionSettings = msgspec.field(default_factory=RetentionSettings)
    """What becomes of conversations that nobody touched for long."""
    check: CheckSettings = msgspec.field(default_factory=CheckSettings)
    """How often what is stored is compared with its hashes in the background."""
    disk: DiskSettings = msgspec.field(default_factory=DiskSettings)
    """When to warn of the room that memory takes."""
    imports: ImportSettings = msgspec.field(default_factory=ImportSettings)
    """How much of a file that is imported is held at once."""
    tools: ToolSettings = msgspec.field(default_factory=ToolSettings)
    """What a model may call."""
    mcp: McpSettings = msgspec.field(default_factory=McpSettings)
    """MCP servers, and how long they are waited for."""
    hooks: HookSettings = msgspec.field(default_factory=HookSettings)
    """Commands that run at points of a session."""
    log: LogSettings = msgspec.field(default_factory=LogSettings)
    """What goes to the log."""
    screen: ScreenSettings = msgspec.field(default_factory=ScreenSettings)
    """What is shown in a terminal."""


class Documentation(Struct, frozen=True):
    """Where the sentence of a setting is: to read the docstrings of all of them takes 35 ms, which no start needs."""

    struct: type[Struct]
    field: str
    description: str | None  # of its `Meta`

    @property
    def sentence(self) -> str:
        return " ".join((self.description or _sentences(self.struct).get(self.field, "")).split())


class Setting(Struct, frozen=True):
    """One setting: `name` is dotted; a `guarded` one can be set only by a trusted workspace."""

    name: str
    kind: Any  # the type, as msgspec converts to it
    default: Any
    documentation: "Documentation"
    guarded: bool
    joined: bool = False  # the lists of all sources are put together
    names_model: bool = False  # `Meta(extra={"model": True})`: a model's name, or ""

    @property
    def sentence(self) -> str:
        """What it does."""
        return self.documentation.sentence

    @property
    def environment_name(self) -> str:
        """The environment variable: `PALIMPSEST_CONTEXT_RESERVE` for `context.reserve`."""
        return "PALIMPSEST_" + self.name.replace(".", "_").upper()

    @property
    def choices(self) -> tuple[str, ...]:
        """The values it can have, as they are written; () where they cannot be listed."""
        kind, _ = split_annotated(self.kind)
        if kind is bool:
            return "true", "false"
        if get_origin(kind) is Literal:
            return tuple(map(str, get_args(kind)))
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return tuple(str(item.value) for item in kind)
        return ()

    @property
    def is_compound(self) -> bool:
        """Whether it is a list or a mapping, or can be one."""
        return self.type_name in {"list", "mapping"}

    def check(self, value: Any) -> None:
        """Raises Misuse for a value of the right type that names no model, where the setting names one."""
        if self.names_model and value:
            parse_spec(str(value))

    @property
    def type_name(self) -> str:
        """The type in words: `whole number`, `one of a, b`."""
        return type_label(self.kind)


@cache
def all_settings() -> dict[str, Setting]:
    """Every setting by its dotted name, in the order of the structs."""
    return {setting.name: setting for setting in _walk(Settings, "")}


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a configuration file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_object_schema(Settings, "")}


def value_of(settings: Settings, name: str) -> Any:
    """The value of a dotted name, as YAML and JSON hold it."""
    value: Any = settings
    for part in name.split("."):
        names = {field.encode_name: field.name for field in msgspec.structs.fields(value)}
        value = getattr(value, names[part])
    return msgspec.to_builtins(value)


def _walk(struct: type[Struct], prefix: str) -> Iterator[Setting]:
    for field in msgspec.structs.fields(struct):
        name = prefix + field.encode_name
        if is_struct(field.type):
            yield from _walk(field.type, name + ".")
            continue
        kind, meta = split_annotated(field.type)
        yield Setting(
            name,
            field.type,
            _default(field),
            Documentation(struct, field.name, meta.description if meta else None),
            _is_guarded(kind, meta),
            _is_marked(meta, "joined"),
            _is_marked(meta, "model"),
        )


def _object_schema(struct: type[Struct], prefix: str) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for field in msgspec.structs.fields(struct):
        name = prefix + field.encode_name
        if is_struct(field.type):
            sentence = _sentences(struct).get(field.name, "")
            properties[field.encode_name] = {"description": sentence, **_object_schema(field.type, name + ".")}
            continue
        setting = all_settings()[name]
        properties[field.encode_name] = {
            **_inlined(msgspec.json.schema(setting.kind)),
            "description": setting.sentence,
            "default": setting.default,
        }
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its references replaced by their definitions."""
    definitions = schema.pop("$defs", {})

    def inlined(node: Any) -> Any:
        match node:
            case {"$ref": str(reference), **others}:
                return inlined({**others, **definitions.get(reference.rpartition("/")[2], {})})
            case dict():
                return {key: inlined(value) for key, value in cast("dict[str, Any]", node).items()}
            case list():
                return [inlined(value) for value in cast("list[Any]", node)]
            case _:
                return node

    return inlined(schema)


def sections() -> frozenset[str]:
    """The dotted names that hold further settings."""
    return frozenset(name.rpartition(".")[0] for name in all_settings() if "." in name)


def _default(field: FieldInfo) -> Any:
    if field.default is not msgspec.NODEFAULT:
        return msgspec.to_builtins(field.default)
    if field.default_factory is not msgspec.NODEFAULT:
        return msgspec.to_builtins(field.default_factory())
    raise TypeError(f"the setting {field.name} has no default")


def _is_guarded(kind: Any, meta: Meta | None) -> bool:
    """Whether a setting needs trust: free text may name a path, an address or a command."""
    if meta and meta.extra and meta.extra.get(GUARDED):
        return True
    if get_origin(kind) in {Union, types.UnionType}:
        return any(_is_guarded(*split_annotated(member)) for member in get_args(kind))
    is_choice = get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, enum.Enum))
    return not is_choice and kind not in {bool, int, float, type(None)}


def _is_marked(meta: Meta | None, mark: str) -> bool:
    return bool(meta and meta.extra and meta.extra.get(mark))


def split_annotated(kind: Any) -> tuple[Any, Meta | None]:
    """The bare type, and its first `Meta`."""
    if get_origin(kind) is not Annotated:
        return kind, None
    bare, *metadata = get_args(kind)
    return bare, next((item for item in metadata if isinstance(item, Meta)), None)


def is_struct(kind: Any) -> TypeGuard[type[Struct]]:
    """Whether the bare type is a struct."""
    return isinstance(kind, type) and issubclass(kind, Struct)


def type_label(kind: Any) -> str:
    """The type in words: `whole number, at least 0`."""
    kind, meta = split_annotated(kind)
    return _base_type_label(kind) + (_bounds(meta) if meta else "")


def _bounds(meta: Meta) -> str:
    bounds = (("above", meta.gt), ("at least", meta.ge), ("below", meta.lt), ("at most", meta.le))
    return "".join(f", {label} {bound:,.10g}" for label, bound in bounds if bound is not None)


def _base_type_label(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(str(item) for item in get_args(kind))
    if get_origin(kind) in {Union, types.UnionType}:
        return " or ".join(type_label(item) for item in get_args(kind))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return "one of " + ", ".join(str(item.value) for item in kind)
    names = {bool: "true or false", int: "whole number", float: "number", str: "text", type(None): "nothing"}
    if kind in names:
        return names[kind]
    origin = get_origin(kind)
    return "mapping" if origin is dict or kind is dict or is_struct(kind) else "list"


@cache
def _sentences(struct: type[Struct]) -> dict[str, str]:
    """The docstrings below a struct's fields, read from its source."""
    import ast
    import inspect
    import itertools
    import textwrap

    tree = ast.parse(textwrap.dedent(inspect.getsource(struct)))
    body = cast(ast.ClassDef, tree.body[0]).body
    sentences: dict[str, str] = {}
    for statement, following in itertools.pairwise(body):
        match statement, following:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                sentences[name] = text
            case _:
                pass
    return sentences
