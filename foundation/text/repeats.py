"""Repeated sentences of a text, as a model in a loop writes them: “Bees. Bees. Bees.”"""

from foundation.text.sentences import sentences

_LONG = 20  # characters: a sentence so long is said once, a shorter one may answer again
_ENDS = (".", "!", "?", "…", "。", "！", "？", "”", '"', "」", ")", "）")


def without_repeats(text: str) -> str:
    """The text without sentences that stand in it before, ` …` in place of each run of them. A short sentence is left
    out only right behind itself; lines without a final mark, as code has them, stay."""
    seen, last, kept, end = set[str](), "", list[str](), 0
    for sentence in sentences(text):
        key = " ".join(sentence.text.split()).casefold()
        is_repeat = key.endswith(_ENDS) and (key == last or (len(key) >= _LONG and key in seen))
        last = key
        seen.add(key)
        if is_repeat:
            if kept and not kept[-1].endswith(" …"):
                kept.append(" …")
        else:
            kept.append(text[end : sentence.end])
        end = sentence.end
    return "".join((*kept, text[end:])) if " …" in kept else text
