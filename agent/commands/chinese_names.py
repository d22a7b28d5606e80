"""Chinese names of commands."""

from typing import Final

CHINESE_NAMES: Final = {
    "帮助": "help",
    "搜索": "search",
    "新建": "new",
    "记住": "remember",
    "忘记": "forget",
    "模型": "model",
    "退出": "exit",
}
