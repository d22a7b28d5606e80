"""Each option of a search at every face: the command line, `/search`, `key:value` words, a batch and the query."""

from typing import Any

import click
import msgspec
import pytest

from agent.cli.root import palimpsest
from agent.commands.search_args import build_query, parse_search
from agent.services.batch_search import BatchQuery
from agent.services.filter_syntax import build_query as query_of_words
from agent.services.filter_syntax import parse_filters
from memory.search import Query, parse_query
from memory.search_options import OPTIONS, SearchOption, SearchOptions
from tests.fakes import FakeClock

VALUES = {
    "kind": "message",
    "role": "user",
    "since": "2026-03-01",
    "until": "2026-03-02",
    "around": "2026-03-01",
    "trust": "exact",
    "threshold": "0.4",
}
TYPED = [option for option in OPTIONS if option.name != "explain"]  # for reading a score there is the command line


def value_of(option: SearchOption) -> str:
    return VALUES.get(option.name, "7" if option.type is int else "x")


def query_with(option: SearchOption, clock: FakeClock) -> Query:
    """The query that the option makes of `boiler`."""
    value: Any = True if option.type is bool else option.type(value_of(option))
    return parse_query("boiler", SearchOptions(**{option.field: (value,) if option.repeatable else value}), clock=clock)


KEYS = {
    "after",
    "around",
    "before",
    "concept",
    "conversation",
    "entity",
    "file",
    "in",
    "scope",
    "kind",
    "label",
    "role",
    "since",
    "speaker",
    "trust",
    "type",
    "until",
    "who",
}


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_an_option_changes_the_query(option: SearchOption, clock: FakeClock) -> None:
    assert query_with(option, clock) != parse_query("boiler", clock=clock)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_the_command_line_has_it_with_its_description(option: SearchOption) -> None:
    command = palimpsest.get_command(click.Context(palimpsest), "search")
    assert command is not None
    (found,) = [one for one in command.params if one.name == option.field]
    assert isinstance(found, click.Option)
    assert found.opts == ["-k" if option.name == "k" else f"--{option.name}"]
    assert found.help == option.description
    assert (found.is_flag, found.multiple) == (option.type is bool, option.repeatable)


@pytest.mark.parametrize("option", TYPED, ids=lambda option: option.name)
def test_the_chat_takes_it_as_a_flag(option: SearchOption, clock: FakeClock) -> None:
    flag = "-k" if option.name == "k" else f"--{option.name}"
    parsed = parse_search(f"boiler {flag}" if option.type is bool else f"boiler {flag} {value_of(option)}")
    assert parsed is not None
    assert build_query(parsed, clock) == query_with(option, clock)


@pytest.mark.parametrize("option", [option for option in OPTIONS if option.keys], ids=lambda option: option.name)
def test_words_before_a_colon_are_filters(option: SearchOption, clock: FakeClock) -> None:
    for key in option.keys:
        assert query_of_words(parse_filters(f"boiler {key}:{value_of(option)}"), clock) == query_with(option, clock)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_a_line_of_a_batch_takes_it(option: SearchOption) -> None:
    value: Any = True if option.type is bool else option.type(value_of(option))
    line = msgspec.json.encode({"query": "boiler", option.name: value})
    assert msgspec.structs.asdict(msgspec.json.decode(line, type=BatchQuery))[option.name] == value


def test_a_word_has_one_meaning() -> None:
    keys = [key for option in OPTIONS for key in option.keys]
    assert len(keys) == len(set(keys))


def test_the_words_of_the_screen_are_these() -> None:
    """Persons have learned them, and the docs name them."""
    assert {key for option in OPTIONS for key in option.keys} == KEYS
