"""What a secret looks like: rules in the manner of gitleaks (MIT), written anew, a keyword before each pattern.

A rule begins at its keyword, holds no white space, and ends where its alphabet does. What has no form of its own
(`api_key = "…"`) is found by its name: `foundation.privacy.named_secrets`.
"""

import re

from msgspec import Struct


class TokenRule(Struct, frozen=True):
    """`keyword` is the literal with which the token begins, or that stands `back` characters at most into it.

    Where the pattern has a group `secret`, that is what is taken out; else all of it.
    """

    name: str
    keyword: str
    pattern: re.Pattern[str]
    back: int = 0


BEGIN = r"(?<![A-Za-z0-9])"  # an underscore may stand beside a token: Markdown's italics, a name made with it
_END = r"(?![A-Za-z0-9])"


def _rule(name: str, keyword: str, pattern: str, *, back: int = 0, begin: str = BEGIN, end: str = _END) -> TokenRule:
    return TokenRule(name, keyword, re.compile(begin + pattern + end), back)


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
    *(  # the first part is a number in base64, whose digits can begin in these ways alone
        _rule("discord-token", two, rf"{two}[A-Za-z0-9_-]{{21,27}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,40}}")
        for two in ("MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT")
    ),
    _rule("discord-webhook", "/api/webhooks/", r"/api/webhooks/\d{17,20}/(?P<secret>[A-Za-z0-9_-]{60,90})", begin=""),
    _rule("grafana-token", "glsa_", r"glsa_[A-Za-z0-9]{20,40}_[a-fA-F0-9]{8}"),
    _rule("grafana-token", "glc_", r"glc_[A-Za-z0-9+/]{32,400}={0,2}"),
    *(_rule("atlassian-token", word, rf"{word}[A-Za-z0-9_=-]{{40,400}}") for word in ("ATATT", "ATCTT")),
    _rule("figma-token", "figd_", r"figd_[A-Za-z0-9_-]{20,200}"),
    *(_rule("docker-token", f"dckr_{kind}_", rf"dckr_{kind}_[A-Za-z0-9_-]{{20,80}}") for kind in ("pat", "oat")),
    *(
        _rule("planetscale-token", f"pscale_{kind}_", rf"pscale_{kind}_[A-Za-z0-9=._-]{{20,80}}")
        for kind in ("tkn", "oauth", "pw")
    ),
    _rule("pulumi-token", "pul-", r"pul-[a-f0-9]{40}"),
    _rule("sentry-token", "sntrys_", r"sntrys_[A-Za-z0-9+/=_-]{40,500}"),
    _rule("sentry-token", "sntryu_", r"sntryu_[a-f0-9]{40,64}"),
    _rule("heroku-key", "HRKU-", r"HRKU-[A-Za-z0-9_-]{30,80}"),
    _rule("fly-token", "fo1_", r"fo1_[A-Za-z0-9_-]{30,80}"),
    *(_rule("fly-token", word, rf"{word}[A-Za-z0-9+/_-]{{40,1500}}={{0,3}}") for word in ("fm1a_", "fm1r_", "fm2_")),
    _rule("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
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
        r"[A-Za-z][A-Za-z0-9+.]{1,14}://[A-Za-z0-9._%+-]{0,64}:(?P<secret>[A-Za-z0-9._%+!$&*=~^,;:-]{1,128})(?=@)",
        back=15,
        end="",
    ),
)
"""In the order in which they are tried at one place."""
