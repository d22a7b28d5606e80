"""What a secret looks like: rules in the manner of gitleaks (MIT), written anew, a keyword before each pattern.

A token rule begins at its keyword, holds no white space, and ends where its alphabet does. What has no form of its own
(`api_key = "…"`) is judged by the name before it and by the entropy of what follows.
"""

import math
import re
from collections import Counter

from msgspec import Struct


class TokenRule(Struct, frozen=True):
    """`keyword` is the literal with which the token begins, or that stands `back` characters at most into it.

    Where the pattern has a group `secret`, that is what is taken out; else all of it.
    """

    name: str
    keyword: str
    pattern: re.Pattern[str]
    back: int = 0


_END = r"(?![A-Za-z0-9_-])"


def _rule(name: str, keyword: str, pattern: str, *, back: int = 0, end: str = _END) -> TokenRule:
    return TokenRule(name, keyword, re.compile(rf"(?<![A-Za-z0-9_]){pattern}{end}"), back)


TOKEN_RULES = (
    *(_rule("aws-access-key", four, rf"{four}[A-Z2-7]{{16}}") for four in ("AKIA", "ASIA", "ABIA", "ACCA")),
    *(_rule("github-token", f"gh{kind}_", rf"gh{kind}_[A-Za-z0-9]{{36,251}}") for kind in "ousr"),
    _rule("github-pat", "ghp_", r"ghp_[A-Za-z0-9]{36,251}"),
    _rule("github-fine-grained-pat", "github_pat_", r"github_pat_[A-Za-z0-9_]{50,120}"),
    *(
        _rule("gitlab-token", f"gl{kind}-", rf"gl{kind}-[A-Za-z0-9_.=-]{{20,320}}")
        for kind in ("pat", "dt", "rt", "cbt", "ptt", "ft", "imt", "agent", "oas", "soat")
    ),
    _rule("slack-token", "xox", r"xox[abeoprs](?:[.-][A-Za-z0-9-]{10,250})+"),
    _rule("slack-token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{20,250}"),
    _rule(
        "slack-webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{30,80}"
    ),
    *(_rule("stripe-key", f"{kind}k_", rf"{kind}k_(?:live|test|prod)_[A-Za-z0-9]{{10,200}}") for kind in "sr"),
    _rule("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,80}={0,2}"),
    _rule("anthropic-key", "sk-ant-", r"sk-ant-[a-z]+\d{2}-[A-Za-z0-9_-]{20,200}"),
    _rule("openrouter-key", "sk-or-", r"sk-or-(?:v\d-)?[A-Za-z0-9]{32,128}"),
    _rule("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,250}"),
    _rule("openai-key", "sk-", r"sk-(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{32,128}"),
    _rule("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,60}"),
    _rule("huggingface-token", "api_org_", r"api_org_[A-Za-z0-9]{30,60}"),
    _rule("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,80}"),
    _rule("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,120}"),
    _rule("replicate-token", "r8_", r"r8_[A-Za-z0-9]{30,60}"),
    _rule("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,80}"),
    _rule("google-api-key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
    _rule("google-oauth-secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{24,40}"),
    _rule("google-access-token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,1500}"),
    _rule("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{14,1500}\.eyJ[A-Za-z0-9_-]{14,3000}\.[A-Za-z0-9_-]{10,1500}", end=""),
    _rule("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _rule("pypi-token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{50,1000}"),
    _rule("rubygems-token", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    _rule("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}"),
    _rule("mailgun-key", "key-", r"key-[a-f0-9]{32}"),
    _rule("twilio-key", "SK", r"SK[a-f0-9]{32}"),
    _rule("telegram-bot-token", ":AA", r"\d{8,10}:AA[A-Za-z0-9_-]{32,33}", back=10),
    *(_rule("digitalocean-token", f"do{kind}_v1_", rf"do{kind}_v1_[a-f0-9]{{64}}") for kind in "opr"),
    _rule("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,60}"),
    _rule("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    _rule("shopify-token", "shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _rule("square-token", "EAAA", r"EAAA[A-Za-z0-9_-]{60}"),
    _rule("square-token", "sq0", r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,60}"),
    _rule("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{40}"),
    _rule("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,60}"),
    _rule("vault-token", "hvs.", r"hvs\.[A-Za-z0-9_-]{24,200}"),
    _rule("age-secret-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _rule("tailscale-key", "tskey-", r"tskey-[a-z]+-[A-Za-z0-9]{10,40}-[A-Za-z0-9]{20,60}"),
    _rule(
        "url-password",
        "://",
        r"[A-Za-z][A-Za-z0-9+.]{1,14}://[A-Za-z0-9._%+-]{0,64}:(?P<secret>[A-Za-z0-9._%+!$&*=-]{6,128})(?=@)",
        back=15,
        end="",
    ),
)
"""In the order in which they are tried at one place."""

_NAME = re.compile(
    r"(?:(?:access|auth|bearer|api|client|private|secret|session|refresh|encryption|signing|account|storage|bot|app)"
    r"[ _.-]?(?:key|token|secret|pass(?:word)?)|secret|token|passw(?:or)?d|passphrase|passwd|pwd|credentials?"
    r"|api[ _-]?key|authorization)[A-Za-z0-9_.-]{0,20}[\"'`\])]{0,2}\s?\Z",
    re.IGNORECASE,
)
NAMED_VALUE = re.compile(
    r"[=:]=?>?[ \t]{0,4}(?:(?:[bB]earer|[bB]asic|[tT]oken)[ \t]{1,2})?[\"'`]?"
    r"(?P<value>[A-Za-z0-9][A-Za-z0-9_.+/-]{9,999}={0,2})(?![A-Za-z0-9_.+/-])"
)
LONGEST_NAME = 64  # characters before the sign that are looked at
GENERIC = "generic-api-key"

_STOP_WORDS = re.compile(
    r"example|sample|placeholder|changeme|change[_-]me|your[_-]|my[_-]?(?:secret|token|key|pass)|redacted|dummy|test[_-]"
    r"|xxxx|\*\*\*|0000000|1234567890|abcdef|password|secret[_-]?key|undefined|environ|getenv|process\.|settings\."
    r"|config\.|self\.|\.get|localhost|https?:|true|false|none|null",
    re.IGNORECASE,
)
_ONE_WORD = re.compile(r"[A-Za-z]+|[a-z]+(?:[-_./][a-z]+)+|\d+(?:[.:/-]\d+)*")
_OUR_MARK = re.compile(r"\[secret: [a-z-]+\][\"'`)\]]{0,2}\s?\Z")  # its name ends like a secret's own


def is_named_secret(name_before: str, value: str) -> bool:
    """Whether what is called this (the text just before the sign) and has this value is a secret.

    The entropy that gitleaks asks of its generic rule is 3.5 bits a character; short values, whose entropy is bounded
    by their length (10 characters: 3.3 bits), must come nine tenths as near to it as they can.
    """
    if not _NAME.search(name_before) or _OUR_MARK.search(name_before):
        return False
    if _ONE_WORD.fullmatch(value) or _STOP_WORDS.search(value):
        return False
    if not any(letter.isdigit() for letter in value):
        return False
    return entropy(value) >= min(3.5, 0.9 * math.log2(len(value)))


def entropy(text: str) -> float:
    """Shannon's, in bits a character."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
