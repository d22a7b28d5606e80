"""What is wrong with a YAML text, in words, on the line where it can be mended."""

import yaml


def yaml_trouble(error: yaml.YAMLError, text: str) -> tuple[int, str]:
    """The line (from 1) and the sentence. What was opened and not closed is told where it opens."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return 1, " ".join(str(error).split())
    context = error.context or ""
    if "quoted" in context and error.context_mark is not None:
        return error.context_mark.line + 1, "the quotation mark that opens here is not closed"
    if "flow" in context and (line := _open_bracket(text)):
        return line, "the bracket that opens here is not closed"
    mark = error.problem_mark or error.context_mark
    said = error.problem or "this is no YAML"
    return (mark.line + 1 if mark else 1), f"{said} ({context})" if context else said


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
    except yaml.YAMLError:
        pass  # what was open so far is
    return open_ones[-1] if open_ones else 0
