"""The hooks of a session: which run at an event, what they are given, and what their answers mean.

Exit status 0: standard output is JSON or, for SessionStart and UserPromptSubmit, text for the model. 2: PreToolUse
denies the call, PostToolUse tells the model; standard error is the reason. Any other status, and a hook that is late,
is reported and stops nothing.
"""

import os
import re
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct, structs

from agent.hooks.run import HookResult, run_hook
from agent.hooks.scripts import ANY_FILE, WRITE_LITERALLY, HookScripts, ScriptStore
from agent.hooks.settings import HookCommand, HookMatcher, HookSettings
from agent.permissions.tool_facts import facts_of
from agent.tools.commands.environment import command_environment
from agent.tools.registry import ToolOutput
from foundation.paths import config_dir
from foundation.privacy import TextSource, clear
from foundation.program import own_command
from foundation.typed_json import decode_json
from models.messages import ToolCall

END_SECONDS: Final = 10.0  # of a hook while the session closes
MAX_CONTEXT: Final = 4_000  # characters that one event adds to a request
_BLOCKED: Final = 2  # exit status

PERMISSION_MODES: Final = {"ask": "default", "edit": "acceptEdits", "read-only": "plan", "plan": "plan", "auto": "auto"}
"""Our permission modes, and Claude Code's names of the like."""


class HookVerdict(Struct, frozen=True):
    """What hooks decide on a tool call: "" where they leave it to the permissions. `context` is for the model."""

    decision: Literal["", "allow", "ask", "deny"] = ""
    reason: str = ""
    context: str = ""


class _Output(Struct, frozen=True):
    """The JSON that a hook prints."""

    class Specific(Struct, frozen=True, rename="camel"):
        permission_decision: str = ""
        permission_decision_reason: str = ""
        additional_context: str = ""

    decision: str = ""
    reason: str = ""
    systemMessage: str = ""
    additionalContext: str = ""
    hookSpecificOutput: Specific = Specific()


