"""Errors of memory.

MemoryFailure           the root of this package's errors
├── NotFound            nothing has that name or id
│   ├── AmbiguousReference  several things have it
│   └── NoSuchNote          no note has this id
├── Damaged             what is on disk is not what was written
│   ├── ForgedName      a stored name that no version of this program wrote
│   ├── StorageUnreachable     the storage of packs cannot be reached now
│   └── NewerPack       a pack that a newer program wrote
├── InexactText         it was read, and may be wrong
├── NotAPage            the picture is not a page of this program
├── OutOfDate           what was to be archived changed meanwhile
└── StoreError        an operation of the cold store failed
    ├── CannotOpen      it is not our store, or newer than this program, or the folder refuses
    ├── ReadOnly        it can be read, and not written to
    ├── StoreFull       no space is left
    ├── StoreBusy       another program holds it
    ├── AlreadyExists    that id is taken
    └── StoreClosed          the store was closed
NoteChanged             the person changed the note since it was last read
UnwritableNotes         a file of notes cannot be written, or leads out of the workspace
"""

from foundation.errors import PalimpsestError


class MemoryFailure(PalimpsestError):
    """A failed operation of memory."""

    code = "memory"


class NotFound(MemoryFailure):
    """Nothing has that name or id."""

    code = "not_found"


class AmbiguousReference(NotFound):
    """Several things have that name or id."""


class Damaged(MemoryFailure):
    """Data on disk differs from what was written."""

    code = "damaged"


class ForgedName(Damaged):
    """A stored name does not fit its grammar: it was written by hand or by a damaged disk, and is not followed."""

    code = "forged_name"


class StorageUnreachable(Damaged):
    """The remote storage of packs does not answer or refuses access. Nothing there is known to be damaged."""

    code = "unreachable"


class NewerPack(Damaged):
    """A pack that a newer program wrote. It is not damaged, and is left as it is."""

    code = "newer_pack"


class InexactText(MemoryFailure):
    """The text was read from a picture whose hash does not match it."""

    code = "approximate"


class NotAPage(MemoryFailure):
    """The picture holds none of our cells: an OCR engine may read it, the cell reader cannot."""

    code = "not_a_page"


class OutOfDate(MemoryFailure):
    """The entries changed while their pages were made; nothing was deleted."""

    code = "out_of_date"


class StoreError(MemoryFailure):
    """A failed operation of the cold store."""

    code = "store"


class CannotOpen(StoreError):
    """It is no store of ours, or newer than this program, or SQLite is too old, or the folder refuses."""

    code = "cannot_open"


class ReadOnly(StoreError):
    """The workspace can be read, and not written to."""

    code = "read_only"


class StoreFull(StoreError):
    """No space is left; nothing of this write was stored."""

    code = "store_full"


class StoreBusy(StoreError):
    """Another program holds the store, or the conversation."""

    code = "store_busy"


class AlreadyExists(StoreError):
    """An entry or conversation with that id is in the store."""

    code = "already_there"


class StoreClosed(StoreError):
    """The store was closed before this reached it."""

    code = "closed"


class NoSuchNote(NotFound):
    """No note has this id."""


class NoteChanged(PalimpsestError):
    """The person changed the note since it was last read."""

    code = "note_changed"


class UnwritableNotes(PalimpsestError):
    """The file of notes cannot be written, or leads out of the workspace."""

    code = "unwritable"
