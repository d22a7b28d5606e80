"""Chooses the tools that a model is offered: by the folder, the message, the model's size and a setting.

Tools in a request make a small model answer a greeting with JSON, and their definitions are most of a request's head.
So a conversation outside a project has the tools of memory alone, until a message needs files or commands. A model that
calls tools in text gets their list with the message that needs them, and none in the head.
"""

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from agent.tools.port import ToolPurpose
from agent.tools.registry import Toolbox
from agent.tools.window_room import FittingTools
from context import Turn
from context.sources.conditions import entities_in, has_entity, has_keyword
from foundation.files import resolve_path
from models.chat.port import ModelSize, Profile
from models.messages import Tool

_ANYWHERE: Final = frozenset(ToolPurpose) - {ToolPurpose.PROJECT, ToolPurpose.BACKGROUND, ToolPurpose.EXTRA}
_IN_PROJECT: Final = _ANYWHERE | {ToolPurpose.PROJECT}
_ALL: Final = frozenset(ToolPurpose)
_BY_SETTING: Final = {"memory": _ANYWHERE, "project": _IN_PROJECT, "all": _ALL}

_REFERENCE: Final = re.compile(r"\b(?:e|pg|m)_[0-9a-z]{6,}", re.ASCII)
_OWN_FILES: Final = frozenset(
    {"AGENTS.md", "SOUL.md", "MEMORY.md", "system.yaml", "skills", "memory", "commands", "conversations"}
)
"""What a workspace has itself: a folder of these alone is no project."""
_MARKERS: Final = frozenset({".git", ".hg", ".jj", ".svn"})

_FILES = """
file files folder folders directory directories repo repository project codebase readme script scripts command commands
terminal shell test tests config commit branch git run execute install compile
文件 文件夹 目录 项目 仓库 代码 脚本 命令 终端 测试 运行 执行 安装 编译 配置 提交 分支
"""
_WORK = """
fix bug bugs error fails failing failed implement refactor add change rename update delete remove replace find search
show open read write create list print function class module method line lines build debug
修复 修改 错误 报错 失败 实现 重构 添加 增加 改 重命名 更新 删除 替换 查找 搜索 查看 打开 读 写 创建 新建 列出 函数 模块
"""
_NOTE = "remember note remind reminder 记住 记得 记一下 记下 记录 备忘 提醒 别忘 不要忘"
_SEARCH = "search look find 搜索 查找 查一下 找一下"
_MEMORY = "memory notes conversations history 记忆 笔记 对话 聊天记录 历史"
_FILE_WORDS: Final = tuple(_FILES.split())
_WORK_WORDS: Final = tuple(_WORK.split())
"""Words that mean files where the user stands in a project, and something else elsewhere."""
_NOTE_WORDS: Final = tuple(_NOTE.split())
_SEARCH_WORDS: Final = tuple(_SEARCH.split())
_MEMORY_WORDS: Final = tuple(_MEMORY.split())


