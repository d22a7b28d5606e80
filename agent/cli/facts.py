"""Facts about the program and its commands, from which the offline model answers."""

from functools import cache

from agent.cli.root import COMMANDS
from agent.commands import registry
from agent.commands.command import Command
from foundation.program import PROGRAM
from models.messages import Fact

_PROGRAM_FACTS = (
    Fact(
        "what this is",
        "Palimpsest is a terminal chat that remembers. Every message and answer is kept in this workspace; what no "
        "longer fits a request is archived as page images that are read back to the letter, and what is relevant is "
        "recalled into later requests with its citation.",
        ("palimpsest", "program", "about", "who are you", "是什么", "你是谁"),
    ),
    Fact(
        "what it can do",
        "I keep what you write, find it again and quote it, with where it comes from; /remember makes a note, /archive "
        "keeps a long text as page images, /search and /recall look through all of it, and @FILE sends a file along. "
        "With a language model connected (/model), that model answers, and what is relevant is recalled for it.",
        ("what can you do", "can you do", "help me", "你能做什么", "你会什么", "能做什么"),
    ),
    Fact(
        "memory and recall",
        "Every message and answer is on disk, in .palimpsest/, before it is shown, and notes are in MEMORY.md. For "
        "each new message all of that is searched, and the passages that bear on it are recalled into the request, "
        "with where they come from. What no longer fits the model's window is archived as page images, which are read "
        "back to the letter when it is asked for.",
        ("you remember", "your memory", "forget", "storage", "记住", "记忆"),
    ),
    Fact(
        "adding files",
        f"`{PROGRAM} knowledge add PATH` (here: /knowledge add PATH) turns files and folders into memory: PDF, Word, "
        "slides, Markdown, HTML, text, code and pictures. What they say is recalled with its file and page, and "
        f'`{PROGRAM} -p --knowledge "…"` answers from them alone.',
        ("add files", "add a file", "add documents", "add a folder", "palimpsest knowledge"),
    ),
    Fact(
        "offline and models",
        "Without a language model, offline answers by quoting what is remembered. /model lists the models at hand "
        "(Ollama, LM Studio and llama.cpp servers on this machine, services whose key is set); `/model SPEC` speaks "
        f"to one, `{PROGRAM} models use SPEC` keeps it.",
        ("offline", "model", "ollama", "server", "llm", "ai", "模型"),
    ),
    Fact(
        "privacy and private text",
        "Nothing leaves this machine unless you choose a model elsewhere. What stands between <private> and "
        "</private> is sent with that message and never stored; API keys, tokens and private keys are taken out "
        "before anything is written.",
        ("private", "privacy", "secret", "key", "stored", "隐私"),
    ),
    Fact(
        "where memory lives",
        "MEMORY.md and memory/*.md are Markdown that you may edit with any editor; a change counts from the next "
        "message on. Conversations are in .palimpsest/ with readable copies in conversations/.",
        ("memory", "MEMORY.md", "file", "folder", "edit", "data", "store", "记忆"),
    ),
    Fact(
        "context and budget",
        "A request has four layers: system, project, conversation and message, each with a share of the model's "
        "window. /context shows them. When a conversation outgrows its share, older turns go to the archive and a "
        "summary stands in their place.",
        ("context", "budget", "window", "tokens", "layer", "上下文"),
    ),
    Fact(
        "stopping and keys",
        "Esc or Ctrl+C stops an answer and keeps what came. Ctrl+C clears the prompt into the history first; twice, "
        "where nothing goes on, it quits. Ctrl+J makes a new line.",
        ("keys", "stop", "esc", "quit", "newline", "keyboard", "按键"),
    ),
)


@cache
def facts() -> tuple[Fact, ...]:
    """All facts: about the program, each slash command, and each subcommand."""
    slash = {command.name: command for command in registry.all()}
    slash_facts = (_slash_fact(command, on_command_line=command.name in COMMANDS) for command in slash.values())
    cli_facts = (
        Fact(f"palimpsest {name}", f"`{PROGRAM} {name}`: {summary} `{PROGRAM} {name} --help` says more.", (name,))
        for name, (_, summary) in COMMANDS.items()
        if name not in slash
    )
    names = ", ".join(f"/{name}" for name in slash)
    commands = Fact(
        "the commands", f"The commands are {names}. /help says what each does.", ("commands", "help", "命令")
    )
    return (*_PROGRAM_FACTS, commands, *slash_facts, *cli_facts)


def _slash_fact(command: Command, *, on_command_line: bool) -> Fact:
    outside = f" Outside the chat: `{PROGRAM} {command.name}`." if on_command_line else ""
    return Fact(
        f"/{command.name}", f"`{command.signature}`: {command.summary}{outside}", (command.name, *command.aliases)
    )
