"""Errors of a request in three sentences: what, where, what to do. Pure: statuses and bodies in, `AnswerError` out."""

import re
from typing import Any, Final, cast
from urllib.parse import urlsplit

from msgspec import Struct

from foundation.bounded_json import BadJson, load_json
from foundation.program import PROGRAM, own_command
from foundation.shell_words import command_line
from models.chat.overflow import is_overflow, overflow_figures
from models.chat.port import AnswerError
from models.chat.spec import is_near, service_at
from models.limits import StreamLimitExceeded

_NO_MODEL = re.compile(
    r"model.{0,80}(not found|does not exist|not loaded)|no models? loaded|no such model|invalid model", re.I
)
_NO_TOOLS = re.compile(  # vLLM, Ollama, llama.cpp, OpenRouter, Groq, OpenAI, DeepSeek, Gemini, Mistral, pydantic's
    r"does(n't| not) (yet )?support (native )?(tools?\b|tool[ _-]?(use|call\w*|choice)|function[ _-]?call\w*)"
    r"|[`'\"]?\b(tools?|tool[ _-]?(use|call\w*|choice)|function[ _-]?call\w*)[`'\"]? "
    r"(is|are|was)(n't| not) (currently )?(supported|enabled|available|allowed)"
    r"|tool choice requires|tools? (param|parameter) requires|tool_choice (param|parameter) requires"
    r"|un(supported|known|recognized|expected) (\w+ )?(param\w*|arguments?|fields?|keys?)( supplied)?:? ?[`'\"]?tool"
    r"|endpoints? found that support (tool use|.{0,40}tool_choice)|tools_not_enabled|no support for tools"
    r"|extra (inputs|fields) .{0,40}(permitted|allowed).{0,80}tool|tool.{0,80}extra (inputs|fields)",
    re.IGNORECASE | re.DOTALL,
)
_FAILURES = frozenset({"server_error", "api_error", "overloaded_error", "unavailable_error"})
_TOOLS_ERRORS = frozenset({0, 400, 404, 405, 422, 500, 501})
_LOADING = re.compile(r"loading model|model is loading", re.IGNORECASE)
_WORD_FIELDS: Final = ("message", "msg", "error_msg", "detail", "error", "errors")
MAX_ERRORS: Final = 5  # of a list
RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504, 529})


class Endpoint(Struct, frozen=True):
    """The server of a request, as the error sentences name it."""

    provider: str
    model: str
    address: str
    key_variable: str = ""
    key: str = ""  # never shown: see `shown`

    def __str__(self) -> str:
        return f"`{self.model}` at {self.address}"

    def __repr__(self) -> str:
        return f"Endpoint({self})"

    def shown(self, text: str) -> str:
        """Another's words for an error sentence: one short line without the key."""
        if len(self.key) >= SHORTEST_KEY:
            text = text.replace(self.key, f"[{self.key_variable or 'key'}]")
        return shorten(text)


class AttemptFailed(Exception):
    """A failed attempt. `after` is the server's Retry-After, in seconds."""

    def __init__(
        self, failed: AnswerError, *, retry: bool = False, after: float | None = None, loading: bool = False
    ) -> None:
        super().__init__(failed.message)
        self.failed = failed
        self.retry = retry
        self.after = after
        self.loading = loading


SHORTEST_KEY: Final = 6  # characters: a shorter one would be found in other words
KEPT: Final = "The partial answer is saved."
_START = {
    "ollama": "Start it with `ollama serve`, then /retry. /model lists other models.",
    "lmstudio": "Start LM Studio's server (Developer, Start server), then /retry. /model lists other models.",
    "llamacpp": "Start it with `llama-server -m MODEL.gguf --port {port}`, then /retry. /model lists other models.",
}
_EXAMPLE: Final = "openai:NAME@http://HOST:PORT/v1."
_OUTSIDE: Final = "Check the network and the address, then /retry. /model lists other models."


def refused_error(endpoint: Endpoint, detail: str) -> AnswerError:
    hint = _OUTSIDE
    if is_near(endpoint.address):
        hint = _START.get(endpoint.provider, "Start the server, then /retry. Or use another address: " + _EXAMPLE)
        hint = hint.format(port=urlsplit(endpoint.address).port or 80)
    return AnswerError(
        "refused", "No connection", f"No server is running at {endpoint.address} ({endpoint.shown(detail)}).", hint
    )


def timeout_error(endpoint: Endpoint, phase: str, seconds: float) -> AnswerError:
    sentences = {
        "connect": (
            "The server cannot be reached",
            f"{endpoint.address} did not accept a connection within {seconds:g} s.",
        ),
        "first": ("No response", f"{endpoint} sent nothing for {seconds:g} s."),
        "stall": (
            "The answer stalled",
            f"{endpoint} stopped in the middle of the answer and sent nothing for {seconds:g} s.",
        ),
        "quiet": ("The answer stalled", f"{endpoint} sent only keep-alives for {seconds:g} s."),
    }
    hints = {
        "connect": "Check that the server is running and the address is correct, then /retry."
        if is_near(endpoint.address)
        else _OUTSIDE,
        "first": "A long prompt takes a while on a slow machine. Raise models.first_byte_timeout, or /compact.",
        "stall": f"{KEPT} Use /retry to try again, or raise models.stall_timeout.",
        "quiet": f"{KEPT} Use /retry to try again, or raise models.first_byte_timeout and models.stall_timeout.",
    }
    title, message = sentences[phase]
    return AnswerError("timed_out", title, message, hints[phase])


