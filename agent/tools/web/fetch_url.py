"""The tool `fetch_url`: a page of the web as Markdown. Off by default."""

import codecs
import re
import string
import time
import zlib
from collections.abc import Callable, Sequence
from email.message import Message
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote, urljoin, urlsplit

from msgspec import Struct

from agent.permissions.action import Access, Action
from agent.permissions.tool_facts import SubjectKind, declare_tool
from agent.tools.port import ToolFailure, ToolPurpose, ToolRun, ToolSettings, UsualTool, string_argument
from foundation.errors import PalimpsestError
from models.messages import Tool
from models.prompts import prompt

if TYPE_CHECKING:
    import httpcore2

MAX_HOPS: Final = 5
MAX_URL: Final = 2_000
_TEXT_TYPES: Final = re.compile(r"text/.*|application/(?:.*\+)?(?:json|xml|javascript|yaml|toml|x-sh|sql)|")
_HEADERS: Final = (
    (b"User-Agent", b"Palimpsest (fetch_url)"),
    (b"Accept", b"text/html, text/plain, application/pdf, application/json, */*;q=0.5"),
    (b"Accept-Encoding", b"gzip, identity"),
)
_UNRESERVED: Final = frozenset(f"{string.ascii_letters}{string.digits}-._~")
_REDIRECTS: Final = {301, 302, 303, 307, 308}


class FetchedPage(Struct, frozen=True):
    """The bytes of a page, its media type in lower case and its charset, "" where the server names none."""

    url: str
    body: bytes
    media_type: str
    charset: str = ""


class FetchUrl(UsualTool):
    """Reads one address by GET, without cookies, keys or a referrer."""

    purpose = ToolPurpose.WEB
    facts = declare_tool("fetch_url", Access.NETWORK, SubjectKind.ADDRESS, other_names=("WebFetch",))
    definition = Tool(
        facts.name,
        prompt("tools", facts.name),
        {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]},
    )

    def __init__(
        self, settings: ToolSettings, withheld: Callable[[Action], Callable[[str], bool]] | None = None
    ) -> None:
        """`withheld` gives the addresses that permission rules keep from an action (Policy.withheld)."""
        self._settings = settings
        self._withheld = withheld
        self._hosts = settings.fetch_hosts.split()
        self._private_hosts = settings.fetch_private_hosts.split()

    def action(self, arguments: dict[str, Any]) -> Action:
        url = self._checked(string_argument(arguments, "url").strip())
        return Action(tool=self.facts.name, access=self.facts.access, summary=f"fetch {url}", subject=url)

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        action = run.action or self.action(arguments)
        page = self._fetch(action.subject, run, self._withheld(action) if self._withheld else lambda _: False)
        return f"{page.url}\n\n{_text_of(page)}"

    def _checked(self, url: str) -> str:
        """The address without its fragment. Raises ToolFailure where it may not be fetched."""
        try:
            parts = urlsplit(url)
            host, _ = (parts.hostname or "").rstrip("."), parts.port  # the port is parsed at its first use
        except ValueError as error:
            raise ToolFailure("Not an address", f"{url[:200]} is no address: {error}.") from error
        if parts.scheme not in {"http", "https"} or not host or len(url) > MAX_URL or not url.isprintable():
            raise ToolFailure("Not an address", f"{url[:200]} is no address that begins with http:// or https://.")
        if parts.username is not None or parts.password is not None:
            raise ToolFailure("Not an address", "An address with a user or a password is not fetched.")
        if self._hosts and not _is_among(host, self._hosts):
            allowed = ", ".join(self._hosts)
            raise ToolFailure("Not allowed", f"{host} is not among the hosts of tools.fetch_hosts: {allowed}.")
        return parts._replace(path=_plain_path(parts.path), fragment="").geturl()

    def _fetch(self, url: str, run: ToolRun, is_withheld: Callable[[str], bool]) -> FetchedPage:
        """The page, after at most MAX_HOPS redirects, each checked as the first address is. Raises ToolFailure."""
        import httpcore2

        from agent.tools.web.guarded_backend import GuardedBackend

        deadline = time.monotonic() + self._settings.fetch_seconds
        backend = GuardedBackend(deadline, run.stopped, lambda host: _is_among(host.rstrip("."), self._private_hosts))
        try:
            with httpcore2.ConnectionPool(network_backend=backend, max_keepalive_connections=0) as pool:
                for _ in range(MAX_HOPS + 1):
                    with pool.stream("GET", _ascii(url), headers=list(_HEADERS)) as response:
                        if response.status not in _REDIRECTS:
                            return self._page(url, response)
                        location = _header(response, b"location")
                    before, url = url, self._checked(urljoin(url, location))
                    if is_withheld(url):
                        raise ToolFailure("Not allowed", f"{before} redirects to {url}, which a permission rule keeps.")
        except httpcore2.TimeoutException as error:
            raise ToolFailure("Too slow", f"{url}: nothing whole within {self._settings.fetch_seconds} s.") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol) as error:
            raise ToolFailure("Not reached", f"{url}: {error or type(error).__name__}.") from error
        except (UnicodeError, ValueError) as error:
            raise ToolFailure("Not reached", f"{url}: the answer is not understood: {error}.") from error
        raise ToolFailure("Not reached", f"{url}: more than {MAX_HOPS} redirects.")

    def _page(self, url: str, response: "httpcore2.Response") -> FetchedPage:
        kind = Message()
        kind["content-type"] = _header(response, b"content-type")
        body = self._body(url, response)
        if response.status >= 400:
            raise ToolFailure("Refused", f"{url}: status {response.status}.")
        named = kind.get_content_type() if kind["content-type"] else ""
        return FetchedPage(url, body, named, str(kind.get_param("charset") or ""))

    def _body(self, url: str, response: "httpcore2.Response") -> bytes:
        """The decompressed body. Raises ToolFailure where it is larger than `fetch_mb`."""
        most = self._settings.fetch_mb * 2**20
        encoding = _header(response, b"content-encoding").lower()
        if encoding not in {"", "identity", "gzip", "x-gzip"}:
            raise ToolFailure("Not readable", f"{url}: it is compressed as {encoding}, which was not asked for.")
        expand = zlib.decompressobj(31) if "gzip" in encoding else None
        body = bytearray()
        for piece in response.iter_stream():
            body += expand.decompress(piece, most + 1 - len(body)) if expand else piece
            if len(body) > most or (expand and expand.unconsumed_tail):
                raise ToolFailure("Too large", f"{url} is larger than {self._settings.fetch_mb} MB (tools.fetch_mb).")
        return bytes(body)


