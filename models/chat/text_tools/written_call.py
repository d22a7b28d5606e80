"""Decodes a written call: JSON of any common shape, or a call in Python's syntax. Checks it by the offered tools."""

import ast
import json
import re
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, cast

from msgspec import Struct

from foundation.bounded_json import BadJson, Json, load_json
from models.messages import Tool
from models.tool_arguments import argument_mistake, fields_of

NAME_KEYS: Final = ("name", "tool", "function", "tool_name")
ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input")
WRAPPER_KEYS: Final = ("tool_calls", "tool_call", "function_call", "function")
SIDE_KEYS: Final = ("id", "type", "index")
_TYPES: Final = frozenset({"function", "tool_use", "tool_call", "function_call"})
UNREADABLE_CALL: Final = "unreadable_call"
"""Name under which a call without a name is sent to a server that wants names."""
_MAX_PYTHON: Final = 50_000  # characters
_MAX_WRAPPERS: Final = 4
_LAST_COMMA: Final = re.compile(r",\s*([}\]])")
TEXT_QUOTES: Final = ("<escape>", '<|"|>')
"""Tokens around a string of FunctionGemma and Gemma 4, which write JSON with bare keys."""

_GEMMA: Final = re.compile(
    r'"(?:[^"\\]++|\\.)*+"?|'
    + "|".join(rf"{quote}(?P<text{number}>.*?){quote}" for number, quote in enumerate(map(re.escape, TEXT_QUOTES)))
    + r"""|(?P<word>[^\s{}\[\]:,"'<][^{}\[\]:,"'<]*+)(?P<colon>:)?""",
    re.DOTALL,
)
_PLAIN: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_CONSTANTS: Final = {"true": True, "false": False, "null": None}


class WrittenCall(Struct, frozen=True):
    """A call as the model wrote it. `is_explicit`: the arguments were written apart from the name.

    `unreadable`: what stands in their place, if they are no object.
    """

    name: str
    arguments: Json
    is_explicit: bool = True
    unreadable: str = ""


def json_calls(source: str, tools: Mapping[str, Tool]) -> tuple[WrittenCall, ...]:
    """The calls of a JSON text; none if any part of it is no call."""
    return _calls_of(_loaded(source), tools)


def _loaded(source: str) -> object:
    """The JSON value, or what a model meant: a comma before the end, or keys and quotes as Gemma and Python have them.

    None for any other text. Line breaks in strings stay: small models write them so.
    """
    for repair in (str, partial(_LAST_COMMA.sub, r"\1"), partial(_GEMMA.sub, _as_json)):
        try:
            return load_json(repair(source), strict=False)
        except BadJson:
            continue
    if len(source) > _MAX_PYTHON or "'" not in source:
        return None
    try:
        return cast("object", ast.literal_eval(source.strip()))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):  # TypeError: `{{}}` is a set of a dict
        return None


def _as_json(match: re.Match[str]) -> str:
    match match.lastgroup:
        case None:
            return match[0]
        case "word" if _PLAIN.fullmatch(match["word"].rstrip()):
            return match["word"]
        case "word" | "colon":
            return json.dumps(match["word"].rstrip()) + (match["colon"] or "")
        case text:
            return json.dumps(match[text])


def written_object(source: str) -> Json | None:
    """The object that a model wrote as arguments, once more decoded if it is a string; None for anything else."""
    value = _loaded(source)
    return None if value is None else _object(value)


def json_object(source: str) -> Json | None:
    """The object of a JSON text, once more decoded if it is a string; None for anything else."""
    try:
        value: object = load_json(source, strict=False)
    except BadJson:
        return None
    return _object(value)


def python_calls(source: str, tools: Mapping[str, Tool]) -> tuple[WrittenCall, ...]:
    """The calls of a Python expression: one call, a list of calls, or a call that is printed."""
    if len(source) > _MAX_PYTHON:
        return ()
    try:
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # "\("
            node = ast.parse(source.strip(), mode="eval").body
        nodes = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
        return tuple(_python_call(each, tools) for each in nodes)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def fitting_call(call: WrittenCall, tools: Mapping[str, Tool]) -> WrittenCall | None:
    """The call of an offered tool with arguments of its schema's types; None if it does not fit."""
    tool = tools.get(call.name)
    if tool is None or call.unreadable:
        return None
    fields = fields_of(tool)
    given = {name: value for name, value in call.arguments.items() if value is not None or name not in fields}
    if argument_mistake(tool, given) or (not call.is_explicit and not fields.keys() >= given.keys()):
        return None
    return WrittenCall(call.name, given, call.is_explicit)


