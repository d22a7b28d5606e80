"""A long conversation before a model that sees: what pages in view cost, and how much of the past they keep in view.

    python -m benchmarks.resident locomo10.json [--window 32768] [--model Qwen3-VL-8B] [--share 0.15] [--json]

The sessions of a file in LoCoMo's format (see benchmarks.corpora), as one conversation: two turns a request,
sent as a session does, recall off, so that only what stands for the past differs. `all` is what sending everything
would take, whatever the window. Tokens are estimates (models.tokens), pictures by the model's rule.

`in view` is the share of all that was said so far whose words the model has before it, as turns or on pages, in %,
averaged over the requests after the first compaction; `pages` and `stand for` are the averages of those requests.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

from msgspec import Struct

from benchmarks.corpora import read_corpus
from context import AssembledRequest, Context, ContextSettings, Turn
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.memory import Memory
from memory.pages.cost.profiles import profile_for
from memory.records import EntryDraft, EntryKind
from models.chat.openai.probe import image_rule
from models.chat.port import ImageRule, Profile
from models.messages import Role
from models.tokens import Estimate, estimate


class Sent(Struct, frozen=True):
    """One request, in tokens: all of it, what was ever said, what of that is before the model, and its pages."""

    total: int
    said: int
    in_turns: int
    on_pages: int
    pages: int
    page_tokens: int
    seconds: float
    compacted: bool


def pairs(path: Path) -> Iterator[tuple[str, str]]:
    """Question and answer, two turns of the file at a time."""
    for store in read_corpus(path).stores:
        said = [f"{turn.speaker}: {turn.text}" for turn in store.turns]
        yield from zip(said[::2], said[1::2], strict=False)


def conversation(path: Path, profile: Profile, share: float) -> list[Sent]:
    """Every request of the conversation."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        memory = Memory.open(workspace, read_only=False)
        settings = ContextSettings(recall=False, vision_share=share)
        context = Context(workspace, memory, settings, SystemClock())
        sent = [*_sent(pairs(path), memory, context, profile)]
        memory.close()
    return sent


def _sent(said: Iterator[tuple[str, str]], memory: Memory, context: Context, profile: Profile) -> Iterator[Sent]:
    held = memory.cold.new_conversation(clear("LoCoMo"))
    counter, leaf, words = Estimate(), None, 0

    def append(role: Role, text: str, parent: int | None) -> int:
        draft = EntryDraft(conversation=held.seq, parent=parent, kind=EntryKind.MESSAGE, role=role, text=clear(text))
        return memory.cold.append(draft).seq

    for question, answer in said:
        entry = append(Role.USER, question, leaf)
        began = time.perf_counter()
        turn = Turn(conversation=held, leaf=leaf, entry=entry, text=question)
        assembled = context.assemble(turn, profile, counter)
        compacted = assembled.compaction is not None
        if assembled.compaction:
            receipt = context.compact(assembled.compaction, counter)
            turn = Turn(conversation=held, leaf=receipt.summary_seq or leaf, entry=entry, text=question)
            assembled = context.assemble(turn, profile, counter)
        context.record(held, memory.cold.entry(entry), assembled)
        words += estimate(question)
        yield _figures(assembled, words, time.perf_counter() - began, compacted=compacted)
        words += estimate(answer)
        newest = memory.cold.conversation_at(held.seq).leaf if compacted else entry
        leaf = append(Role.ASSISTANT, answer, newest)


def _figures(assembled: AssembledRequest, said: int, seconds: float, *, compacted: bool) -> Sent:
    request, shown = assembled.request, assembled.report.pages
    in_turns = sum(estimate(message.text) for message in request.messages[request.zones[1] :])
    return Sent(
        assembled.report.total_tokens,
        said,
        in_turns,
        shown.stands_for if shown else 0,
        shown.count if shown else 0,
        shown.tokens if shown else 0,
        seconds,
        compacted,
    )


def summed_up(sent: list[Sent]) -> dict[str, float]:
    """The figures of one way of standing for the past."""
    first = next((n for n, one in enumerate(sent) if one.compacted), len(sent) - 1)
    later = sent[first:]
    return {
        "requests": len(sent),
        "prompt tokens": sum(one.total for one in sent),
        "a request": round(mean(one.total for one in later)),
        "compactions": sum(one.compacted for one in sent),
        "in view %": round(100 * mean(min(1.0, (one.in_turns + one.on_pages) / one.said) for one in later), 1),
        "pages": round(mean(one.pages for one in later), 1),
        "their tokens": round(mean(one.page_tokens for one in later)),
        "stand for": round(mean(one.on_pages for one in later)),
        "ms to assemble": round(1000 * sorted(one.seconds for one in sent)[len(sent) // 2], 1),
        "ms to compact": round(1000 * mean([one.seconds for one in sent if one.compacted] or [0.0]), 0),
    }


def measured(path: Path, model: str, window: int, share: float) -> dict[str, dict[str, float]]:
    rule = image_rule(model)
    if profile_for(rule, model) is None:
        raise SystemExit(f"no render profile for {model}")
    profile = Profile(spec=f"openai:{model}", name=model, window=window, images=rule)
    blind = Profile(spec=f"openai:{model}", name=model, window=window, images=ImageRule.NONE)
    pages = conversation(path, profile, share)
    figures = {"pages": summed_up(pages), "summaries": summed_up(conversation(path, blind, share))}
    everything = {"requests": len(pages), "prompt tokens": sum(one.said for one in pages), "in view %": 100.0}
    return {"all": {**everything, "a request": round(mean(one.said for one in pages))}, **figures}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=Path, help="a file in LoCoMo's format")
    parser.add_argument("--window", type=int, default=32_768)
    parser.add_argument("--model", default="Qwen3-VL-8B")
    parser.add_argument("--share", type=float, default=ContextSettings().vision_share, help="context.vision_share")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    figures = measured(given.locomo, given.model, given.window, given.share)
    if given.json:
        found = {
            "benchmark": "resident",
            "model": given.model,
            "window": given.window,
            "share": given.share,
            "figures": figures,
        }
        json.dump({"schema": 1, **found}, sys.stdout)
        return
    names = list(figures["pages"])
    print(f"{given.model}, window {given.window:,}, at most {given.share:.0%} of a request for pages")
    print("".join(f"{name:>15}" for name in ["", *names]))
    for name, values in figures.items():
        print("".join(f"{cell:>15}" for cell in [name, *(values.get(key, "") for key in names)]))


if __name__ == "__main__":
    main()
