"""Vim keys on a text: text, cursor, key and state in; text, cursor and state out.

Lines are those of the text, not of the screen; a move goes by units (graphemes and chips).
"""

from typing import Final

from msgspec.structs import replace

from tui.widgets.prompt.units import index_at, units
from tui.widgets.prompt.vim.motions import (
    END_OF_LINE,
    MOTIONS,
    Find,
    Target,
    Units,
    at_column,
    column_of,
    find_in_line,
    first_word,
    line_by,
    line_end,
    line_start,
    on_a_unit,
    word_end,
)
from tui.widgets.prompt.vim.objects import Extent, text_object
from tui.widgets.prompt.vim.place import Place, ends_line, join, lines, swap, swapped
from tui.widgets.prompt.vim.state import (
    SAME_KEYS,
    SHORTER,
    Change,
    Effect,
    Insertion,
    Register,
    Step,
    VimCommand,
    VimMode,
    VimState,
    parsed,
)

MAX_INSERTED: Final = 1_000_000  # characters that a count may insert


def press(text: str, cursor: int, key: str, state: VimState) -> Step:
    """One key: a character, or a name as Textual writes it."""
    if state.mode is VimMode.INSERT:
        return leave_insert(text, cursor, state) if key == "escape" else Step(text, cursor, state, Effect.UNUSED)
    if key == "escape":
        return _escape(text, cursor, state)
    quiet = replace(state, pending="")
    if not (state.pending and state.pending[-1] in "rfFtT"):
        key = SAME_KEYS.get(key, key)
    if len(key) != 1:
        is_redo = key == "ctrl+r" and state.mode is VimMode.NORMAL
        return Step(text, cursor, quiet, Effect.REDO if is_redo else Effect.UNUSED)
    command = parsed(state.pending + key, visual=state.mode.is_visual)
    if command is None or isinstance(command, bool):
        return Step(text, cursor, replace(state, pending=state.pending + key) if command else quiet)
    place = Place.at(text, cursor)
    return _visual(place, command, quiet) if state.mode.is_visual else _normal(place, command, quiet)


def _escape(text: str, cursor: int, state: VimState) -> Step:
    """Forgets an incomplete command, or leaves visual mode."""
    if state.pending:
        return Place.at(text, cursor).step(replace(state, pending=""))
    if state.mode.is_visual:
        return Place.at(text, cursor).step(replace(state, mode=VimMode.NORMAL))
    return Step(text, cursor, state, Effect.UNUSED)


def leave_insert(text: str, cursor: int, state: VimState) -> Step:
    """Ends the typing: a count repeats it, and `.` knows it."""
    insertion = state.insertion
    state = replace(state, mode=VimMode.NORMAL, insertion=None, column=None, pending="")
    if insertion is not None:
        before, after, change = insertion.before, insertion.after, insertion.change
        is_known = len(text) >= len(before) + len(after) and text.startswith(before) and text.endswith(after)
        inserted = text[len(before) : len(text) - len(after)] if is_known else ""
        if change.keys in {"i", "a", "I", "A", "o", "O"} and inserted and len(inserted) * change.count <= MAX_INSERTED:
            repeated = ("\n" if change.keys in {"o", "O"} else "").join([inserted] * change.count)
            text, cursor = before + repeated + after, len(before) + len(repeated)
        state = replace(state, change=replace(change, inserted=inserted))
    place = Place.at(text, cursor)
    return replace(place, index=max(line_start(place.units, place.index), place.index - 1)).step(state)


# Normal mode


def _normal(place: Place, command: VimCommand, state: VimState) -> Step:
    if longer := SHORTER.get(command.simple):
        command = replace(command, operator=longer[0], motion=longer[1], keys=longer, simple="")
        command = replace(command, motion="", lines=True) if longer[0] == longer[1] else command
    if command.operator:
        step = _operate(place, command, state)
    elif command.motion:
        step = _move(place, command, state)
    elif command.new:
        step = _replace(place, command, state)
    else:
        step = _simple(place, command, state)
    return step


