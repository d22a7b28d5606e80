"""System layer: unconditional lines in the head, the lines of matching rules in the tail."""

import re
from collections.abc import Iterable, Sequence

from context.assembly.tokens import Layer, MessagePiece
from context.sources.conditions import ConditionInput
from context.sources.standing_intents import StandingIntent
from context.sources.system_yaml import SystemFile, SystemRule
from foundation.privacy import TextSource, clear
from foundation.text.languages import is_chinese
from models.messages import Text
from models.prompts import prompt

_OTHER_LANGUAGE = re.compile(r"翻译|翻譯|英文|[英法德日韩俄西]语|[英法德日韓俄西]語|English", re.IGNORECASE)


def static_text(file: SystemFile) -> str:
    """Unconditional lines of system.yaml."""
    return clear("\n".join(file.abilities), TextSource.OTHER)


def matching_rules(file: SystemFile, inputs: ConditionInput, in_view: Iterable[str] = ()) -> tuple[SystemRule, ...]:
    """Rules whose condition holds, in the file's order.

    `in_view` are the instructions that earlier messages brought: a rule that only earlier messages match is left out
    where its lines are among them.
    """
    known = {line for text in in_view for line in text.split("\n")}

    def is_known(rule: SystemRule) -> bool:
        return known.issuperset(clear("\n".join(rule.then), TextSource.OTHER).split("\n"))

    return tuple(
        rule
        for rule in file.rules
        if rule.when.holds(inputs) and not (is_known(rule) and not rule.when.concerns_message(inputs))
    )


def instruction_pieces(rules: Iterable[SystemRule]) -> tuple[MessagePiece, ...]:
    """Lines of the matching rules, for the tail."""
    rules = tuple(rules)
    if not rules:
        return ()
    lines = [line for rule in rules for line in rule.then]
    names = ", ".join(rule.name for rule in rules)
    return (
        MessagePiece(
            Layer.SYSTEM,
            f"system.yaml: {names}",
            Text(clear("\n".join(lines), TextSource.OTHER), injected="instructions"),
        ),
    )


def language_pieces(text: str) -> tuple[MessagePiece, ...]:
    """For a small model: the language of the answer, where the message is Chinese and names no other language."""
    if not is_chinese(text) or _OTHER_LANGUAGE.search(text):
        return ()
    return (
        MessagePiece(
            Layer.SYSTEM, "language", Text(clear(prompt("language", "chinese"), TextSource.OTHER), "language")
        ),
    )


def intent_pieces(intents: Iterable[StandingIntent]) -> tuple[MessagePiece, ...]:
    """Reminders that the message fires, for the tail."""
    text = "\n".join(intent.instruction for intent in intents)
    part = Text(clear(text, TextSource.OTHER), injected="instructions")
    return (MessagePiece(Layer.SYSTEM, "standing intents", part),) if text else ()


def knowledge_pieces() -> tuple[MessagePiece, ...]:
    """Instructions for answering from the person's own files."""
    return (MessagePiece(Layer.SYSTEM, "knowledge", Text(_KNOWLEDGE_INSTRUCTIONS, injected="instructions")),)


def hook_pieces(text: str, notes: Sequence[str]) -> list[MessagePiece]:
    """What the program notes with a message, and what hooks of the user add to it, marked as theirs."""
    added = (("notes", "instructions", "\n".join(notes)), ("hooks", "hook", text))
    parts = [(name, Text(clear(words, TextSource.OTHER), injected=mark)) for name, mark, words in added if words]
    return [MessagePiece(Layer.SYSTEM, name, part) for name, part in parts]


_KNOWLEDGE_INSTRUCTIONS = (
    "Answer from what is recalled here: it comes from files that the user added. After each statement name its source "
    "in square brackets, as file and place. Where the files do not say it, say so; do not fill in from elsewhere."
)
