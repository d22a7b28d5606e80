-- Requests to models that write no entry of their own, so that what they cost is known whatever became of the answer.
-- Tokens are reserved before a request and corrected after it: a killed process counts too.

CREATE TABLE model_requests (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    time_ms           INTEGER NOT NULL,
    purpose           TEXT NOT NULL,          -- observe
    conversation      INTEGER REFERENCES conversations (seq) ON DELETE SET NULL,
    model             TEXT NOT NULL,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cached_tokens     INTEGER,
    estimated         INTEGER NOT NULL,       -- 1: reserved, or counted here
    ms                INTEGER NOT NULL,
    cost              BLOB                    -- JSON, as in an entry's meta
) STRICT;
CREATE INDEX model_requests_by_time ON model_requests (time_ms);
CREATE INDEX model_requests_by_conversation ON model_requests (conversation);

-- Entries whose observation the person deleted: no maker makes it again.
CREATE TABLE unobserved (
    entry INTEGER PRIMARY KEY REFERENCES entries (seq) ON DELETE CASCADE
) STRICT;
