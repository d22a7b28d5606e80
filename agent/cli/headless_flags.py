"""The flags of `-p`, for the root command and for `chat`."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from agent.cli.invocation import HeadlessFlags, current
from foundation.errors import Misuse
from foundation.program import PROGRAM

if TYPE_CHECKING:
    from agent.headless.options import HeadlessOptions

F = TypeVar("F", bound=Callable[..., Any])
FORMATS: Final = ("text", "json", "stream-json")
MODES: Final = ("ask", "read-only", "edit", "auto", "plan")


def headless_options(function: F) -> F:
    """Adds `-p` and the flags that belong to it; all but `-p` are kept in the invocation."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def _kept(name: str, *declarations: str, **settings: Any) -> Callable[[F], F]:
    """An option that is kept as this field of the invocation's flags, where it is given."""

    def keep(_ctx: click.Context, _param: click.Parameter, value: Any) -> None:
        if value is not None:
            setattr(current().headless, name, value)

    return click.option(*declarations, expose_value=False, callback=keep, default=None, **settings)


def _rules(verdict: str, help_text: str) -> Callable[[F], F]:
    def keep(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> None:
        current().headless.rules.extend((verdict, value) for value in values)

    return click.option(
        f"--{verdict}", multiple=True, metavar="RULE", expose_value=False, callback=keep, help=help_text
    )


_OPTIONS: Final = (
    click.option(
        "-p",
        "--print",
        "prompt",
        metavar="TEXT",
        help="Answer TEXT on standard output, without a screen. Standard input is appended.",
    ),
    _kept(
        "output_format",
        "--output-format",
        type=click.Choice(FORMATS),
        help="What -p prints: the answer as text, one JSON object, or one JSON line per event.",
    ),
    _kept(
        "input_format",
        "--input-format",
        type=click.Choice(["text", "stream-json"]),
        help="What -p reads from standard input: text, or one JSON line per message or reply.",
    ),
    _kept("knowledge", "--knowledge", is_flag=True, help="Answer -p from the files in knowledge only."),
    _kept("mode", "--mode", type=click.Choice(MODES), help="Permission mode for actions that no rule matches."),
    _rules("allow", "Allow actions: 'run_command(python3 *)', 'edit_file(src/**)'. Repeatable."),
    _rules("deny", "Deny actions; wins over every allow rule. Repeatable."),
    _rules("ask", "Ask before actions; without a screen they are declined. Repeatable."),
    _kept(
        "calls",
        "--max-calls",
        type=click.IntRange(min=0),
        metavar="N",
        help="Maximum number of tool calls in the run (exit 4).",
    ),
    _kept(
        "tokens",
        "--max-tokens",
        type=click.IntRange(min=1),
        metavar="N",
        help="Maximum tokens for the run, prompts and answers together (exit 4).",
    ),
    _kept(
        "seconds",
        "--max-seconds",
        type=click.FloatRange(min=0, min_open=True),
        metavar="N",
        help="Maximum duration of the run (exit 4).",
    ),
    _kept(
        "cost",
        "--max-cost",
        type=click.FloatRange(min=0),
        metavar="N",
        help="Maximum cost of the run, by models.prices (exit 4).",
    ),
    _kept("over_cap", "--over-cap", is_flag=True, help="Ignore models.daily_tokens and models.daily_cost."),
)


def options_of(flags: HeadlessFlags, *, as_json: bool) -> "HeadlessOptions":
    """The flags as options of a run. Raises Misuse."""
    from agent.headless.options import JSON, STREAM_JSON, TEXT, HeadlessOptions
    from agent.spending.budget import RunLimits

    driven = flags.input_format == STREAM_JSON
    form = flags.output_format or (STREAM_JSON if driven else JSON if as_json else TEXT)
    if driven and form != STREAM_JSON:
        raise Misuse(
            "Two formats",
            "--input-format stream-json needs --output-format stream-json.",
            f"{PROGRAM} -p --input-format stream-json --output-format stream-json",
        )
    mode, rules = permissions_of(flags)
    return HeadlessOptions(
        form=form,
        driven=driven,
        knowledge=flags.knowledge,
        mode=mode,
        rules=rules,
        limits=RunLimits(calls=flags.calls, tokens=flags.tokens, cost=flags.cost),
        seconds=flags.seconds,
        over_cap=flags.over_cap,
    )


def permissions_of(flags: HeadlessFlags) -> tuple[Any, tuple[Any, ...]]:
    """The mode (None where none was given) and the rules. Raises Misuse for what is no rule or names no tool."""
    from agent.permissions.mode import PermissionMode
    from agent.permissions.rules import Verdict
    from agent.services.permission_rules import parse_tool_rule

    mode = PermissionMode(flags.mode) if flags.mode else None
    return mode, tuple(parse_tool_rule(Verdict(verdict), text) for verdict, text in flags.rules)


def prompt_words(words: Sequence[str], flags: Sequence[click.Parameter]) -> list[str]:
    """The command line with `-p` moved to its text: `-p --mode edit TEXT` is `--mode edit -p TEXT`.

    `flags` are the options that may stand between. `-p` alone has no text, and `-p -- TEXT` any text.
    """
    words = list(words)
    position = next((n for n, word in enumerate(words) if word in {"-p", "--print", "--"}), len(words))
    if position == len(words) or words[position] == "--":
        return words
    arity = {name: not getattr(flag, "is_flag", False) for flag in flags for name in flag.opts}
    arity |= {"--help": False, "-h": False}
    end = position + 1
    while end < len(words) and _is_option(words[end], arity):
        name, equals, _ = words[end].partition("=")
        end += 2 if arity.get(name) and not equals else 1
    moved = words[position + 1 : min(end, len(words))]
    rest = words[end:]
    if rest[:1] == ["--"]:
        rest = rest[1:]
    text, *others = rest or [""]
    return [*words[:position], *moved, f"--print={text}", *others]


def _is_option(word: str, arity: dict[str, bool]) -> bool:
    """Whether the word is an option rather than a text; a misspelt one (`--mdoe`) is one, too."""
    name = word.partition("=")[0]
    looks_so = word.startswith("--") and word[2:3].isalpha() and not any(letter.isspace() for letter in word)
    return name in arity or looks_so