def _simple(place: Place, command: VimCommand, state: VimState) -> Step:
    match command.simple:
        case "u":
            step = place.step(state, Effect.UNDO, command.times)
        case ".":
            step = _repeat(place, command, state)
        case "v" | "V":
            mode = VimMode.VISUAL if command.simple == "v" else VimMode.VISUAL_LINE
            step = place.step(replace(state, mode=mode, anchor=place.offset))
        case "p" | "P":
            step = _put(place, command, state)
        case "J":
            step = join(place, max(command.count - 1, 1)).step(_changed(state, command))
        case "~":
            step = swap(place, command.times).step(_changed(state, command))
        case _:
            step = _begin_insert(place, command, state)
    return step


def _changed(state: VimState, command: VimCommand) -> VimState:
    return replace(state, column=None, change=Change(command.keys, command.times))


def _move(place: Place, command: VimCommand, state: VimState) -> Step:
    target, state = _target(place, command, state)
    if target is None:
        if command.motion in {"j", "k"} and state.mode is VimMode.NORMAL:
            effect = Effect.HISTORY_FORWARD if command.motion == "j" else Effect.HISTORY_BACK
            return place.step(state, effect)
        return place.step(state)
    if command.motion in {"j", "k"}:
        column = column_of(place.units, place.index) if state.column is None else state.column
    else:
        column = END_OF_LINE if command.motion == "$" else None
    return replace(place, index=on_a_unit(place.units, target.index)).step(replace(state, column=column))


def _target(place: Place, command: VimCommand, state: VimState) -> tuple[Target | None, VimState]:
    """Where the motion leads, and the state with its search."""
    here, index, motion, count = place.units, place.index, command.motion, command.times
    match motion[0]:
        case "j" | "k":
            sign = 1 if motion == "j" else -1
            lines = here.count("\n")
            start = next(
                (at for n in range(min(count, lines), 0, -1) if (at := line_by(here, index, sign * n)) is not None),
                None,
            )
            column = column_of(here, index) if state.column is None else state.column
            return (None if start is None else Target(at_column(here, start, column), linewise=True)), state
        case "G" | "g":
            last = here.count("\n")
            line = min(command.count - 1, last) if command.count else last if motion == "G" else 0
            start = line_by(here, 0, line) or 0
            return Target(first_word(here, start), linewise=True), state
        case "f" | "F" | "t" | "T" | ";" | ",":
            find = state.find if motion in {";", ","} else Find(motion[0], motion[1])
            if find is None:
                return None, state
            sought = find.reversed if motion == "," else find
            at = find_in_line(here, index, sought, count, again=motion in {";", ","})
            found = None if at is None else Target(at, inclusive=sought.kind in "ft")
            return found, replace(state, find=find)
        case _:
            return MOTIONS[motion](here, index, count), state


def _operate(place: Place, command: VimCommand, state: VimState) -> Step:
    here, index = place.units, place.index
    if command.lines:
        extent = lines(
            here, index, line_by(here, index, command.times - 1) or (len(here) if command.times > 1 else index)
        )
    elif command.object:
        extent = text_object(here, index, command.object, command.times)
    else:
        target, state = _target(place, command, state)
        extent = _extent(place, command, target)
    if extent is None:
        return place.step(state)
    if command.operator == "y" and (command.lines or command.motion in {"j", "G"}):
        return place.step(_yanked(here, extent, state))
    return _apply(place, command.operator, extent, state, Change(command.keys, command.times))


def _extent(place: Place, command: VimCommand, target: Target | None) -> Extent | None:
    """The units that an operator takes with a motion."""
    here, index = place.units, place.index
    is_word = command.motion in {"w", "W"}
    if is_word and command.operator == "c" and index < len(here) and not here[index].isspace():
        end = index - 1
        for _ in range(command.times):
            end = word_end(here, end, big=command.motion == "W")
        return Extent(index, end + 1)
    if target is None:
        return _extent_of_no_move(place, command)
    start, end = sorted((index, target.index))
    if target.linewise:
        return lines(here, start, end)
    if target.inclusive:
        return Extent(start, min(end + 1, len(here)))
    if is_word and "\n" in here[start:end]:
        last = end
        while last > start and here[last - 1].isspace():
            last -= 1
        if "\n" in here[last:end]:
            end = max(last, min(start + 1, line_end(here, start)))
    elif end > start and end == line_start(here, end) and "\n" in here[start:end]:
        if start <= first_word(here, start):
            return lines(here, start, end - 1)
        end -= 1
    return Extent(start, end)