def with_types(name: str, texts: Mapping[str, str], tools: Mapping[str, Tool]) -> WrittenCall:
    """The call of arguments that were written as text: those that the schema wants otherwise are decoded."""
    fields = fields_of(tools[name]) if name in tools else {}
    arguments: Json = {}
    for key, text in texts.items():
        arguments[key] = text
        if (fields.get(key) or {}).get("type", "string") != "string":
            try:
                arguments[key] = load_json(text.strip().lower() if text.strip() in {"True", "False"} else text)
            except BadJson:
                continue
    return WrittenCall(name, arguments)


def _calls_of(value: object, tools: Mapping[str, Tool], depth: int = 0) -> tuple[WrittenCall, ...]:
    if isinstance(value, list) and depth <= _MAX_WRAPPERS:
        items = [_calls_of(item, tools, depth + 1) for item in cast("list[object]", value)]
        return tuple(call for calls in items for call in calls) if all(items) else ()
    if not isinstance(value, dict):
        return ()
    given = cast("Json", value)
    for key in WRAPPER_KEYS:
        if isinstance(given.get(key), dict | list) and depth < _MAX_WRAPPERS:
            return _calls_of(given[key], tools, depth + 1)
    return _call_of(given) or _calls_by_name(given, tools)


def _calls_by_name(given: Json, tools: Mapping[str, Tool]) -> tuple[WrittenCall, ...]:
    """The calls of `{"read_file": {"path": "a.py"}}`; none if a name or a value is no tool's."""
    if not all(name in tools and (value or not fields_of(tools[name])) for name, value in given.items()):
        return ()
    objects = [cast("Json", value) for value in given.values() if isinstance(value, dict)]
    calls = [WrittenCall(name, value, is_explicit=False) for name, value in zip(given, objects, strict=False)]
    return tuple(calls) if len(objects) == len(given) else ()


def _call_of(given: Json) -> tuple[WrittenCall, ...]:
    key = next((key for key in NAME_KEYS if isinstance(given.get(key), str)), "")
    name = _plain_name(str(given.get(key, "")))
    if not name or str(given.get("type", "function")) not in _TYPES:
        return ()
    for argument_key in ARGUMENT_KEYS:
        if argument_key in given:
            arguments = _object(given[argument_key])
            if arguments is None:
                return (WrittenCall(name, {}, unreadable=str(given[argument_key])),)
            is_definition = "properties" in arguments and "type" in arguments
            return () if is_definition else (WrittenCall(name, arguments),)
    flat = {field: value for field, value in given.items() if field not in {key, "type", "id"}}
    return (WrittenCall(name, flat, is_explicit=False),)


def _object(value: object) -> Json | None:
    if isinstance(value, str):
        try:
            value = load_json(value or "{}", strict=False)
        except BadJson:
            return None
    return cast("Json", value) if isinstance(value, dict) else ({} if value is None else None)


def _plain_name(name: str) -> str:
    return re.sub(r"^functions?\.", "", name.strip())


def _python_call(node: ast.expr, tools: Mapping[str, Tool]) -> WrittenCall:
    """Raises ValueError for anything but a call of an offered tool with literal arguments."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr == "call" and "call" not in tools:
        function = function.value  # `read_file.call(…)`
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if not isinstance(node, ast.Call) or (name not in tools and name != "print"):
        raise ValueError(name)
    if name == "print":
        return _python_call(node.args[0] if node.args else node.func, tools)
    arguments = dict(zip(fields_of(tools[name]), map(_literal, node.args), strict=False))
    arguments |= {keyword.arg or "": _literal(keyword.value) for keyword in node.keywords}
    if "" in arguments:
        raise ValueError
    return WrittenCall(name, arguments)


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Name) and node.id in _CONSTANTS:
        return _CONSTANTS[node.id]
    try:
        return json.loads(json.dumps(ast.literal_eval(node)))
    except TypeError as error:  # bytes or a set
        raise ValueError from error
