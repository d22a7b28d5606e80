"""Segments come back as they were written; any other bytes raise one of our errors and nothing else."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.sync.encryption import Keys, new_secret
from memory.sync.errors import NewerSegment, NoKey, SegmentDamaged
from memory.sync.names import name_of, parse_name
from memory.sync.operation import ConversationKey, DeletionOperation, EntryOperation, NoteOperation, ValueOperation
from memory.sync.segment import Segment, decode_segment, encode_segment

DEVICE = "d_0123456789ab"
TEXT = st.text(max_size=40)
NUMBERS = st.integers(-(2**63), 2**63 - 1)
KEYS = st.builds(ConversationKey, TEXT, TEXT, TEXT, NUMBERS)
OPERATIONS = st.one_of(
    st.builds(
        EntryOperation,
        conversation=KEYS,
        id=TEXT,
        parent=TEXT,
        kind=TEXT,
        role=TEXT,
        speaker=TEXT,
        time_ms=NUMBERS,
        text=st.binary(max_size=60),
        meta=st.dictionaries(TEXT, st.one_of(TEXT, NUMBERS, st.none(), st.lists(TEXT, max_size=3)), max_size=3),
        complete=st.booleans(),
    ),
    st.builds(ValueOperation, conversation=KEYS, field=TEXT, value=st.none() | st.binary(), clock=NUMBERS, device=TEXT),
    st.builds(DeletionOperation, token=TEXT, deleted_ms=NUMBERS),
    st.builds(NoteOperation, id=TEXT, path=TEXT, parents=st.tuples(TEXT), text=st.binary(), clock=NUMBERS, device=TEXT),
)
SEGMENTS = st.builds(
    Segment,
    device=st.just(DEVICE),
    name=TEXT,
    number=st.just(7),
    operations=st.lists(OPERATIONS, max_size=4).map(tuple),
)


@given(SEGMENTS)
def test_a_segment_comes_back_as_it_was_written(segment: Segment) -> None:
    stored = encode_segment(segment)
    name = name_of(DEVICE, 7, stored)
    assert parse_name(str(name)) == name
    assert decode_segment(name, stored) == segment


@given(SEGMENTS, st.data())
def test_any_change_is_noticed(segment: Segment, data: Any) -> None:
    stored = encode_segment(segment)
    name = name_of(DEVICE, 7, stored)
    changed = bytearray(stored)
    changed[data.draw(st.integers(0, len(stored) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises((SegmentDamaged, NewerSegment)):
        decode_segment(name, bytes(changed))
    with pytest.raises(SegmentDamaged):
        decode_segment(name, stored[: data.draw(st.integers(0, len(stored) - 1))])


@given(st.binary(max_size=200), st.sampled_from([b"", b"PSS1p", b"PSS1e", b"PSS1x", b"PSS2p", b"PSS3p", b"PSS4p"]))
def test_foreign_bytes_under_a_name_that_fits_them_raise_nothing_else(body: bytes, head: bytes) -> None:
    stored = head + body
    with suppress(SegmentDamaged, NewerSegment, NoKey):
        decode_segment(name_of(DEVICE, 7, stored), stored, None)


def test_another_key_does_not_open_it() -> None:
    mine, other = Keys(new_secret(), ()), Keys(new_secret(), ())
    segment = Segment(device=DEVICE, name="desk", number=7, operations=())
    stored = encode_segment(segment, mine)
    name = name_of(DEVICE, 7, stored, is_encrypted=True)
    assert decode_segment(name, stored, mine) == segment
    for keys in (other, None):
        with pytest.raises(NoKey):
            decode_segment(name, stored, keys)


def test_each_named_recipient_opens_it() -> None:
    secret = new_secret()
    mine = Keys(new_secret(), (Keys(secret, ()).recipient,))
    other = Keys(secret, (mine.recipient,))
    segment = Segment(device=DEVICE, name="desk", number=7, operations=())
    stored = encode_segment(segment, mine)
    assert decode_segment(name_of(DEVICE, 7, stored, is_encrypted=True), stored, other) == segment


def test_whole_bytes_under_the_name_of_others_are_damaged() -> None:
    stored = encode_segment(Segment(device=DEVICE, name="desk", number=7, operations=()))
    for name in (name_of(DEVICE, 7, b"other"), name_of(DEVICE, 8, stored), name_of("d_zzzzzzzzzzzz", 7, stored)):
        with pytest.raises(SegmentDamaged):
            decode_segment(name, stored)
