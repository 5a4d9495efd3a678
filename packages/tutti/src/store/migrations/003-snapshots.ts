// States that were folded before, to fold less the next time. Whatever is in here can be thrown away.
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
