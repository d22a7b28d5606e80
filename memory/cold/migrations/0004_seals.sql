-- Packs of before, which may have no manifest yet: each gets its own at the next opening.

CREATE TABLE unsealed (
    pack TEXT PRIMARY KEY                  -- '' is for archives that have no page of their own
) STRICT, WITHOUT ROWID;
INSERT INTO unsealed (pack) SELECT name FROM packs UNION SELECT '' WHERE EXISTS (SELECT 1 FROM packs);

-- A hash of each entry's row, so that a bit that flips in who spoke or when is noticed, as it is in what was said.

CREATE TABLE seals (
    entry INTEGER PRIMARY KEY REFERENCES entries (seq) ON DELETE CASCADE,
    seal  BLOB NOT NULL                    -- memory.cold.seals: all of its row but the body, which sha256 vouches for
) STRICT;
