"""Rules of retention: which one holds for a conversation, and what it does with it now. Pure."""

from fnmatch import fnmatchcase
from typing import Literal

from msgspec import Struct

from memory.records import ONE_SHOT, Conversation
from memory.settings import RetentionRule, RetentionSettings

Action = Literal["archive", "delete", "keep"]

DAY_MS = 86_400_000


class RuleDecision(Struct, frozen=True):
    """What a rule does with a conversation. `rule` counts from 1; 0 stands for the two settings that hold for the
    rest."""

    action: Action
    rule: int


def rules_of(settings: RetentionSettings) -> tuple[RetentionRule, ...]:
    """The rules in the order of their numbers: at 0 what holds for conversations that no other matches."""
    rest = RetentionRule(archive_days=settings.archive_days, delete_days=settings.delete_days)
    return (rest, *settings.rules)


def least_days(settings: RetentionSettings) -> int:
    """The shortest age at which a rule acts; 0 where none does."""
    return min(
        (days for rule in rules_of(settings) for days in (rule.archive_days, rule.delete_days) if days), default=0
    )


def matches(rule: RetentionRule, conversation: Conversation) -> bool:
    """Whether the conversation has the rule's kind, its label, and a title that fits its pattern."""
    if rule.label and rule.label not in conversation.labels:
        return False
    if rule.pattern and not fnmatchcase(conversation.title.casefold(), rule.pattern.casefold()):
        return False
    match rule.kind:
        case "any":
            return True
        case "import":
            return bool(conversation.source)
        case "one-shot":
            return not conversation.source and ONE_SHOT in conversation.labels
        case "chat":
            return not conversation.source and ONE_SHOT not in conversation.labels


def decide(
    conversation: Conversation, settings: RetentionSettings, idle_ms: int, *, has_text: bool, stays: bool = False
) -> RuleDecision:
    """What the first rule that matches does with a conversation that was idle for so long.

    `has_text`: some of its text is in the store, so that there is something to archive. `stays`: nothing is done.
    """
    rules = rules_of(settings)
    number = next((n for n, rule in enumerate(rules) if n and matches(rule, conversation)), 0)
    rule = rules[number]
    if stays:
        return RuleDecision("keep", number)
    if rule.delete_days and idle_ms >= rule.delete_days * DAY_MS:
        return RuleDecision("delete", number)
    if rule.archive_days and idle_ms >= rule.archive_days * DAY_MS and has_text:
        return RuleDecision("archive", number)
    return RuleDecision("keep", number)


def rule_words(rule: RetentionRule, *, is_rest: bool = False) -> str:
    """The rule in words: `one-shots with the label “trip”: archived after 90 days`."""
    kinds = {"any": "conversations", "chat": "chats", "one-shot": "one-shots", "import": "imports"}
    label = f" with the label “{rule.label}”" if rule.label else ""
    pattern = f" titled “{rule.pattern}”" if rule.pattern else ""
    which = "all others" if is_rest else f"{kinds[rule.kind]}{label}{pattern}"
    acts = [
        *([f"archived after {_days(rule.archive_days)}"] if rule.archive_days else []),
        *([f"deleted after {_days(rule.delete_days)}"] if rule.delete_days else []),
    ]
    return f"{which}: {', '.join(acts) or 'kept'}"


def _days(count: int) -> str:
    return f"{count:,} day{'' if count == 1 else 's'}"
