"""Tags, tokens, labels and quotes in which models write calls: the table that candidate.py reads by."""

import re
from typing import Final

from models.chat.text_tools.written_call import TEXT_QUOTES

_NAMESPACE: Final = r"(?:\w{1,20}:|[|｜]\w{1,12}[|｜])?"  # `minimax:`, `｜DSML｜`
_WRAPPERS: Final = "|".join(
    (
        *("tool_?calls?", "function_calls?", "functions?", "tools?", "invoke", "parameter", "arg_value", "s"),
        "(?:start|end)_function_(?:call|response)",  # FunctionGemma
    )
)
_ITEMS: Final = "function|invoke|tool_call|tool|call"
CALL_TAGS: Final = ("tool_calls", "toolcall", "function_calls", "invoke", "start_function_call", "|", "｜")
"""Tags that only calls have, for an answer that breaks off in one."""

TAG_BEGUN: Final = re.compile(r"</?(?:\w{1,20}:)?(?P<name>[|｜]|\w{3,})")

LABELS: Final = ("Action:", "Action Input:", "call:", "functools[")
"""Words before the name or the arguments of a call: ReAct, Gemma, Phi."""

NOISE: Final = re.compile(
    rf"\s+|[,;]|<[|｜]/?[^<>|｜\n]{{1,60}}[|｜]>|<[|｜]/?\w{{1,40}}>|<\w{{1,40}}[|｜]>|</?{_NAMESPACE}(?:{_WRAPPERS})>"
    r"|\[/?TOOL_CALLS\]|\[ARGS\]|\[CALL_ID\]\w{1,64}"
    r"|(?:`{3,}|~{3,}) ?(?:json5?|tool_calls?|tool_code|tools?|xml)?[ \t]*(?=\n|$)",
    re.IGNORECASE,
)
UNFINISHED: Final = re.compile(
    r"</?[|｜][^<>\n]{0,62}|</?[\w:-]{0,60}[|｜]?|\[[A-Z_/]{0,12}|\[CALL_ID\]\w{0,64}"
    r"|(?:`{1,12}|~{1,12}) ?\w{0,12}[ \t]*",
    re.IGNORECASE,
)
"""What may become noise or a tag with more text."""

LABEL: Final = re.compile(r"Action(?: Input)?:|call:|functools(?=\[)")
ITEM: Final = re.compile(
    rf"<{_NAMESPACE}(?:{_ITEMS})(?:=|\s+(?:name|tool)\s*=\s*)[\"']?(?P<name>[\w.:-]{{1,80}})[\"']?"
    r"(?:\s+(?:arguments|parameters|args)\s*=\s*(?:'(?P<single>[^']*)'|\"(?P<double>[^\"<>']{0,100})\"))?\s{0,20}/?>"
)
ITEM_BEGUN: Final = re.compile(rf"<{_NAMESPACE}(?:{_ITEMS})[=\s][^<>']{{0,250}}(?:'[^']*'?\s{{0,20}}/?)?")
NAMED_TAG: Final = re.compile(r"<(?P<close>/?)(?P<name>[\w.-]{1,80})>")
"""A tag that may be called as a tool is, or as one of its fields."""

PARAMETER: Final = re.compile(
    rf"<(?P<tag>{_NAMESPACE}parameter)(?:=|\s+name\s*=\s*)[\"']?(?P<key>[\w.-]{{1,80}})[\"']?(?:\s[^<>]{{0,100}})?>"
    r"|<arg_key>(?P<arg_key>[^<>]{1,80})</arg_key>\s*<(?P<arg_tag>arg_value)>"
)
PARAMETER_BEGUN: Final = re.compile(rf"<{_NAMESPACE}(?:parameter[=\s]|arg_key>)")
CALLERS: Final = ("print", "functions", "tools", "default_api")
"""Names before the name of a tool."""

NAME: Final = re.compile(r"(?:to=)?(?:(?:functions?|tools?|default_api)\.)?(?P<name>[\w-]{1,80})(?::\d{1,3})?")
METHOD: Final = ".call("
"""What Llama writes between a name and its arguments."""

ROLES: Final = frozenset({"json", "assistant", "commentary", "analysis", "function", "code", "tool"})
FOLLOWS_NAME: Final = re.compile(r"[\s<\[{]")
STOPS: Final = {
    "": re.compile("|".join((r"[\[\](){}']", r'(?<!<\|)"', *map(re.escape, TEXT_QUOTES)))),
    '"': re.compile(r'["\\]'),
    "'": re.compile(r"['\\]"),
    **{quote: re.compile(re.escape(quote)) for quote in TEXT_QUOTES},
}
"""Where a value may end or change, by the quote that is open."""

MAX_QUOTE: Final = max(map(len, TEXT_QUOTES))
