"""Makes foundation/privacy/data/gitleaks_rules.json anew from a configuration of gitleaks.

    python -m scripts.gitleaks_rules gitleaks.toml VERSION

Rules that begin with a literal become token rules, rules for a value beside a service's name become named rules. What
fits neither is left out; the file says which and why. Go's syntax is rewritten where Python's differs.
"""

import argparse
import json
import re
import tomllib
from itertools import product
from pathlib import Path
from re import _constants as op  # pyright: ignore -- private: it holds the opcodes
from re import _parser as parser  # pyright: ignore -- private: it parses a pattern

from foundation.privacy import secret_rules

TARGET = Path(secret_rules.__file__).parent / "data" / "gitleaks_rules.json"
NAME_BEGINS = r"[\w.-]{0,50}?(?:"
NAME_ENDS = r""")(?:[ \t\w.-]{0,20})[\s'"]{0,3}"""
VALUE_BEGINS = r"""[\x60'"\s=]{0,5}("""
VALUE_ENDS = r""")(?:[\x60'"\s;]|\\[nr]|$)"""
LONGEST = 5000
ENDINGS = (
    r"""(?:[\x60'"\s;]|\\[nr]|$|\b)""",
    r"""(?:[\x60'"\s;]|\\[nr]|$)""",
    r"(?:[^\w-]|\z)",
    r"(?:[^a-zA-Z0-9+/]|\z)",
    r"\b",
)
BY_HAND = {  # rules whose literal is not at the beginning, or too short to look for, are in secret_rules or left out
    "azure-ad-client-secret": "its literal stands within: secret_rules has it",
    "hashicorp-tf-api-token": "its literal stands within: secret_rules has it",
    "maxmind-license-key": "its literal stands at the end: secret_rules has it",
    "microsoft-teams-webhook": "its literal stands within: secret_rules has it",
    "slack-webhook-url": "it may begin with a scheme: secret_rules has it",
    "sidekiq-sensitive-url": "a password in an address: secret_rules has it",
    "sourcegraph-access-token": "one of its forms is any 40 hexadecimal digits: secret_rules has the others",
    "vault-service-token": "one of its forms is any word after `s.`: secret_rules has the other",
    "facebook-access-token": "it begins with digits alone",
    "curl-auth-header": "it looks for a command line: named_secrets does that",
    "curl-auth-user": "it looks for a command line: named_secrets does that",
    "freemius-secret-key": "for one kind of file: named_secrets knows the name",
    "generic-api-key": "named_secrets does that",
    "hashicorp-tf-password": "named_secrets does that",
    "kubernetes-secret-yaml": "for one kind of file; what it holds in base64 is looked into",
    "nuget-config-password": "for one kind of file: named_secrets knows the element",
    "pkcs12-file": "it has no pattern",
    "private-key": "private_tags takes key blocks out",
}


def in_python(regex: str) -> str:
    """The pattern in Python's syntax, without an upper bound left open."""
    ignore_case = regex.startswith("(?i)")
    regex = regex.removeprefix("(?i)").replace("[[:alnum:]]", "[A-Za-z0-9]").replace(r"\z", r"\Z")
    while "(?i)" in regex:  # from there to the end of its group
        head, _, tail = regex.partition("(?i)")
        end = group_end(tail)
        regex = f"{head}(?i:{tail[:end]}){tail[end:]}"
    regex = re.sub(r"\{(\d+),\}", lambda least: f"{{{least[1]},{max(1500, int(least[1]) * 10)}}}", regex)
    regex = re.sub(r"(?<=[\])dwA-Z])\+(?=[-)(\[\\]|\Z)", "{1,250}", regex)
    regex = re.sub(r"(?<=[\]])\*(?=[-)(]|\Z)", "{0,250}", regex)
    return f"(?i:{regex})" if ignore_case else regex


def group_end(tail: str) -> int:
    depth, index, in_class = 0, 0, False
    while index < len(tail):
        match tail[index]:
            case "\\":
                index += 1
            case "[":
                in_class = True
            case "]":
                in_class = False
            case "(" if not in_class:
                depth += 1
            case ")" if not in_class:
                depth -= 1
                if depth < 0:
                    return index
        index += 1
    return index


def core(regex: str) -> tuple[str, bool]:
    """The token itself, and whether a word must begin with it."""
    ignore_case = regex.startswith("(?i)")
    regex = regex.removeprefix("(?i)")
    bound = regex.startswith(r"\b")
    regex = regex.removeprefix(r"\b")
    for ending in ENDINGS:
        regex = regex.removesuffix(ending)
    return ("(?i)" if ignore_case else "") + regex, bound


def prefixes(pattern: str) -> list[str]:
    """The literals with which a match begins, in the case that the pattern is written in."""
    return sorted(set(_literals(list(parser.parse(pattern)))))


def _literals(items: list) -> list[str]:
    """Every way in which the items begin, as long as they are literal."""
    literals = [""]
    for kind, value in items:
        match kind:
            case op.LITERAL:
                alternatives = [chr(value)]
            case op.IN if len(value) <= 4 and all(item[0] is op.LITERAL for item in value):
                alternatives = [chr(item[1]) for item in value]
            case op.SUBPATTERN:
                alternatives = _literals(list(value[3]))
                if not _whole(list(value[3])):
                    return [a + b for a, b in product(literals, alternatives)]
            case op.BRANCH:
                alternatives = [alternative for branch in value[1] for alternative in _literals(list(branch))]
                if not all(_whole(list(branch)) for branch in value[1]):
                    return [a + b for a, b in product(literals, alternatives)]
            case _:
                return literals
        literals = [a + b for a, b in product(literals, alternatives)]
    return literals


def _whole(items: list) -> bool:
    return all(
        kind is op.LITERAL
        or (kind is op.IN and len(value) <= 4 and all(one[0] is op.LITERAL for one in value))
        or (kind is op.SUBPATTERN and _whole(list(value[3])))
        or (kind is op.BRANCH and all(_whole(list(branch)) for branch in value[1]))
        for kind, value in items
    )


def convert(rule: dict, tokens: list, named: list, left_out: dict) -> None:
    name, regex, entropy = rule["id"], rule.get("regex", ""), rule.get("entropy", 0)
    if name in BY_HAND:
        left_out[name] = BY_HAND[name]
        return
    if NAME_ENDS in regex:
        service = regex[: regex.index(NAME_ENDS)].rpartition(NAME_BEGINS)[2]
        value = regex.partition(VALUE_BEGINS)[2]
        value = value[: value.index(VALUE_ENDS)]
        named.append({"id": name, "name": in_python(service), "value": in_python(value), "entropy": entropy})
        return
    token, bound = core(regex)
    pattern = in_python(token)
    literals = prefixes(pattern)
    width = re.compile(pattern) and parser.parse(pattern).getwidth()
    if min(map(len, literals)) < 2 or width[1] > LONGEST:
        left_out[name] = f"no literal to look for first, or no bound: {literals} {width}"
        return
    tokens.append({"id": name, "begins": literals, "pattern": pattern, "entropy": entropy, "bound": bound})


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("config", type=Path)
    arguments.add_argument("version")
    given = arguments.parse_args()
    tokens: list = []
    named: list = []
    left_out: dict = {}
    for rule in tomllib.loads(given.config.read_text("utf-8"))["rules"]:
        convert(rule, tokens, named, left_out)
    data = {"gitleaks": given.version, "tokens": tokens, "named": named, "left_out": left_out}
    TARGET.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"{len(tokens)} token rules, {len(named)} named rules, {len(left_out)} left out")


if __name__ == "__main__":
    main()
