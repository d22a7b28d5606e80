"""Rules for tokens: our own, and those of gitleaks (data/gitleaks_rules.json).

A rule begins at its keyword, holds no white space, and ends where its alphabet does. What has no form of its own
(`api_key = "…"`) is found by its name: `foundation.privacy.named_secrets`.
"""

import re
from functools import cache
from importlib import resources

import msgspec
from msgspec import Struct

GITLEAKS = "data/gitleaks_rules.json"


class TokenRule(Struct, frozen=True):
    """`keyword` is the literal at the token's beginning, or `back` characters (least, most) into it.

    `end` must follow, or another token. `attached`: it may stand directly after a letter. Where the pattern has a group
    `secret`, that is what is taken out; else all of it. `least`: bits of entropy a character.
    """

    name: str
    keyword: str
    pattern: str
    end: str
    back: tuple[int, int] = (0, 0)
    attached: bool = False
    least: float = 0.0
    encoded: bool = False  # what it finds is base64, and must be looked into

    @property
    def begins_at_keyword(self) -> bool:
        """Whether what is taken out begins at the keyword."""
        return self.back == (0, 0) and "(?P<secret>" not in self.pattern


class GitleaksTokenRule(Struct, frozen=True):
    id: str
    begins: tuple[str, ...]
    pattern: str
    entropy: float
    bound: bool


class GitleaksNamedRule(Struct, frozen=True):
    """A value next to a service's name."""

    id: str
    name: str
    value: str
    entropy: float


class GitleaksRules(Struct, frozen=True):
    """The rules that gitleaks has, as `scripts.gitleaks_rules` made them."""

    gitleaks: str
    tokens: tuple[GitleaksTokenRule, ...]
    named: tuple[GitleaksNamedRule, ...]
    left_out: dict[str, str]


_ANSI = "|".join(rf"(?<=\[[0-9;]{{{length}}}m)" for length in range(20))
_ESCAPED = (  # `\n`, `\u0022`, `\x1b`, `%3D`, quoted-printable's `=3D`, a colour's `[0;32m`
    rf"(?<=\\[ntrbfv0])|(?<=\\u[0-9a-fA-F]{{4}})|(?<=\\x[0-9a-fA-F]{{2}})|(?<=[%=][0-9a-fA-F]{{2}})|(?<=%25[0-9a-fA-F]{{2}})|(?<=m)(?:{_ANSI})"
)
BEGIN = rf"(?:(?<![A-Za-z0-9])|{_ESCAPED})"  # an underscore may stand beside a token: Markdown's italics, a name
_END = r"(?![A-Za-z0-9])"
_DISTINCTIVE = re.compile(r"(?=.{5}).*[_.~-]|[A-Za-z0-9]{3}[_.~-]|AKIA|ASIA|AIza")


def _rule(
    name: str,
    keyword: str,
    pattern: str,
    *,
    back: tuple[int, int] = (0, 0),
    begin: str = BEGIN,
    end: str = _END,
    attached: bool | None = None,
) -> TokenRule:
    if attached is None:
        attached = back == (0, 0) and (not begin or _DISTINCTIVE.match(keyword) is not None)
    return TokenRule(name, keyword, ("" if attached else begin) + f"(?:{pattern})", end, back, attached)


@cache
def gitleaks_rules() -> GitleaksRules:
    data = resources.files("foundation.privacy").joinpath(GITLEAKS).read_bytes()
    return msgspec.json.decode(data, type=GitleaksRules)


def _stands_alone(rule: GitleaksTokenRule, keyword: str) -> bool:
    """Whether a token is known by its keyword even directly after a letter."""
    return _DISTINCTIVE.match(keyword) is not None or (not rule.bound and len(keyword) >= 4)


def _on_a_line(rule: GitleaksTokenRule) -> str:
    """The pattern without line ends: broken tokens are joined before they are matched."""
    return rule.pattern.replace(r"\r\n", "")