def truncated_error(endpoint: Endpoint, detail: str = "") -> AnswerError:
    why = f" ({endpoint.shown(detail)})" if detail else ""
    return AnswerError(
        "cut_off",
        "The answer was cut off",
        f"The connection to {endpoint} closed before the answer was complete{why}.",
        f"{KEPT} Use /retry to try again. If it happens again, check the server's log: it may have run out of memory.",
    )


def limit_error(endpoint: Endpoint, excess: StreamLimitExceeded) -> AnswerError:
    setting = f"models.limits.{excess.setting}"
    return AnswerError(
        "too_much",
        "The server sent too much data",
        f"{endpoint} was stopped: {excess.subject} exceeds the limit of {excess.limit} ({setting}).",
        f"{KEPT} If you trust this server, raise the limit: {PROGRAM} config set {setting} NUMBER",
    )


def broken_off_error(endpoint: Endpoint, reason: str) -> AnswerError:
    """The error of an answer that ended for a reason that is no end: `reason` is the server's own word."""
    detail = f": {endpoint.shown(reason)}"
    return _unfit_request(endpoint, reason, detail, reason, 0) or AnswerError(
        "cut_off",
        "The answer was cut off",
        f"{endpoint} ended it without finishing (finish reason `{endpoint.shown(reason)}`).",
        f"{KEPT} Use /retry to try again. If it happens again, check the server's log.",
    )


def require_end(endpoint: Endpoint, has_ended: object, broken_reason: str) -> None:
    """Raises AttemptFailed for an answer that gave no reason for its end, or one that is no end."""
    if broken_reason:
        failed = broken_off_error(endpoint, broken_reason)
        raise AttemptFailed(failed, retry=failed.code == "cut_off")
    if not has_ended:
        raise AttemptFailed(truncated_error(endpoint), retry=True)


def unusable_key_error(endpoint: Endpoint) -> AnswerError:
    return AnswerError(
        "unauthorised",
        "The key cannot be sent",
        f"The key in {endpoint.key_variable} contains characters that are not allowed in an HTTP header, so nothing "
        "was sent.",
        "Copy the key again (plain letters, digits and signs, on one line), set it and restart.",
    )


def invalid_json_error(endpoint: Endpoint, excerpt: str, why: str = "") -> AnswerError:
    reason = f" ({endpoint.shown(why)})" if why else ""
    return AnswerError(
        "not_json",
        "This is not a model server",
        f"{endpoint} answered with something that cannot be read as JSON{reason}: "
        f"{endpoint.shown(excerpt) or 'nothing at all'}",
        "Check the address: an OpenAI-compatible API is usually under /v1. A proxy may have answered instead.",
    )


def error_from_status(endpoint: Endpoint, status: int, body: bytes, after: float | None = None) -> AttemptFailed:
    """The error for an HTTP status and its body."""
    code, message = parse_error_body(body)
    loading = status == 503 and _LOADING.search(message) is not None
    failed = error_from_body(endpoint, message, code=code, status=status)
    if failed.code == "rate_limited" and after is not None:
        failed = AnswerError(
            failed.code, failed.title, f"{ended(failed.message)} It asks to wait {after:g} s.", failed.hint
        )
    settled = failed.code in {"too_large", "no_model", "unauthorised", "no_tools"} or "insufficient_quota" in code
    garbled = "tool_use_failed" in f"{code} {message}"  # Groq: the model wrote a call that cannot be read
    return AttemptFailed(failed, retry=(status in RETRIED or garbled) and not settled, after=after, loading=loading)


def error_from_body(endpoint: Endpoint, message: str, *, code: str = "", status: int = 0) -> AnswerError:
    """The error for an error object's message, code and HTTP status (0 within a stream)."""
    words = f"{code} {message}"
    detail = f": {endpoint.shown(message)}" if message else "."
    if failed := _unfit_request(endpoint, words, detail, code, status):
        return failed
    if status in {401, 403} or "authentication" in code or "permission" in code or code == "invalid_api_key":
        return _unauthorised(endpoint, status)
    if status == 404 or "model_not_found" in code or (status in {0, 400} and _NO_MODEL.search(words)):
        return AnswerError(
            "no_model",
            "Model not found",
            f"{endpoint.address} has no model `{endpoint.model}`{detail}",
            _pull(endpoint) + f"`{PROGRAM} models list` lists its models.",
        )
    if status == 429 or "rate_limit" in code or "insufficient_quota" in code:
        return AnswerError(
            "rate_limited",
            "Rate limit reached",
            f"{endpoint} is not accepting requests right now{detail}",
            "Wait a moment, then /retry.",
        )
    is_refusal = not status and ("invalid_request" in code or "bad_request" in code)
    if status >= 500 or code in _FAILURES or (status == 0 and not is_refusal):
        title = "The server is overloaded" if status == 529 or code == "overloaded_error" else "The server failed"
        number = f" with status {status}" if status else ""
        return AnswerError(
            "server_error",
            title,
            f"{endpoint} failed{number}{detail}",
            "Use /retry to try again. If it keeps failing, check the server's log.",
        )
    answer = f"answered with status {status}" if status else "refused it"
    return AnswerError(
        "bad_request",
        "The server refused the request",
        f"{endpoint} {answer}{detail}",
        "The model may not support tools or images, or its chat template may be broken.",
    )


