-- A deletion is written down before it begins, so that one that is cut short is finished by whoever opens the store
-- next, and so that what was deleted never comes back from a pack. No name is kept, and no word.

CREATE TABLE deletions (
    token        TEXT PRIMARY KEY,           -- SHA-256 of the conversation's source and id, hex
    name         TEXT NOT NULL DEFAULT '',   -- SHA-256 of the id alone, hex: who deletes again is told that it is done
    conversation INTEGER NOT NULL,           -- its seq, 0 where it is known from beside the packs alone
    deleted_ms   INTEGER NOT NULL,
    pages        TEXT NOT NULL DEFAULT '[]', -- ids of the pages that were drawn for it: a JSON list
    finished     INTEGER NOT NULL DEFAULT 0  -- 1: no pack holds a word of it
) STRICT, WITHOUT ROWID;
