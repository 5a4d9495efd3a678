// The log. `tutti.log` has one row; every writer locks it, so that `seq` has no gap and commits are in the order of
// `seq`.
//
// `epoch` counts the servers that were ever opened. `runs` names the only server that may append to a run. The row with
// the empty name is the log of all servers.
// `servers` has one row for each data folder: `epoch` fences an earlier process of the same folder, `beat` changes
// while the server lives (see `server-watch.ts`), and `batch` is its last committed write, which resolves a lost
// acknowledgement.
// `removals` lets a replica find runs that were emptied behind its position: the events of `run` up to `seq`.
// `requests` are sent from one server to another.
export const log = `
  CREATE TABLE tutti.log (
    id    uuid   NOT NULL DEFAULT gen_random_uuid(),
    seq   bigint NOT NULL,
    epoch bigint NOT NULL
  );
  INSERT INTO tutti.log (seq, epoch) VALUES (0, 0);
  CREATE TABLE tutti.events (
    seq     bigint  PRIMARY KEY,
    run     text    NOT NULL,
    run_seq bigint  NOT NULL,
    type    text    NOT NULL,
    data    text    NOT NULL,
    at      bigint  NOT NULL,
    version integer NOT NULL,
    UNIQUE (run, run_seq)
  );
  CREATE TABLE tutti.servers (
    id    text   PRIMARY KEY,
    epoch bigint NOT NULL,
    beat  bigint NOT NULL,
    batch bigint NOT NULL
  );
  CREATE TABLE tutti.runs (
    run    text   PRIMARY KEY,
    last   bigint NOT NULL,
    server text
  );
  CREATE INDEX runs_of_server ON tutti.runs (server);
  INSERT INTO tutti.runs (run, last) VALUES ('', 0);
  CREATE TABLE tutti.removals (
    n   bigint PRIMARY KEY,
    run text   NOT NULL,
    at  bigint NOT NULL,
    seq bigint NOT NULL
  );
  CREATE TABLE tutti.requests (
    id      uuid    PRIMARY KEY,
    server  text    NOT NULL,
    request text    NOT NULL,
    taken   boolean NOT NULL DEFAULT false,
    answer  text
  );
  CREATE INDEX requests_of_server ON tutti.requests (server) WHERE NOT taken;
`;
