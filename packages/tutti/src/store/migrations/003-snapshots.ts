// Folded states, which later folds start from. All rows can be deleted at any time.
export const snapshots = `
  CREATE TABLE snapshots (
    run     TEXT    PRIMARY KEY,
    run_seq INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    fold    INTEGER NOT NULL,
    over    INTEGER NOT NULL,
    summary TEXT    NOT NULL,
    state   TEXT    NOT NULL
  ) STRICT
`;
