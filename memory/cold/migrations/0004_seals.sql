-- A hash of each entry's row, so that a bit that flips in who spoke or when is noticed, as it is in what was said.

CREATE TABLE seals (
    entry INTEGER PRIMARY KEY REFERENCES entries (seq) ON DELETE CASCADE,
    seal  BLOB NOT NULL                    -- memory.cold.seals: all of its row but the body, which sha256 vouches for
) STRICT;