def _extent_of_no_move(place: Place, command: VimCommand) -> Extent | None:
    """What an operator takes with a motion that leads nowhere: `e` the last letter of the text, `c` nothing, and of a
    search that fails None."""
    here, index = place.units, place.index
    if command.motion in {"e", "E"} and index < len(here) and here[index] != "\n":
        return Extent(index, index + 1)
    return Extent(index, index) if command.operator == "c" and command.motion[0] not in "fFtT;," else None


def _yanked(here: Units, extent: Extent, state: VimState) -> VimState:
    text = "".join(here[extent.start : extent.end])
    return replace(state, register=Register(text.removesuffix("\n") if extent.linewise else text, extent.linewise))


def _apply(place: Place, operator: str, extent: Extent, state: VimState, change: Change | None) -> Step:
    here, start, end = place.units, extent.start, extent.end
    state = replace(_yanked(here, extent, state), column=None, mode=VimMode.NORMAL)
    if operator == "y":
        return Place(here, start).step(state)
    state = replace(state, change=change or state.change)
    if operator == "c":
        end -= extent.linewise and end > start and ends_line(here, end)
        return _insert_at(Place([*here[:start], *here[end:]], start), change or Change("i"), state)
    if extent.linewise:
        start -= start > 0 and end == len(here) and not ends_line(here, end) and here[start - 1] == "\n"
        rest = [*here[:start], *here[end:]]
        return Place(rest, first_word(rest, min(extent.start, len(rest)))).step(state)
    return Place([*here[:start], *here[end:]], start).step(state)


def _insert_at(place: Place, change: Change, state: VimState) -> Step:
    step = place.step(replace(state, mode=VimMode.INSERT, column=None, pending=""))
    insertion = Insertion(step.text[: step.cursor], step.text[step.cursor :], change)
    return replace(step, state=replace(step.state, insertion=insertion))


def _begin_insert(place: Place, command: VimCommand, state: VimState) -> Step:
    here, index = place.units, place.index
    match command.simple:
        case "a":
            place = replace(place, index=min(index + 1, line_end(here, index)))
        case "I":
            first = first_word(here, index)
            place = replace(place, index=first)
        case "A":
            place = replace(place, index=line_end(here, index))
        case "o":
            end = line_end(here, index)
            place = Place([*here[:end], "\n", *here[end:]], end + 1)
        case "O":
            start = line_start(here, index)
            place = Place([*here[:start], "\n", *here[start:]], start)
        case _:
            pass
    return _insert_at(place, Change(command.simple, command.times), state)


def _repeat(place: Place, command: VimCommand, state: VimState) -> Step:
    change = state.change
    step = place.step(state)
    if change is None:
        return step
    for key in f"{command.count or change.count}{change.keys}":
        step = press(step.text, step.cursor, key, step.state)
    if step.state.mode is VimMode.INSERT:
        text = step.text[: step.cursor] + change.inserted + step.text[step.cursor :]
        step = leave_insert(text, step.cursor + len(change.inserted), step.state)
    return replace(step, effect=Effect.NONE)


def _replace(place: Place, command: VimCommand, state: VimState) -> Step:
    here, index = place.units, place.index
    end = index + command.times
    if end > line_end(here, index):
        return place.step(state)
    return Place([*here[:index], *[command.new] * command.times, *here[end:]], end - 1).step(_changed(state, command))


