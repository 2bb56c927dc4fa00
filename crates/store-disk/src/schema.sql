-- The first format. This file is never edited again: a later format is a migration of its own beside it.
-- Times are microseconds since 1970, positions and ids are drawn from one ascending sequence.

-- One row: where the sequences stand.
CREATE TABLE state (
    one           INTEGER PRIMARY KEY CHECK (one = 1),
    epoch         INTEGER NOT NULL, -- drawn at random when the store was made: cursors of another epoch mean nothing
    last_position INTEGER NOT NULL, -- the last position drawn
    forgotten     INTEGER NOT NULL, -- removals up to here are not remembered
    last_job      INTEGER NOT NULL,
    last_version  INTEGER NOT NULL, -- of a record
    seen_at       INTEGER NOT NULL  -- the time by which mail aged at the last write
) STRICT;

-- The mailboxes that hold mail, and only these.
CREATE TABLE mailbox (
    no         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE, -- canonical
    removed_at INTEGER NOT NULL      -- position of the last delete or purge; 0: none
) STRICT;

-- One row for each copy of a message, what a list shows. A mailbox's rows lie side by side in the order of arrival:
-- place = mailbox.no << 29 | a number that grows within the mailbox.
CREATE TABLE message (
    place            INTEGER PRIMARY KEY,
    id               INTEGER NOT NULL,
    body             INTEGER NOT NULL, -- body.id
    shared           INTEGER NOT NULL, -- 1: other mailboxes hold this body too, or did
    received_at      INTEGER NOT NULL,
    expires          INTEGER,
    size             INTEGER NOT NULL, -- of the raw bytes
    transaction_id   BLOB NOT NULL,
    mail_from        TEXT,             -- none: the null sender
    rcpt_to          TEXT NOT NULL,    -- one address a line
    other_recipients INTEGER NOT NULL,
    from_name        TEXT NOT NULL,
    from_email       TEXT NOT NULL,
    subject          TEXT NOT NULL,
    tags             TEXT NOT NULL,    -- one a line
    seal             INTEGER NOT NULL  -- of everything above but the place, and of the mailbox's name; see row.rs
) STRICT;
CREATE UNIQUE INDEX message_by_id ON message (id);
CREATE INDEX message_by_age ON message (received_at);
CREATE INDEX message_by_expiry ON message (expires) WHERE expires IS NOT NULL;

-- The bytes of a message, once for all its copies, and how it came.
CREATE TABLE body (
    id         INTEGER PRIMARY KEY, -- the id of its first copy
    size       INTEGER NOT NULL,    -- of the raw bytes
    packing    INTEGER NOT NULL,    -- of `data`: 0 the raw bytes, 1 zstd
    hash       BLOB NOT NULL,       -- BLAKE3 of the raw bytes
    door       INTEGER NOT NULL,    -- 0 SMTP, 1 ESMTP, 2 LMTP, 3 HTTP, 4 import
    utf8       INTEGER NOT NULL,
    helo       TEXT NOT NULL,
    peer       TEXT,
    tls        TEXT,
    auth_user  TEXT,
    recipients TEXT NOT NULL,       -- a line each: mailbox, tab, address
    seal       INTEGER NOT NULL,    -- of everything above; see row.rs
    data       BLOB NOT NULL
) STRICT;

-- How many copies of a body are left, where there were several.
CREATE TABLE shared (
    body   INTEGER PRIMARY KEY,
    copies INTEGER NOT NULL
) STRICT;

-- Numbers of mailboxes that were purged whole: their rows in `message` are out of sight and go bit by bit.
CREATE TABLE grave (
    no INTEGER PRIMARY KEY
) STRICT;

-- The last deletes and purges.
CREATE TABLE removal (
    position INTEGER PRIMARY KEY,
    mailbox  TEXT NOT NULL,
    message  INTEGER, -- the id of a message that was deleted
    up_to    INTEGER  -- a purge: messages up to this position went
) STRICT;

CREATE TABLE job (
    id       INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL,
    ready_at INTEGER NOT NULL, -- not to be taken before; while it is taken, the end of the lease
    leased   INTEGER NOT NULL,
    takings  INTEGER NOT NULL,
    messages TEXT NOT NULL,    -- a line each: id, tab, mailbox
    payload  BLOB NOT NULL
) STRICT;
CREATE INDEX job_by_kind ON job (kind, ready_at, id);

CREATE TABLE dead_job (
    place   INTEGER PRIMARY KEY, -- in the order of dying
    id      INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    payload BLOB NOT NULL,
    reason  TEXT NOT NULL,
    died_at INTEGER NOT NULL
) STRICT;

CREATE TABLE record (
    kind    TEXT NOT NULL,
    key     TEXT NOT NULL,
    value   BLOB NOT NULL,
    version INTEGER NOT NULL,
    expires INTEGER,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_by_expiry ON record (expires) WHERE expires IS NOT NULL;
