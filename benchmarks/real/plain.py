"""Plain messages: each is answered by the product and, if that answer breaks a rule, by the bare model too.

The bare model gets the user's messages alone, with the sampling that the product sent.
"""

import json
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.real.product import Outcome, Product
from benchmarks.real.proxy import Recorder
from benchmarks.real.rules import Asked, as_plain, broken, prompt_of

MESSAGES = Path(__file__).with_name("messages")
SAMPLING = ("temperature", "top_p", "top_k", "min_p", "repeat_penalty", "frequency_penalty", "presence_penalty", "seed")
ACROSS = 7  # a step that takes messages of all kinds and both languages, whatever the limit


def load(part: str, half: str, limit: int) -> list[dict[str, Any]]:
    """The messages of one half, `dev` or `held-out`; with a limit, spread over all of them."""
    rows = json.loads((MESSAGES / f"{part}-{half}.json").read_text("utf-8"))
    if not limit:
        return rows
    spread = [rows[n * ACROSS % len(rows)] for n in range(len(rows))]
    return spread[:limit]


def run(product: Product, recorder: Recorder, folder: Path, half: str, limit: int) -> list[dict[str, Any]]:
    """A row a message: what was answered, the rules broken, and those that count against the product."""
    workspace = product.workspace("plain")
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    rows: list[dict[str, Any]] = []
    for item in load("plain", half, limit):
        copy = product.copy(workspace)
        for number, text in enumerate(item["turns"]):
            last = product.send(copy, text, empty, *(["--continue"] if number else []))
        rows.append(judged(item, last, recorder, half))
        if half == "dev":
            print(line(rows[-1]), file=sys.stderr, flush=True)
    return rows


def judged(item: dict[str, Any], last: Outcome, recorder: Recorder, half: str) -> dict[str, Any]:
    asked = Asked(item["turns"], item["language"], item.get("code", False), item.get("unknown", False))
    request = last.exchanges[0].request if last.exchanges else {"messages": []}
    rules = broken(last.text, asked, prompt_of(request, item["turns"]), failed=last.status == "failed")
    bare, bare_rules = "", list[str]()
    if rules:
        bare = bare_answer(recorder, item["turns"], request)
        bare_rules = broken(bare, asked)
    first = last.exchanges[0] if last.exchanges else None
    return {
        "id": item["id"],
        "language": "zh" if any("\u3400" <= c <= "\u9fff" for c in item["turns"][0]) else "en",
        "half": half,
        "text": item["turns"][-1],
        "answer": last.text,
        "error": last.error,
        "called": bool(last.calls),
        "calls": [call.name for call in last.calls],
        "rules": rules,
        "bare": bare,
        "bare_rules": bare_rules,
        "against": as_plain(rules, bare_rules),
        "prompt_tokens": (first.cached_tokens or 0) + (first.read_tokens or 0) if first else None,
        "read_tokens": first.read_tokens if first else None,
        "first_s": first.first_s if first else None,
        "seconds": last.seconds,
    }


def bare_answer(recorder: Recorder, turns: Sequence[str], request: dict[str, Any]) -> str:
    """The model's own answer to the last of the turns, each sent as a user message and nothing else."""
    sampling = {name: request[name] for name in SAMPLING if name in request}
    messages: list[dict[str, str]] = []
    for text in turns:
        messages.append({"role": "user", "content": text})
        answer = complete(recorder, messages, **sampling)
        messages.append({"role": "assistant", "content": answer})
    return messages[-1]["content"]


def complete(recorder: Recorder, messages: Sequence[dict[str, str]], **more: Any) -> str:
    body = json.dumps({"model": "bare", "messages": list(messages), **more}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{recorder.address}/v1/chat/completions", body, headers)
    with urllib.request.urlopen(request, timeout=3600) as reply:
        return json.loads(reply.read())["choices"][0]["message"]["content"] or ""


def shown(row: dict[str, Any]) -> str:
    """The beginning of the answer, or why there is none."""
    return repr(row["answer"][:100]) + (f" ({row['error']})" if row["error"] else "")


def line(row: dict[str, Any]) -> str:
    mark = "ok " if not row["against"] else "BAD"
    rules = ",".join(row["against"] or [f"({rule})" for rule in row["rules"]])
    calls = f" calls {','.join(row['calls'])}" if row["calls"] else ""
    return f"{mark} {row['seconds']:5.0f} s {rules:16} {row['text'][:40]!r} -> {shown(row)}{calls}"