def _text_of(page: FetchedPage) -> str:
    """The page as text. Raises ToolFailure for what is no text."""
    from memory.knowledge.readers.html import decoded_html
    from memory.knowledge.readers.pdf import read_pdf
    from memory.knowledge.readers.text import decoded

    is_pdf = page.media_type == "application/pdf" or page.body.startswith(b"%PDF-")
    is_html = page.media_type in {"text/html", "application/xhtml+xml"}
    if not is_pdf and not is_html and not _TEXT_TYPES.fullmatch(page.media_type):
        raise ToolFailure("Not text", f"{page.url} is {page.media_type} of {len(page.body):,} bytes.")
    try:
        if is_pdf:
            return read_pdf(page.body, page.url, None).text
        text = _by_charset(page) or (decoded_html if is_html else decoded)(page.body).text
    except PalimpsestError as error:
        raise ToolFailure("Not readable", f"{page.url}: {error.message}") from error
    if not is_html:
        return text
    from agent.tools.web.html_markdown import html_to_markdown

    return html_to_markdown(text)


def _by_charset(page: FetchedPage) -> str:
    """The text by the charset that the server names; "" where it names none, or a wrong one."""
    try:
        return page.body.decode(codecs.lookup(page.charset).name) if page.charset else ""
    except (LookupError, UnicodeDecodeError):
        return ""


def _plain_path(path: str) -> str:
    """The path without `.` and `..`, and without escapes that stand for themselves: rules judge what a server would."""
    plain = re.sub(r"%[0-9A-Fa-f]{2}", lambda m: unquote(m[0]) if unquote(m[0]) in _UNRESERVED else m[0].upper(), path)
    kept: list[str] = []
    *folders, last = plain.split("/")
    for segment in folders:
        if segment == ".." and len(kept) > 1:
            kept.pop()
        elif segment not in {".", ".."}:
            kept.append(segment)
    if last == ".." and len(kept) > 1:
        kept.pop()
    return "/".join([*kept, "" if last in {".", ".."} else last])


def _header(response: "httpcore2.Response", name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in response.headers if key.lower() == name), "").strip()


def _ascii(url: str) -> str:
    """The address in ASCII: the host by IDNA, the rest percent-encoded."""
    parts = urlsplit(url)
    host = (
        (parts.hostname or "").encode("idna").decode() if ":" not in (parts.hostname or "") else f"[{parts.hostname}]"
    )
    port = f":{parts.port}" if parts.port else ""
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    return parts._replace(netloc=host + port, path=path, query=quote(parts.query, safe="/%?:@!$&'()*+,;=~-._")).geturl()


def _is_among(host: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern names the host: `example.org`, or `*.example.org` for the hosts below it."""
    return any(fnmatchcase(host.casefold(), pattern.casefold()) for pattern in patterns)