class ToolOffer:
    """The purposes of the tools that each conversation of a session is offered. They only grow, so that a request's
    head changes at most once."""

    def __init__(
        self,
        toolbox: Toolbox,
        folder: Callable[[], Path],
        workspace: Path,
        background: Callable[[], Sequence[object]] = tuple,
    ) -> None:
        """`folder` gives the one where the user stands, `background` the commands that were started beside turns."""
        self._toolbox = toolbox
        self._folder = folder
        self._background = background
        self._workspace = workspace
        self._grown: set[str] = set()  # conversations in which a message needed files or commands
        self._is_project: dict[str, bool] = {}  # as the conversation began

    def of_turn(self, turn: Turn, profile: Profile) -> tuple[FittingTools, frozenset[str], bool]:
        """The tools of a request, the names of those that its message must list, and whether skills can be opened."""
        conversation, text = turn.conversation.id if turn.conversation else "", turn.text
        offered = self._purposes(conversation, text, profile, is_sent=turn.is_sent)
        stated = offered & self._needed(conversation, text) if profile.is_small else offered
        opens_skills = profile.spec == "offline" or (ToolPurpose.EXTRA in offered and profile.calls_tools)
        return self._toolbox.fitting(profile, offered), self._toolbox.names(stated), opens_skills

    def current(self, conversation: str, profile: Profile) -> tuple[Tool, ...]:
        """The tools that the conversation offers its model by now."""
        return self._toolbox.offered(profile, self._purposes(conversation, "", profile))

    def take_omitted(self, conversation: str, profile: Profile) -> tuple[str, ...]:
        """A sentence about the tools that the window has no room for; once for each set of them."""
        return self._toolbox.take_omitted(profile, self._purposes(conversation, "", profile))

    def _purposes(
        self, conversation: str, text: str, profile: Profile, *, is_sent: bool = False
    ) -> frozenset[ToolPurpose]:
        if (fixed := _BY_SETTING.get(self._toolbox.settings.offer)) is not None:
            return fixed
        needs_files = not self._in_project(conversation) and mentions_files(text)
        if needs_files and is_sent:
            self._grown.add(conversation)
        if not (self._in_project(conversation) or needs_files or conversation in self._grown):
            return _ANYWHERE
        if profile.remote or profile.size is ModelSize.LARGE:
            return _ALL
        return _IN_PROJECT | {ToolPurpose.BACKGROUND} if self._background() else _IN_PROJECT

    def _needed(self, conversation: str, text: str) -> frozenset[ToolPurpose]:
        """The purposes that the message itself speaks of."""
        needed = {ToolPurpose.SERVER, ToolPurpose.BACKGROUND}
        if wants_note(text):
            needed.add(ToolPurpose.NOTE)
        if wants_search(text):
            needed.add(ToolPurpose.MEMORY)
        if has_entity("url", text):
            needed.add(ToolPurpose.WEB)
        if mentions_files(text) or (self._in_project(conversation) and has_keyword(text, _WORK_WORDS)):
            needed |= {ToolPurpose.PROJECT, ToolPurpose.EXTRA}
        if _REFERENCE.search(text):
            needed.add(ToolPurpose.REFERENCE)
        return frozenset(needed)

    def _in_project(self, conversation: str) -> bool:
        if conversation not in self._is_project:
            found = is_project(self._folder(), self._workspace)
            if not conversation:
                return found
            self._is_project[conversation] = found
        return self._is_project[conversation]


def mentions_files(text: str) -> bool:
    """Whether the message speaks of files, code or commands."""
    return has_keyword(text, _FILE_WORDS) or has_entity("file_path", text) or has_entity("code", text)


def wants_note(text: str) -> bool:
    """Whether the message wants something remembered."""
    return has_keyword(text, _NOTE_WORDS)


def wants_search(text: str) -> bool:
    """Whether the message wants a search of memory. A question about the past does not: what memory has on it comes
    with it, and a list of tools keeps a small model from answering it."""
    for path in entities_in("file_path", text):  # notes.txt is a file
        text = text.replace(path, " ")
    return has_keyword(text, _MEMORY_WORDS) and has_keyword(text, _SEARCH_WORDS)


def is_project(folder: Path, workspace: Path) -> bool:
    """Whether there is something to work on in the folder: a repository, or a file that no workspace has itself.

    The home folder and the folders above it are no project.
    """
    folder = resolve_path(folder)
    if resolve_path(Path.home()).is_relative_to(folder):
        return False
    own = _OWN_FILES if folder == resolve_path(workspace) else frozenset[str]()
    try:
        with os.scandir(folder) as names:
            return any(_counts(entry.name, own) for entry in names)
    except OSError:
        return False


def _counts(name: str, own: frozenset[str]) -> bool:
    return name in _MARKERS or not (name.startswith(".") or name in own)