@cache
def token_rules() -> tuple[TokenRule, ...]:
    """Every rule, ours first, in the order in which they are tried at one place."""
    theirs = (
        TokenRule(
            rule.id,
            keyword,
            ("" if _stands_alone(rule, keyword) else BEGIN)
            + _NOT_IN_BASE64.get(keyword, "")
            + f"(?:{_on_a_line(rule)})",
            _NO_BASE64_END if keyword in _NOT_IN_BASE64 else _END,
            attached=_stands_alone(rule, keyword),
            least=rule.entropy,
        )
        for rule in gitleaks_rules().tokens
        for keyword in rule.begins
        if (rule.id, keyword) not in _OURS_INSTEAD
    )
    return (*OWN_RULES, *theirs)


_NOT_IN_BASE64 = {"EAAA": r"(?<![+/])"}  # zeros in base64 begin so
_NO_BASE64_END = r"(?![A-Za-z0-9+/=])"
_OURS_INSTEAD = frozenset(("aws-access-token", four) for four in ("AKIA", "ASIA", "ABIA", "ACCA"))  # but for examples
OWN_RULES = (
    *(
        _rule("aws-access-key", four, rf"{four}(?![A-Z2-7]{{9}}EXAMPLE)[A-Z2-7]{{16}}")
        for four in ("AKIA", "ASIA", "ABIA", "ACCA")
    ),
    *(_rule("github-token", f"gh{kind}_", rf"gh{kind}_[A-Za-z0-9]{{36,251}}") for kind in "ousr"),
    _rule("github-pat", "ghp_", r"ghp_[A-Za-z0-9]{36,251}"),
    _rule("github-fine-grained-pat", "github_pat_", r"github_pat_[A-Za-z0-9_]{50,120}"),
    *(
        _rule("gitlab-token", f"gl{kind}-", rf"gl{kind}-[A-Za-z0-9_.=-]{{20,320}}")
        for kind in ("pat", "dt", "rt", "cbt", "ptt", "ft", "imt", "agent", "oas", "soat")
    ),
    _rule("slack-token", "xox", r"xox[a-eoprs](?:[.-][A-Za-z0-9-]{10,250})+", attached=True),
    _rule("slack-token", "xoxd-", r"xoxd-[A-Za-z0-9%+/=_-]{20,600}"),
    _rule("slack-token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{20,250}"),
    _rule(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com\\?/(?:services|workflows|triggers)\\?/[A-Za-z0-9+/\\]{30,80}",
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
    _rule("telegram-bot-token", ":AA", r"\d{8,10}:AA[A-Za-z0-9_-]{32,33}", back=(8, 10)),
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
    _rule("azure-ad-client-secret", "Q~", r"(?<=[a-zA-Z0-9_~.]{3})\dQ~[a-zA-Z0-9_~.-]{31,34}", back=(1, 1), begin=""),
    _rule("hashicorp-tf-api-token", ".atlasv1.", r"(?<=[A-Za-z0-9]{14})\.atlasv1\.[A-Za-z0-9_=-]{60,70}", begin=""),
    _rule("maxmind-license-key", "_mmk", r"(?<=[A-Za-z0-9]{6}_)[A-Za-z0-9]{29}_mmk", back=(29, 29), begin=""),
    _rule("mailchimp-key", "-us", r"[a-f0-9]{32}-us\d{1,2}", back=(32, 32)),
    _rule(
        "microsoft-teams-webhook",
        ".webhook.office.com/",
        r"\.webhook\.office\.com/webhookb2/[a-z0-9@-]{40,100}/IncomingWebhook/[a-z0-9]{32}/[a-z0-9-]{36}",
        begin="",
    ),
    *(
        _rule("sourcegraph-access-token", "sgp_", rf"sgp_{form}[a-fA-F0-9]{{40}}")
        for form in ("", r"[a-zA-Z0-9]{5,16}_")
    ),
    _rule("elevenlabs-key", "sk_", r"sk_[a-f0-9]{48}"),
    _rule("nvidia-key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{40,100}"),
    _rule("tavily-key", "tvly-", r"tvly-(?:[a-z]{3,6}-)?[A-Za-z0-9-]{20,60}"),
    _rule("langsmith-key", "lsv2_", r"lsv2_[a-z]{2}_[a-f0-9]{32}_[a-f0-9]{10}"),
    _rule("langsmith-key", "ls__", r"ls__[a-f0-9]{32}"),
    _rule("langfuse-key", "sk-lf-", r"sk-lf-[a-f0-9-]{36}"),
    _rule("bedrock-key", "ABSK", r"ABSK[A-Za-z0-9+/]{80,300}={0,2}"),
    _rule("bedrock-key", "bedrock-api-key-", r"bedrock-api-key-[A-Za-z0-9+/=_-]{20,2000}"),
    _rule("supabase-key", "sbp_", r"sbp_[a-f0-9]{40}"),
    _rule("supabase-key", "sb_secret_", r"sb_secret_[A-Za-z0-9_-]{20,60}"),
    _rule("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{30,60}"),
    *(_rule("new-relic-key", word, rf"{word}[A-Za-z0-9-]{{19,40}}") for word in ("NRAK-", "NRII-", "NRIQ-", "NRJS-")),
    _rule("typeform-token", "tfp_", r"tfp_[A-Za-z0-9_.=-]{40,70}"),
    _rule("mapbox-token", "sk.eyJ", r"sk\.eyJ[A-Za-z0-9_-]{20,300}\.[A-Za-z0-9_-]{10,60}"),
    _rule("twilio-key", "SK", r"SK[a-f0-9]{32}"),
    *(_rule("sonar-token", f"sq{kind}_", rf"sq{kind}_[a-f0-9]{{40}}") for kind in "upa"),
    _rule("cerebras-key", "csk-", r"csk-[a-z0-9]{40,60}"),
    _rule("firecrawl-key", "fc-", r"fc-[a-f0-9]{32}"),
    _rule("e2b-key", "e2b_", r"e2b_[a-f0-9]{40}"),
    _rule("jina-key", "jina_", r"jina_[a-f0-9]{32}[A-Za-z0-9_-]{20,40}"),
    _rule("pinecone-key", "pcsk_", r"pcsk_[A-Za-z0-9_]{40,100}"),
    _rule("together-key", "tgp_v1_", r"tgp_v1_[A-Za-z0-9_-]{30,60}"),
    _rule("render-key", "rnd_", r"rnd_(?=[A-Za-z]*\d)[A-Za-z0-9]{20,60}"),
    _rule("resend-key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,40}"),
    _rule("neon-key", "napi_", r"napi_[a-z0-9]{40,80}"),
    _rule("runpod-key", "rpa_", r"rpa_[A-Z0-9]{36,60}"),
    _rule("vercel-token", "vercel_blob_rw_", r"vercel_blob_rw_[A-Za-z0-9_]{20,80}"),
    _rule("hubspot-token", "pat-", r"pat-(?:na|eu)\d-[a-f0-9-]{36}"),
    _rule("mailersend-key", "mlsn.", r"mlsn\.[a-f0-9]{60,70}"),
    _rule("brevo-key", "xsmtpsib-", r"xsmtpsib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _rule("buildkite-token", "bkua_", r"bkua_[a-f0-9]{40}"),
    _rule("circleci-token", "CCIPAT_", r"CCIPAT_[A-Za-z0-9]{16,30}_[a-f0-9]{40}"),
    _rule("contentful-token", "CFPAT-", r"CFPAT-[A-Za-z0-9_-]{40,50}"),
    _rule("posthog-key", "phx_", r"phx_[A-Za-z0-9]{40,60}"),
    _rule("dropbox-token", "sl.", r"sl\.(?:[Bu]\.)?[A-Za-z0-9_=-]{130,1500}"),
    _rule(
        "url-password",
        "://",
        r"[A-Za-z][A-Za-z0-9+.]{1,14}://[A-Za-z0-9._%+-]{0,64}:(?!(?i:pass(?:word|wd|wort)?|pwd|wachtwoord)@)"
        r"(?P<secret>[A-Za-z0-9._%+!$&*=~^,;:@-]{1,128}(?=@)"
        r"|(?!\d{1,5}[/?#])(?=[^@\s]{0,40}\d)(?=[^@\s]{0,40}[A-Z])[A-Za-z0-9._%+!$&*=~^,;:@#/?-]{6,64}(?=@[a-z]))",
        back=(2, 15),
        end="",
        attached=False,
    ),
)
"""In the order in which they are tried at one place."""