class SessionHooks:
    """Runs the hooks of a session. The methods block; call them off the event loop."""

    def __init__(
        self,
        settings: HookSettings,
        environment: Mapping[str, str],
        folder: Path,
        conversation: Callable[[], str],
        mode: Callable[[], str],
        *,
        others: Sequence[Path] = (),
    ) -> None:
        """`folder` is the project's, `others` are those of its further folders and the workspace. `conversation` gives
        its id, "" before its first message, `mode` our permission mode."""
        self._settings = settings
        self.scripts = HookScripts(settings, (folder, *others), ScriptStore(config_dir(environment)), environment)
        self._folder = folder
        names = {"CLAUDE_PROJECT_DIR": str(folder), "PALIMPSEST_PROJECT_DIR": str(folder)}
        no_caches = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": os.devnull}  # code that is not watched
        self._environment = command_environment(environment) | names | no_caches
        self._session = f"s_{secrets.token_hex(8)}"
        self._conversation = conversation
        self._mode = mode
        self._notices: list[str] = [
            f"The hook `{_line(command)}` may run any file and is disabled once one changes. {WRITE_LITERALLY}"
            for command in self.scripts.new_open_lines
        ]
        self._lock = threading.Lock()
        self._started: set[str] = set()  # conversations of this session

    def take_notices(self) -> tuple[str, ...]:
        """What hooks reported since the last call, a sentence each."""
        with self._lock:
            taken, self._notices = tuple(self._notices), []
        return taken

    def before_message(self, prompt: str) -> str:
        """SessionStart, before the first message of a conversation, then UserPromptSubmit; their text for the model."""
        conversation, texts = self._conversation(), list[str]()
        if conversation not in self._started:
            source = "resume" if conversation else "clear" if self._started else "startup"
            self._started |= {conversation} if conversation else set()
            texts.append(self._context("SessionStart", self._settings.session_start, {"source": source}, source))
        texts.append(self._context("UserPromptSubmit", self._settings.user_prompt_submit, {"prompt": clear(prompt)}))
        return "\n".join(filter(None, texts))  # each is bounded

    def note_conversation(self, conversation: str) -> None:
        """Takes the id of a conversation that began with a message: its SessionStart has run."""
        self._started.add(conversation)

    def before_tool(self, call: ToolCall, is_stopped: Callable[[], bool]) -> HookVerdict:
        """PreToolUse: deny outranks ask, and ask allow."""
        found: list[HookVerdict] = []
        for result in self._run("PreToolUse", self._settings.pre_tool_use, self._call(call), call.name, is_stopped):
            if result.exit == _BLOCKED:
                found.append(HookVerdict("deny", result.stderr or "A hook denies it."))
            elif output := self._parsed(result):
                specific = output.hookSpecificOutput
                legacy = {"block": "deny", "approve": "allow"}.get(output.decision, "")
                decision = specific.permission_decision or legacy
                reason = specific.permission_decision_reason or output.reason
                if decision in {"allow", "ask", "deny"}:
                    found.append(HookVerdict(decision, reason or f"A hook says {decision}."))  # pyright: ignore[reportArgumentType]  # one of the three
        ranks = {"deny": 0, "ask": 1, "allow": 2}
        return min(found, key=lambda verdict: ranks[verdict.decision], default=HookVerdict())

    def after_tool(self, call: ToolCall, output: ToolOutput, is_stopped: Callable[[], bool]) -> str:
        """PostToolUse: text for the model."""
        if not self._settings.post_tool_use:
            return ""
        response = {"content": clear(output.whole, TextSource.OTHER), "success": not output.failed}
        fields = self._call(call) | {"tool_response": response}
        texts: list[str] = []
        for result in self._run("PostToolUse", self._settings.post_tool_use, fields, call.name, is_stopped):
            if result.exit == _BLOCKED:
                texts.append(result.stderr)
            elif answer := self._parsed(result):
                texts.append(answer.hookSpecificOutput.additional_context or answer.additionalContext)
                texts.append(answer.reason if answer.decision == "block" else "")
        return _bounded(texts)

    def before_compaction(self, trigger: Literal["manual", "auto"]) -> None:
        """PreCompact."""
        fields = {"trigger": trigger, "custom_instructions": ""}
        self._report(self._run("PreCompact", self._settings.pre_compact, fields, trigger))

    def after_answer(self, answer: str) -> None:
        """Stop."""
        fields = {"stop_hook_active": False, "last_assistant_message": clear(answer, TextSource.OTHER)}
        self._report(self._run("Stop", self._settings.stop, fields))

    def end(self) -> None:
        """SessionEnd."""
        matchers = [
            structs.replace(
                matcher,
                hooks=tuple(structs.replace(hook, timeout=min(hook.timeout, END_SECONDS)) for hook in matcher.hooks),
            )
            for matcher in self._settings.session_end
        ]
        self._report(self._run("SessionEnd", matchers, {"reason": "other"}))

    def _context(
        self, event: str, matchers: Sequence[HookMatcher], fields: Mapping[str, Any], matched: str = ""
    ) -> str:
        """The text that the hooks of the event give the model."""
        texts: list[str] = []
        for result in self._run(event, matchers, fields, matched):
            if result.exit == _BLOCKED:
                self._note(f"A {event} hook objected, but the message is sent anyway: {_line(result.stderr)}")
            elif output := self._parsed(result):
                texts.append(output.hookSpecificOutput.additional_context or output.additionalContext)
            else:
                texts.append(result.stdout)
        return _bounded(texts)

    def _report(self, results: Sequence[HookResult]) -> None:
        for result in results:
            if result.exit == _BLOCKED and result.stderr:
                self._note(_line(result.stderr))
            self._parsed(result)

    def _run(
        self,
        event: str,
        matchers: Sequence[HookMatcher],
        fields: Mapping[str, Any],
        matched: str = "",
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> list[HookResult]:
        """The results of the hooks that exit with 0 or 2; the others are reported."""
        message = {
            "session_id": self._session,
            "conversation": self._conversation(),
            "transcript_path": "",
            "cwd": str(self._folder),
            "permission_mode": PERMISSION_MODES.get(self._mode(), "default"),
            "hook_event_name": event,
            **fields,
        }
        results: list[HookResult] = []
        for hook in self._matching(matchers, matched):
            if script := self.scripts.changed(hook):
                reason = f"{script} changed since it was trusted, so its hook is disabled"
                again = own_command("trust", str(self._folder))
                how = f" {WRITE_LITERALLY}" if script == ANY_FILE else ""
                self._note(f"{reason}: `{_line(hook.command)}`. To enable it from the next session: `{again}`.{how}")
                specific = {"permissionDecision": "ask", "permissionDecisionReason": f"{reason}."}
                output = msgspec.json.encode({"hookSpecificOutput": specific}).decode()
                results += [HookResult(0, output)] if event == "PreToolUse" else []
                continue
            result = run_hook(hook, message, self._folder, self._environment, is_stopped)
            if result.error or result.exit not in {0, _BLOCKED}:
                problem = result.error or f"exit {result.exit}. {_line(result.stderr)}".strip()
                self._note(f"The {event} hook `{_line(hook.command)}` failed: {problem}")
            else:
                results.append(result)
        return results

    def _matching(self, matchers: Sequence[HookMatcher], name: str) -> list[HookCommand]:
        """The commands for this name, each once. A matcher may also have another name of the tool."""
        facts = facts_of(name)
        names = [name, *facts.names, *facts.other_names] if facts else [name]
        found: dict[str, HookCommand] = {}
        for matcher in matchers:
            try:
                if matcher.matcher in {"", "*"} or any(re.fullmatch(matcher.matcher, each) for each in names):
                    found |= {hook.command: hook for hook in matcher.hooks}
            except re.error as error:
                self._note(f"The hook matcher `{_line(matcher.matcher)}` is not a valid regular expression: {error}.")
        return list(found.values())

    def _call(self, call: ToolCall) -> dict[str, Any]:
        """The call's fields. A file has its absolute path as `file_path` too."""
        try:
            arguments = decode_json(call.arguments or "{}", dict[str, Any])
        except msgspec.DecodeError:
            arguments = {}
        if isinstance(path := arguments.get("path"), str) and "file_path" not in arguments:
            arguments["file_path"] = str(self._folder / path)
        return {"tool_name": call.name, "tool_input": arguments, "tool_use_id": call.id}

    def _parsed(self, result: HookResult) -> _Output | None:
        """The JSON of the output, None where it is none. A message of it for the person is reported."""
        if result.exit or not result.stdout.startswith("{"):
            return None
        try:
            output = decode_json(result.stdout, _Output)
        except msgspec.DecodeError:
            return None
        if output.systemMessage:
            self._note(_line(output.systemMessage))
        return output

    def _note(self, sentence: str) -> None:
        with self._lock:
            self._notices.append(sentence)


def _line(text: str) -> str:
    return " ".join(text.split())[:300]


def _bounded(texts: Sequence[str]) -> str:
    text = "\n".join(text.strip() for text in texts if text.strip())
    return (
        text if len(text) <= MAX_CONTEXT else f"{text[:MAX_CONTEXT]}\n[… {len(text) - MAX_CONTEXT:,} more characters]"
    )
