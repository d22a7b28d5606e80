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
        "Palimpsest is a terminal chat and agent that remembers. Every message and answer is stored in this "
        "workspace. Text that no longer fits a request is archived as page images that can be read back "
        "exactly, and relevant passages are recalled into later requests with citations.",
        ("palimpsest", "program", "about", "who are you", "是什么", "你是谁"),
    ),
    Fact(
        "what it can do",
        "I store what you write, find it again and quote it with its source. /remember adds a note, "
        "/archive stores a long text as page images, /search and /recall search everything, and @FILE "
        "attaches a file. With a language model connected (/model), that model answers, with relevant "
        "passages from memory.",
        ("what can you do", "can you do", "help me", "你能做什么", "你会什么", "能做什么"),
    ),
    Fact(
        "memory and recall",
        "Every message and answer is saved in .palimpsest/ before it is shown, and notes are in MEMORY.md. "
        "Each new message searches all of that, and relevant passages are added to the request with their "
        "sources. Text that no longer fits the model's window is archived as page images, which can be read "
        "back exactly.",
        ("you remember", "your memory", "forget", "storage", "记住", "记忆"),
    ),
    Fact(
        "adding files",
        f"`{PROGRAM} knowledge add PATH` (here: /knowledge add PATH) adds files and folders to memory: PDF, "
        "Word, slides, Markdown, HTML, text, code and pictures. Their content is recalled with file and page, and "
        f'`{PROGRAM} -p --knowledge "…"` answers from them alone.',
        ("add files", "add a file", "add documents", "add a folder", "palimpsest knowledge"),
    ),
    Fact(
        "offline and models",
        "Without a language model, offline answers quote from memory. /model lists the available models "
        "(Ollama, LM Studio and llama.cpp servers on this machine, services with a stored key); `/model "
        f"SPEC` switches to one, `{PROGRAM} models use SPEC` saves the choice.",
        ("offline", "model", "ollama", "server", "llm", "ai", "模型"),
    ),
    Fact(
        "privacy and private text",
        "Nothing leaves this machine unless you choose a remote model. Text between <private> and "
        "</private> is sent with that message but never stored; API keys, tokens and private keys are "
        "removed before anything is written.",
        ("private", "privacy", "secret", "key", "stored", "隐私"),
    ),
    Fact(
        "where memory lives",
        "MEMORY.md and memory/*.md are Markdown files that you can edit with any editor; changes apply from "
        "the next message. Conversations are in .palimpsest/, with readable copies in conversations/.",
        ("memory", "MEMORY.md", "file", "folder", "edit", "data", "store", "记忆"),
    ),
    Fact(
        "context and budget",
        "A request has four layers: system, project, conversation and message, each with a share of the model's "
        "window. /context shows them. When a conversation outgrows its share, older messages are archived "
        "and replaced by a summary.",
        ("context", "budget", "window", "tokens", "layer", "上下文"),
    ),
    Fact(
        "stopping and keys",
        "Esc or Ctrl+C stops an answer and saves the partial text. Ctrl+C first moves the prompt to the "
        "history; pressed twice when idle, it quits. Ctrl+J inserts a line break.",
        ("keys", "stop", "esc", "quit", "newline", "keyboard", "按键"),
    ),
)


@cache
def facts() -> tuple[Fact, ...]:
    """All facts: about the program, each slash command, and each subcommand."""
    slash = {command.name: command for command in registry.all()}
    slash_facts = (_slash_fact(command, on_command_line=command.name in COMMANDS) for command in slash.values())
    cli_facts = (
        Fact(f"palimpsest {name}", f"`{PROGRAM} {name}`: {summary} See `{PROGRAM} {name} --help`.", (name,))
        for name, (_, summary) in COMMANDS.items()
        if name not in slash
    )
    names = ", ".join(f"/{name}" for name in slash)
    commands = Fact("the commands", f"The commands are {names}. /help explains them.", ("commands", "help", "命令"))
    return (*_PROGRAM_FACTS, commands, *slash_facts, *cli_facts)


def _slash_fact(command: Command, *, on_command_line: bool) -> Fact:
    outside = f" Outside the chat: `{PROGRAM} {command.name}`." if on_command_line else ""
    return Fact(
        f"/{command.name}", f"`{command.signature}`: {command.summary}{outside}", (command.name, *command.aliases)
    )
