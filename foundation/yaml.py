"""Bounded YAML: size, depth and alias expansion have limits, and every error is a `BadYaml` with its line.

PyYAML recurses as deep as the text does, and ten lines of aliases of aliases expand to billions of values. It is loaded
with the first text, because most workspaces have no configuration.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml


class BadYaml(ValueError):
    """Invalid YAML. `problem` is the reason, without a full stop, and `line` its line, from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


def compose_yaml(text: str) -> "yaml.Node | None":
    """The tree of nodes, or None where the text is empty. Raises BadYaml."""
    from foundation import bounded_loader

    return bounded_loader.compose_yaml(text)


def construct_yaml(node: "yaml.Node") -> Any:
    """The plain value that a node of `compose_yaml` stands for. Raises BadYaml."""
    from foundation import bounded_loader

    return bounded_loader.construct_yaml(node)


def load_yaml(text: str) -> Any:
    """The plain value of a whole text, None where it is empty. Raises BadYaml."""
    node = compose_yaml(text)
    return None if node is None else construct_yaml(node)
