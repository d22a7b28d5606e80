"""PyYAML within limits of size, depth and alias expansion, and its errors as sentences. Loaded at the first text."""

from typing import Any, cast

import yaml

from foundation.yaml import BadYaml

MOST_CHARACTERS = 256_000
DEEPEST = 40  # lists and mappings within one another
MOST_UNFOLDED = 500_000  # characters of all values, aliases unfolded, and NODE for each
NODE = 20
MOST_DIGITS = 100
MOST_BITS = 64  # of a number: more digits than these are no setting, and Python itself refuses to print 4,300


def compose_yaml(text: str) -> yaml.Node | None:
    """The node tree, or None where the text is empty. Raises BadYaml."""
    if len(text) > MOST_CHARACTERS:
        raise BadYaml(1, f"the file has {len(text):,} characters, and the maximum is {MOST_CHARACTERS:,}")
    loader: Any = None
    try:
        loader = BoundedLoader(text)
        return cast("yaml.Node | None", loader.get_single_node())
    except yaml.YAMLError as error:
        raise BadYaml(*yaml_problem(error, text)) from error
    except (ValueError, OverflowError) as error:  # an escape such as "\U7fffffff"
        line = loader.line + 1 if loader is not None else 1
        raise BadYaml(line, "this is not YAML") from error
    finally:
        if loader is not None:
            loader.dispose()


def construct_yaml(node: yaml.Node) -> Any:
    """The plain value that a node of `compose_yaml` stands for. Raises BadYaml."""
    line = node.start_mark.line + 1
    try:
        return cast(Any, BoundedLoader("")).construct_document(node)
    except yaml.MarkedYAMLError as error:
        raise BadYaml(line, error.problem or "this is not a value") from error
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        # PyYAML reads `2026-99-99` and `!!bool perhaps` without looking.
        raise BadYaml(line, "this value does not match its tag") from error


def yaml_problem(error: yaml.YAMLError, text: str) -> tuple[int, str]:
    """The line (from 1) and the sentence. An unclosed bracket is reported where it opens."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return 1, " ".join(str(error).split())
    context = error.context or ""
    if "quoted" in context and error.context_mark is not None:
        return error.context_mark.line + 1, "the quotation mark that opens here is not closed"
    if "flow" in context and (line := _open_bracket(text)):
        return line, "the bracket that opens here is not closed"
    mark = error.problem_mark or error.context_mark
    problem = error.problem or "this is not YAML"
    return (mark.line + 1 if mark else 1), f"{problem} ({context})" if context else problem


def _open_bracket(text: str) -> int:
    """The line of the innermost bracket that nothing closes; 0 where there is none."""
    open_ones: list[int] = []
    try:
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            match token:
                case yaml.FlowSequenceStartToken() | yaml.FlowMappingStartToken():
                    open_ones.append(token.start_mark.line + 1)
                case yaml.FlowSequenceEndToken() | yaml.FlowMappingEndToken() if open_ones:
                    open_ones.pop()
                case _:
                    pass
            if len(open_ones) > DEEPEST:  # the scanner's time grows with the square of the depth
                break
    except yaml.YAMLError:
        pass  # what was open so far is
    return open_ones[-1] if open_ones else 0


class BoundedLoader(yaml.SafeLoader):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._unfolded = 0
        self._weights: dict[int, int] = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = cast(Any, self).peek_event()
        mark: Any = event.start_mark
        before = self._unfolded
        self._depth += 1
        if self._depth > DEEPEST:
            raise yaml.MarkedYAMLError(None, None, "the lists are nested too deeply", mark)
        node = cast(Any, super()).compose_node(parent, index)
        self._depth -= 1
        if isinstance(event, yaml.AliasEvent):
            if id(node) not in self._weights:  # what it names is not at its end yet
                raise yaml.MarkedYAMLError(None, None, "an alias refers to itself", mark)
            self._unfolded += self._weights[id(node)]
        else:
            self._unfolded += NODE + (len(node.value) if isinstance(node, yaml.ScalarNode) else 0)
            self._weights[id(node)] = self._unfolded - before
        if self._unfolded > MOST_UNFOLDED:
            raise yaml.MarkedYAMLError(None, None, "there are too many values after aliases are expanded", mark)
        return node

    def construct_yaml_int(self, node: Any) -> int:
        small = len(node.value) <= MOST_DIGITS
        number = cast(int, cast(Any, super()).construct_yaml_int(node)) if small else 0
        if not small or number.bit_length() > MOST_BITS:
            raise yaml.MarkedYAMLError(None, None, "the number is too large", node.start_mark)
        return number


BoundedLoader.add_constructor("tag:yaml.org,2002:int", BoundedLoader.construct_yaml_int)