def _put(place: Place, command: VimCommand, state: VimState) -> Step:
    here, index, register = place.units, place.index, state.register
    if not (register.text or register.linewise) or len(register.text) * command.times > MAX_INSERTED:
        return place.step(state)
    state = _changed(state, command)
    if register.linewise:
        text = "\n".join([register.text] * command.times)
        if command.simple == "p":
            at = line_end(here, index)
            made = [*here[:at], "\n", *units(text), *here[at:]]
            return Place(made, first_word(made, at + 1)).step(state)
        at = line_start(here, index)
        made = [*here[:at], *units(text), "\n", *here[at:]]
        return Place(made, first_word(made, at)).step(state)
    put = units(register.text * command.times)
    at = min(index + 1, line_end(here, index)) if command.simple == "p" else index
    return Place([*here[:at], *put, *here[at:]], at if "\n" in put else at + len(put) - 1).step(state)


# Visual mode


def _visual(place: Place, command: VimCommand, state: VimState) -> Step:
    here, index = place.units, place.index
    anchor = index_at(place.text, min(state.anchor, len(place.text)))
    low, high = sorted((anchor, index))
    extent = Extent(low, min(high + 1, len(here)))
    if command.motion:
        return _move(place, command, state)
    if command.object:
        found = text_object(here, index, command.object, command.times)
        if found is None or found.end <= found.start:
            return place.step(state)
        mode = VimMode.VISUAL_LINE if found.linewise else state.mode
        state = replace(state, mode=mode, anchor=Place(here, found.start).offset)
        return Place(here, found.end - 1).step(state)
    if command.simple == "o":
        return Place(here, anchor).step(replace(state, anchor=place.offset))
    if command.simple in {"v", "V"}:
        wanted = VimMode.VISUAL if command.simple == "v" else VimMode.VISUAL_LINE
        return place.step(replace(state, mode=VimMode.NORMAL if state.mode is wanted else wanted))
    is_linewise = state.mode is VimMode.VISUAL_LINE or command.simple in set("XDCYSR")
    extent = lines(here, low, high) if is_linewise else extent
    return _on_selection(Place(here, low), command, extent, replace(state, mode=VimMode.NORMAL, column=None))


def _on_selection(place: Place, command: VimCommand, extent: Extent, state: VimState) -> Step:
    here, start, end = place.units, extent.start, extent.end
    operator = {"x": "d", "X": "d", "D": "d", "s": "c", "C": "c", "S": "c", "R": "c", "Y": "y"}.get(
        command.simple, command.simple
    )
    lines = here[start:end].count("\n") + (not ends_line(here, end))
    match operator:
        case "d" | "c" | "y":
            return _apply(place, operator, extent, state, _again(operator, here, extent))
        case "p" | "P":
            register = state.register
            step = _apply(place, "d", extent, state, None)
            cut = Place([*here[:start], *here[end:]], start)
            if extent.linewise and not register.linewise:
                register = Register(register.text, linewise=True)
            text = f"{register.text}\n" if extent.linewise else register.text
            text = f"\n{text}\n" if register.linewise and not extent.linewise else text
            put = units(text)
            return Place([*cut.units[:start], *put, *cut.units[start:]], start).step(step.state)
        case "J":
            return join(replace(place, index=start), max(lines - 1, 1)).step(state)
        case _:
            made = [_rewritten(unit, operator, command.new) for unit in here[start:end]]
            return Place([*here[:start], *made, *here[end:]], start).step(state)


def _rewritten(unit: str, operator: str, new: str) -> str:
    """The unit in another case, or `new` in its place; a newline and what is more than a letter stay."""
    if unit == "\n" or (len(unit) > 1 and not new):
        return unit
    return new or (swapped(unit) if operator == "~" else unit.lower() if operator == "u" else unit.upper())


def _again(operator: str, here: Units, extent: Extent) -> Change | None:
    """What `.` does after a change of a selection: the same to as much text, where that is one line or whole lines."""
    if operator == "y":
        return None
    taken = list(here[extent.start : extent.end])
    if extent.linewise:
        return Change(operator * 2, taken.count("\n") + (not ends_line(here, extent.end)))
    return None if "\n" in taken else Change(f"{operator}l", max(len(taken), 1))
