-- Up to which entry each maker of observations has looked. What was said before this program made any is left alone.

CREATE TABLE observed (
    maker TEXT PRIMARY KEY,                -- rules
    entry INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO observed (maker, entry)
    SELECT 'rules', ifnull(max(seq), 0) FROM entries;
CREATE INDEX observations_by_time ON entries (time_ms) WHERE kind = 'observation';
CREATE INDEX observations_by_conversation ON entries (conversation) WHERE kind = 'observation';
