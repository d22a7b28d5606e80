"""Likelihood that a message makes an earlier one of the same speaker no longer hold.

    p = 1 / (1 + exp(−Σ weight · feature))

The features are what the two messages have in common (topics, Chinese characters, a possessed thing), what differs (a
value of one kind, a negation, names, persons, the modifier of a topic), the signs of change in the newer message, and
what speaks against a change (utterances.py).

A logistic regression over the dev half of benchmarks/corpora/contradictions_own.jsonl, over its messages in pairs that
do not belong together, over the pairs of tests/memory/search/results/contradicting_pairs.py, and over hits of one
speaker on pages of LoCoMo, which are taken to supersede nothing. docs/benchmarks.md has the figures.
"""

import math

from memory.search.results.utterances import Utterance

THRESHOLD = 0.4
"""Least likelihood at which a message supersedes another."""
_SHORT = 5  # topics of a message whose length says nothing
WEIGHTS = {
    "constant": -4.9,
    "shared": 2.68,
    "overlap": 0.55,
    "lead": -0.16,
    "old lead": -0.23,
    "modifier": -1.49,
    "related": 0.56,
    "relation": 1.3,
    "near": 0.72,
    "near end": 1.21,
    "common": -0.17,
    "several signs": -0.47,
    "value": -0.86,
    "signed value": 0.95,
    "close value": 1.14,
    "same value": -1.2,
    "restated": 0.24,
    "no value": -0.12,
    "denies": 0.57,
    "both rest": -0.03,
    "owned": 1.16,
    "self": 0.33,
    "names": 1.07,
    "same name": 0.43,
    "new person": -2.72,
    "old person": -1.35,
    "length": -2.17,
    "length before": -2.18,
    "unspaced": 0.9,
    "changed": 0.41,
    "ended": 0.52,
    "new": 0.07,
    "corrected": 0.43,
    "particle": -0.14,
    "added": -0.3,
    "said": -0.69,
    "heard": -1.39,
    "supposed": -1.29,
    "older": -0.7,
    "instructs": -1.46,
    "event": 0.29,
    "supposed before": -0.54,
    "event before": -1.1,
    "states before": 0.28,
}
"""In logits; most features are 0 or 1. `shared`, `length` and `length before` are logarithms of 1 + a count."""


def superseding_likelihood(new: Utterance, old: Utterance) -> float:
    """Likelihood, 0 to 1, that the newer message makes the older one no longer hold."""
    features = pair_features(new, old)
    if not features:
        return 0.0
    logit = sum(WEIGHTS[name] * value for name, value in features.items())
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, logit))))


def pair_features(new: Utterance, old: Utterance) -> dict[str, float]:
    """The features of a pair, by the names of WEIGHTS; none where nothing is in common or nothing has changed."""
    shared, characters, common = new.topics & old.topics, new.characters & old.characters, new.common & old.common
    related = not (new.topics - old.topics).isdisjoint(old.related)
    kinds = {kind for kind, _ in new.values - old.values} & {kind for kind, _ in old.values - new.values}
    same_kinds = {kind for kind, _ in new.values & old.values}
    restated = any(kind in same_kinds for kind, _ in new.values - old.values)
    relation = not new.relations.isdisjoint(old.relations)
    if not (shared or relation or characters or related or (common and kinds) or restated):
        return {}
    signs = new.signs
    if not (signs or kinds or new.denies != old.denies):
        return {}
    covered = {character for pair in shared for character in pair} if new.unspaced else set[str]()
    topic = (len(covered) + len(characters - covered) / 2) / 2 if new.unspaced else len(shared)
    near = not (shared | characters).isdisjoint(new.signed)
    overlap = min(1.0, len(shared) / max(1, min(len(new.topics), len(old.topics))))
    features = {
        "constant": 1.0,
        "shared": math.log1p(min(topic, 5)),
        "overlap": overlap,
        "lead": not (shared & new.lead).isdisjoint(old.lead),
        "old lead": not old.lead.isdisjoint(new.topics),
        "modifier": _modifier_differs(new, old, shared | common),
        "related": related,
        "relation": relation and "self" in old.cues,
        "near": near,
        "near end": near and "ended" in signs,
        "common": bool(common),
        "several signs": max(0, len(signs) - 1),
        "value": bool(kinds),
        "signed value": bool(kinds and signs),
        "close value": overlap * bool(kinds),
        "same value": bool(same_kinds),
        "restated": restated,
        "no value": bool(old.values) and not new.values,
        "denies": new.denies and not old.denies,
        "both rest": bool(new.topics - old.topics) and bool(old.topics - new.topics),
        "owned": bool(new.owned & old.owned),
        "self": "self" in new.cues and "self" in old.cues,
        "names": bool(new.names - old.names) and bool(old.names - new.names),
        "same name": bool(new.names & old.names),
        "new person": bool(new.people - old.people),
        "old person": bool(old.people - new.people),
        "length": _size(new),
        "length before": _size(old),
        "unspaced": new.unspaced,
    }
    features |= {cue: cue in new.cues for cue in (*_SIGNS, *_AGAINST)}
    features |= {f"{cue} before": cue in old.cues for cue in _CUES_BEFORE}
    return {name: float(value) for name, value in features.items()}


_SIGNS = ("changed", "ended", "new", "corrected")
_AGAINST = ("particle", "added", "said", "heard", "supposed", "older", "instructs", "event")
_CUES_BEFORE = ("supposed", "event", "states")


def _modifier_differs(new: Utterance, old: Utterance, shared: frozenset[str]) -> bool:
    """Whether a shared word has another word before it: “guest room”, “living room”."""
    return any(
        term in new.modifiers and term in old.modifiers and new.modifiers[term] != old.modifiers[term]
        for term in shared
    )


def _size(utterance: Utterance) -> float:
    return math.log1p(max(0, len(utterance.topics) / (2 if utterance.unspaced else 1) - _SHORT))