def _unfit_request(endpoint: Endpoint, words: str, detail: str, code: str, status: int) -> AnswerError | None:
    """The error of a request that is too long, or has tools that the server does not take; None for any other."""
    if status == 413 or is_overflow(words) or (status in {0, 400} and "exceed_context" in code):
        return AnswerError(
            "too_large",
            "Too long for the model",
            f"The request does not fit {endpoint}{detail}",
            "/compact archives older turns. Or start the server with a larger context.",
            overflow_figures(words),
        )
    if status in _TOOLS_ERRORS and _NO_TOOLS.search(words):
        return AnswerError(
            "no_tools",
            "Tools are not supported",
            f"{endpoint} does not accept tools{detail}",
            "Set models.tool_calls to text to call tools in text, or models.tools to false to offer none.",
        )
    return None


def _unauthorised(endpoint: Endpoint, status: int) -> AnswerError:
    answer = f" (status {status})" if status else ""
    variable = endpoint.key_variable or "PALIMPSEST_OPENAI_KEY"
    return AnswerError(
        "unauthorised",
        "The key was not accepted",
        f"{endpoint} rejected the key, or no key was sent{answer}.",
        f"`{own_command('keys', 'set', service_at(endpoint.address) or 'SERVICE')}` stores another "
        f"(k in /model, too), then /retry. Or set {variable} in the environment.",
    )


def _pull(endpoint: Endpoint) -> str:
    return f"`{command_line('ollama', 'pull', endpoint.model)}` downloads it. " if endpoint.provider == "ollama" else ""


def parse_error_body(body: bytes) -> tuple[str, str]:
    """(code or type, message) of an error body: JSON of one of the usual shapes, or plain text."""
    text = body.decode("utf-8", "replace")
    try:
        value: object = load_json(text)
    except BadJson:
        return "", re.sub(r"<[^>]*>", " ", text)
    return find_error(value) or ("", text)


def find_error(value: object) -> tuple[str, str] | None:
    """Returns the codes and the server's words of an error object; None for JSON that holds no such words."""
    if isinstance(value, list) and value:  # Gemini answers with a list of one error
        return find_error(cast("list[object]", value)[0])
    if not isinstance(value, dict):
        return None
    given = cast("dict[str, Any]", value)
    error: object = given.get("error")
    holder = cast("dict[str, Any]", error) if isinstance(error, dict) else given
    message = _words(holder) or str(given.get("error") or "")
    codes = [str(holder[key]) for key in ("type", "code") if isinstance(holder.get(key), str)]
    return (" ".join(codes), message + _llama_figures(holder)) if message else None


def _words(value: object) -> str:
    """The words of an error in the shapes in use, among them FastAPI's list of {"loc": […], "msg": …}."""
    if isinstance(value, list):
        return "; ".join(filter(None, map(_words, cast("list[object]", value)[:MAX_ERRORS])))
    if not isinstance(value, dict):
        return value if isinstance(value, str) else ""
    given = cast("dict[str, Any]", value)
    words = next(filter(None, (_words(given.get(key)) for key in _WORD_FIELDS)), "")
    field = cast("list[object]", given.get("loc")) if isinstance(given.get("loc"), list) else []
    return f"{'.'.join(map(str, field))}: {words}" if words and field else words


def _llama_figures(error: dict[str, Any]) -> str:
    """The figures of an overflow that llama.cpp gives beside a message without them."""
    figures = [f"{key} {error[key]}" for key in ("n_prompt_tokens", "n_ctx") if isinstance(error.get(key), int)]
    return f" ({', '.join(figures)})" if figures and not re.search(r"\d", str(error.get("message"))) else ""


def ended(sentence: str) -> str:
    """Adds a full stop to a sentence without a closing mark. Servers often send none."""
    return sentence if sentence.endswith((".", "!", "?", "…", "。")) else f"{sentence}."


def shorten(text: str, most: int = 240) -> str:
    """One line of at most `most` characters."""
    line = " ".join(text[: 20 * most].split())  # the rest of a long text is not looked at
    return line if len(line) <= most else line[: most - 1] + "…"
