"""Names of MCP tools: accepted by model servers, different, and the same in every session."""

import random
import re

from hypothesis import given
from hypothesis import strategies as st

from agent.mcp.names import server_prefixes, tool_names

ACCEPTED = re.compile(r"[a-zA-Z0-9_-]{1,64}")
names = st.lists(st.text(max_size=90) | st.from_regex(r"[ab_. ]{1,5}", fullmatch=True), unique=True, max_size=12)


@given(names, names, st.randoms())
def test_names_are_accepted_different_and_independent_of_the_order(
    servers: list[str], tools: list[str], shuffle: random.Random
) -> None:
    prefixes = server_prefixes(servers)
    made = [name for prefix in prefixes.values() for name in tool_names(prefix, tools).values()]
    assert len({*made}) == len(servers) * len(tools)
    assert all(ACCEPTED.fullmatch(name) for name in made)
    shuffle.shuffle(servers)
    shuffle.shuffle(tools)
    assert server_prefixes(servers) == prefixes
    for prefix in prefixes.values():
        assert tool_names(prefix, tools) == tool_names(prefix, reversed(tools))


def test_plain_names_stay() -> None:
    assert server_prefixes(["git", "my server", "a__b", "9"]) == {
        "git": "git",
        "my server": "my_server",
        "a__b": "a_b",
        "9": "mcp_9",
    }
    assert tool_names("git", ["git_status", "log.short"]) == {
        "git_status": "git__git_status",
        "log.short": "git__log_short",
    }


def test_a_name_that_is_plain_keeps_it_where_another_would_become_it() -> None:
    made = tool_names("s", ["a_b", "a.b", "a b"])
    assert made["a_b"] == "s__a_b"
    assert made["a.b"].startswith("s__a_b_")
    assert len({*made.values()}) == 3
