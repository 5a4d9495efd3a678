// The log, and one row with the epoch of the current writer.
export const events = `
  CREATE TABLE events (
    seq     INTEGER PRIMARY KEY,
    run     TEXT    NOT NULL,
    run_seq INTEGER NOT NULL,
    type    TEXT    NOT NULL,
    data    TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    UNIQUE (run, run_seq)
  ) STRICT;
  CREATE TABLE writer (
    only  INTEGER PRIMARY KEY CHECK (only = 1),
    epoch INTEGER NOT NULL
  ) STRICT;
  INSERT INTO writer VALUES (1, 0);
`;
