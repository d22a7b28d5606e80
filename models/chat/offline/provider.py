"""No language model at all: answers by quoting what the request holds, and says so.

It quotes the request's Recalled parts first, then what is in view anyway (earlier turns, hot memory), since memory
does not recall what is in view. Questions about the program are answered from the request's facts.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence

from foundation.text.dates.spans import without_dates
from foundation.text.sentences import request_end
from models.chat.offline import facts as offline_facts
from models.chat.offline.phrases import (
    LanguagePhrases,
    asks,
    asks_summary,
    greets,
    phrases_for,
    summarised,
    tells_to_remember,
    without_greeting,
)
from models.chat.offline.quotes import Quote, QuoteSource, best_quotes, further_quotes, section_start
from models.chat.offline.sources import (
    attached_files,
    describe_files,
    instead_of_summary,
    recalled_sources,
    request_sources,
    text_below,
    with_lines,
    without_names,
)
from models.chat.port import AnswerEnd, Event, Profile, StopReason, TextChunk, with_window
from models.messages import Fact, Request, Role, Text, Usage
from models.settings import ModelSettings
from models.tokens import Estimate, request_tokens

_PIECE = re.compile(
    r"[^\s\u3040-\u9fff\uff00-\uffef]*\s+|[\u3040-\u9fff\uff00-\uffef]{1,6}|[^\s\u3040-\u9fff\uff00-\uffef]+|\s+"
)
MOST_OTHERS = 5  # further passages
OTHER_CHARS = 100  # of a line of theirs
ANSWERS = 0.5  # of what is asked, by worth: below it, a quote is called near


class Offline:
    """The ChatModel that is always available."""

    def __init__(self, settings: ModelSettings) -> None:
        self._profile = Profile(
            spec="offline", name="offline", window=settings.window or 8192, window_known=True, remote=False
        )
        self._counter = Estimate()

    @property
    def profile(self) -> Profile:
        return self._profile

    @property
    def counter(self) -> Estimate:
        return self._counter

    async def prepare(self) -> Profile:
        return self._profile

    def learn_window(self, window: int, *, stated: bool = True) -> None:
        self._profile = with_window(self._profile, window, stated=stated)

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        return self._stream(request)

    async def _stream(self, request: Request) -> AsyncGenerator[Event, None]:
        text = answer(request, (offline_facts.window(self._profile.window, request.max_tokens),))
        for piece in _PIECE.findall(text):
            yield TextChunk(piece)
            await asyncio.sleep(0)
        prompt = request_tokens(request, self._counter)
        yield Usage(prompt, self._counter.count(text), estimated=True)
        yield AnswerEnd(StopReason.STOP)

    async def close(self) -> None:
        return None


def answer(request: Request, facts: Sequence[Fact] = ()) -> str:
    """The whole answer, Markdown. Each quoted line (`> …`) is a verbatim piece of the request.

    `facts`: what is true of the model itself, beside the request's own facts.
    """
    question_text = _question(request)
    question = without_greeting(question_text) or question_text
    words = phrases_for(question_text)
    if skill := _called_skill(request):
        return words.skill.format(name=skill)
    recalled = recalled_sources(request)
    files = attached_files(request.messages[-1]) if request.messages else []
    question = without_names(question, files)
    first_line = question.strip().partition("\n")[0]
    first_words = phrases_for(first_line)  # in the request's language, not the text's
    below = text_below(question, first_words.your_text)
    if below and asks_summary(first_line):
        return instead_of_summary([*files, below], first_words)
    if below:
        question, words = first_line, first_words
        recalled = [QuoteSource(below.text, f"[{below.name}]", document=True, listed=False), *recalled]
    if files and asks_summary(question):
        return instead_of_summary(files, words)
    if topic := summarised(question):
        return _section(topic, [*(QuoteSource(file.text, file.name) for file in files), *recalled], words)
    sought = question[request_end(question) :]
    if any(part.is_dated for part in request.recalled):  # what is of the date need not name it
        sought = without_dates(sought)
    quotes = [with_lines(quote, request.notes) for quote in best_quotes(sought, [*recalled, *request_sources(request)])]
    firm = [quote for quote in quotes if not quote.weak and (asks(question) or not quote.source.superseded)]
    known = offline_facts.is_of_life(question) and any(quote.share >= ANSWERS for quote in firm)
    matching_facts = [] if files or known else offline_facts.matching(question, (*request.facts, *facts))
    if matching_facts or files:
        own = (
            [describe_files(question, files, words)]
            if files
            else _facts(matching_facts, greeted=without_greeting(question_text) != question_text, words=words)
        )
        quoted = {passage.cited for file in files for passage in file.passages}
        sure = [
            quote for quote in firm if quote.overlap > 1 and quote.share >= ANSWERS and quote.source.cited not in quoted
        ]
        return "\n\n".join([*own, _quoted(words.quoting, question, sure, recalled, words)] if sure else own)
    return _from_quotes(question_text, question, firm, recalled, words)


def _from_quotes(
    text: str, question: str, quotes: list[Quote], recalled: list[QuoteSource], words: LanguagePhrases
) -> str:
    """Quotes where any is good enough; else the sentence for a greeting, a statement, or a question without answer."""
    if greets(text) and not quotes:
        return f"{words.greeting}\n\n{words.what_to_do}"
    if tells_to_remember(question) or (not asks(question) and not any(quote.overlap > 1 for quote in quotes)):
        return words.kept
    if quotes:
        answers = max(quote.share for quote in quotes) >= ANSWERS
        return _quoted(words.quoting if answers else words.nearest, question, quotes, recalled, words)
    return f"{words.nothing}\n\n{words.what_to_do}"


def _facts(facts: Sequence[Fact], *, greeted: bool, words: LanguagePhrases) -> list[str]:
    return [*([words.greeting] if greeted else []), *(fact.text for fact in facts), words.fact_note]


def _section(topic: str, recalled: list[QuoteSource], words: LanguagePhrases) -> str:
    """How the section on a topic begins; where there is none, which passages there are."""
    if quote := section_start(topic, recalled):
        return _quoted(words.section, topic, [quote], [], words)
    if recalled:
        cited = dict.fromkeys(source.cited for source in recalled)
        return "\n\n".join([words.no_summary, "\n".join(f"- {words.citation(one)}" for one in list(cited)[:5])])
    return f"{words.nothing}\n\n{words.what_to_do}"


def _called_skill(request: Request) -> str:
    """The name of the skill that the message calls by a command: with no words of its own, or with words to it."""
    parts = request.messages[-1].parts if request.messages else ()
    bodies = [part.text for part in parts if isinstance(part, Text) and part.injected == "skill"]
    return bodies[0].partition("\n")[0] if bodies else ""


def _quoted(
    opening: str, question: str, quotes: list[Quote], recalled: list[QuoteSource], words: LanguagePhrases
) -> str:
    shown = [opening]
    for quote in quotes:
        shown.append("\n>\n".join(f"> {line}" for line in quote.lines))
        shown.append(f"— {words.citation(quote.source.cited)}")
    if others := further_quotes(question, quotes, recalled, most=MOST_OTHERS):
        shown.append(
            "\n".join(
                [
                    words.more,
                    "",
                    *(f"- “{_cut(quote.lines[0])}” — {words.citation(quote.source.cited)}" for quote in others),
                ]
            )
        )
    return "\n\n".join(shown)


def _cut(line: str) -> str:
    """The line up to a whole word of its first characters."""
    if len(line) <= OTHER_CHARS:
        return line
    return f"{line[:OTHER_CHARS].rsplit(' ', 1)[0]} …"


def _question(request: Request) -> str:
    """The last user's own words, without injected parts."""
    for message in reversed(request.messages):
        if message.role is Role.USER:
            return "\n".join(part.text for part in message.parts if isinstance(part, Text) and not part.injected)
    return ""
