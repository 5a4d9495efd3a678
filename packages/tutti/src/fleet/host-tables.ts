// The tables and functions of worker hosts, in the schema `tutti_hosts`.
//
// Invariants
// 1. A host reaches the database only through `HOST_FUNCTIONS`, which run with the rights of the owner. Its login may
//    call these and nothing else, so a host cannot write the log or read the sessions of another host.
// 2. `own_host` identifies the host by its login. Only a login with the rights of the owner may name a host by its id.
// 3. A report counts only with the token that `host_sync` gave for the attempt, while the host holds the attempt. So a
//    late or repeated report changes nothing.
// 4. Jobs are handed out by pg-boss: `claim_jobs`, `insert_jobs` and `end_jobs` are its own statements; see `JobQueue`.
// 5. A transaction locks attempts in the order of their keys, so that no two of them wait for each other.
// 6. A host is lost only after the lease that its last beat got, `host.lease_ms`. A server that starts with a shorter one
//    changes `setting`, and each host gets it with its next beat.
//
// 7. Rows of `request`, `signal` and `entry` are inserted while their attempt is locked. So no foreign key is needed,
//    which would be checked for each row. `Fleet.forget` deletes them after their attempt.
//
// 8. The requests of an attempt that is over keep no content: prompts contain the secrets that users wrote.
//
// Values of agents are stored as text, because `jsonb` rejects the character U+0000.

/** `own_host` raises `HOST_REMOVED` for a host that the user has removed. */
export const HOST_REMOVED = "TU001";
/** `own_host` raises `HOST_UNKNOWN` for a login that belongs to no host. */
export const HOST_UNKNOWN = "TU002";

/**
 * `HOST_CHANNEL` followed by a host's id is the channel from servers to that host. The payload is the keys of the
 * attempts with new requests, one per line, or empty for new work.
 */
export const HOST_CHANNEL = "tutti_host_";
/** Hosts notify servers on `REPORTS`. The payload is the keys of the attempts with new reports, one per line. */
export const REPORTS = "tutti_reports";

/** `host_sync` returns at most `REQUEST_PAGE` requests of an attempt. */
export const REQUEST_PAGE = 100;

/** A host that reports a longer signal ends its session. `news` returns about `SIGNAL_PAGE_BYTES` at once. */
export const MAX_SIGNAL_BYTES = 64 * 1024 * 1024;
export const SIGNAL_PAGE_BYTES = 4 * 1024 * 1024;
export const SIGNAL_PAGE = 500;

const TOO_LONG = JSON.stringify({
  type: "gone",
  reason: `its host reported more than ${MAX_SIGNAL_BYTES} bytes at once`,
  deliberate: false,
});

const MAX_AWAY = "1 hour";

export const IS_READY = "NOT host.removed AND NOT host.drained AND NOT host.leaving AND tutti_hosts.is_alive(host.*)";

/** Whether the host has removed the workspace of the attempt `row`. Not a function: PostgreSQL would plan it at each call. */
const isRemoved = (row: string): string =>
  `coalesce((SELECT r.reply LIKE '{"ok"%' FROM request r WHERE r.key = ${row}.key AND r.name = 'remove'), false)`;

/** `HOST_FUNCTIONS` are all that a host's login may execute. */
export const HOST_FUNCTIONS = [
  "host_join(text, text, jsonb, integer, text, jsonb, text[])",
  "host_beat(text, boolean)",
  "host_sync(text, json, integer)",
  "host_release(text, text, text, text)",
] as const;

/** A `parcel` has commits of a server for the one that takes over the run; see `SharedWork`. */
const PARCEL_TABLE = `CREATE TABLE IF NOT EXISTS tutti_hosts.parcel (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run text NOT NULL,
  refs text NOT NULL,
  bundle text
);
CREATE INDEX IF NOT EXISTS parcel_run ON tutti_hosts.parcel (run);
`;

export const HOST_TABLES = `
${PARCEL_TABLE}
CREATE TABLE tutti_hosts.setting (lease_ms integer NOT NULL, functions text NOT NULL DEFAULT '');
INSERT INTO tutti_hosts.setting VALUES (30000);

CREATE TABLE tutti_hosts.host (
  id text PRIMARY KEY,
  name text NOT NULL,
  login text UNIQUE,
  labels jsonb NOT NULL DEFAULT '{}',
  capacity integer NOT NULL DEFAULT 0,
  version text NOT NULL DEFAULT '',
  facts jsonb NOT NULL DEFAULT '{}',
  drained boolean NOT NULL DEFAULT false,
  leaving boolean NOT NULL DEFAULT false,
  removed boolean NOT NULL DEFAULT false,
  lease_ms integer NOT NULL DEFAULT 30000,
  seen_at timestamptz
);

CREATE TABLE tutti_hosts.queue (
  name text PRIMARY KEY,
  labels jsonb NOT NULL,
  needs jsonb NOT NULL DEFAULT '{}',
  claim text NOT NULL,
  insertion text NOT NULL DEFAULT ''
);

CREATE TABLE tutti_hosts.attempt (
  key text PRIMARY KEY,
  run text NOT NULL,
  session text NOT NULL UNIQUE,
  task text,
  queue text,
  job uuid,
  host text REFERENCES tutti_hosts.host,
  server text,
  token text,
  state text NOT NULL CHECK (state IN ('here', 'waiting', 'held', 'over')),
  reason text,
  archived boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON tutti_hosts.attempt (run);
CREATE INDEX ON tutti_hosts.attempt (host) WHERE state = 'held';
CREATE INDEX ON tutti_hosts.attempt (queue) WHERE state = 'waiting';

CREATE TABLE tutti_hosts.request (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text NOT NULL,
  name text NOT NULL,
  body text NOT NULL,
  reply text,
  UNIQUE (key, name)
);

CREATE TABLE tutti_hosts.signal (
  key text NOT NULL,
  at bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (key, at)
);

CREATE TABLE tutti_hosts.entry (
  key text NOT NULL,
  n integer NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (key, n)
);
`;

/** `HOST_TABLES_CHANGES` brings tables of an earlier version to the form of `HOST_TABLES`. */
export const HOST_TABLES_CHANGES = `
${PARCEL_TABLE}
ALTER TABLE tutti_hosts.host ADD COLUMN IF NOT EXISTS lease_ms integer NOT NULL DEFAULT 30000;
ALTER TABLE tutti_hosts.queue ADD COLUMN IF NOT EXISTS needs jsonb NOT NULL DEFAULT '{}';
ALTER TABLE tutti_hosts.attempt ADD COLUMN IF NOT EXISTS server text;
ALTER TABLE tutti_hosts.setting ADD COLUMN IF NOT EXISTS functions text NOT NULL DEFAULT '';
ALTER TABLE tutti_hosts.queue ADD COLUMN IF NOT EXISTS insertion text NOT NULL DEFAULT '';
ALTER TABLE tutti_hosts.request DROP CONSTRAINT IF EXISTS request_key_fkey;
ALTER TABLE tutti_hosts.signal DROP CONSTRAINT IF EXISTS signal_key_fkey;
ALTER TABLE tutti_hosts.entry DROP CONSTRAINT IF EXISTS entry_key_fkey;
`;

const define = (signature: string, returns: string, body: string, variables = ""): string => `
CREATE OR REPLACE FUNCTION tutti_hosts.${signature} RETURNS ${returns}
LANGUAGE plpgsql SECURITY DEFINER SET search_path = tutti_hosts, pg_temp AS $function$
#variable_conflict use_column
${variables === "" ? "" : `DECLARE ${variables}`}
BEGIN
${body}
END $function$;
`;

/**
 * PostgreSQL would plan the statements of these functions anew at most calls, which takes a quarter of their time. A kept
 * plan is made from the statistics of tables that were empty a moment ago, so it may only look up rows by their keys.
 */
const KEEP_PLANS = [
  "host_sync(text, json, integer)",
  "place(text, json)",
  "store_requests(text[], text[], text[])",
  "news(text[], bigint[], text[], bigint[])",
  "finish(text[], text[])",
]
  .flatMap((each) =>
    [
      "plan_cache_mode = force_generic_plan",
      "jit = off",
      ...["seqscan", "bitmapscan", "hashjoin", "mergejoin", "material"].map((way) => `enable_${way} = off`),
    ].map((setting) => `ALTER FUNCTION tutti_hosts.${each} SET ${setting};`),
  )
  .join("\n");

/** `HOST_FUNCTIONS_SQL` runs at a start after which the functions match the version of the server (`setting.functions`). */
export const HOST_FUNCTIONS_SQL = [
  define(
    "own_host(p_id text)",
    "tutti_hosts.host",
    `
  SELECT * INTO found_host FROM host WHERE login = session_user;
  IF NOT FOUND AND pg_has_role(session_user, current_user, 'MEMBER') THEN
    SELECT * INTO found_host FROM host WHERE id = p_id;
  END IF;
  IF found_host.id IS NULL THEN
    RAISE EXCEPTION 'This login belongs to no host.' USING ERRCODE = '${HOST_UNKNOWN}';
  END IF;
  IF found_host.removed THEN
    RAISE EXCEPTION 'The host "%" was removed.', found_host.name USING ERRCODE = '${HOST_REMOVED}';
  END IF;
  RETURN found_host;`,
    "found_host host;",
  ),
  // The time in which the database was away does not count, unless it is longer than `MAX_AWAY`.
  `CREATE OR REPLACE FUNCTION tutti_hosts.is_alive(h tutti_hosts.host) RETURNS boolean LANGUAGE sql STABLE AS $function$
     SELECT h.seen_at IS NOT NULL AND now() - h.lease_ms * interval '1 ms' <=
            greatest(h.seen_at, least(pg_postmaster_start_time(), h.seen_at + interval '${MAX_AWAY}'))
   $function$;`,
  `CREATE OR REPLACE FUNCTION tutti_hosts.fits(h tutti_hosts.host, q tutti_hosts.queue) RETURNS boolean
   LANGUAGE sql IMMUTABLE AS $function$ SELECT h.labels @> q.labels AND h.facts @> q.needs $function$;`,
  // PostgreSQL limits a payload to 8,000 bytes.
  `CREATE OR REPLACE FUNCTION tutti_hosts.notify_keys(p_channel text, p_keys text[]) RETURNS void LANGUAGE plpgsql AS $function$
   DECLARE key text; keys text := array_to_string(p_keys, E'\\n');
   BEGIN
     IF octet_length(keys) BETWEEN 1 AND 7000 THEN
       PERFORM pg_notify(p_channel, keys);
     ELSE
       FOREACH key IN ARRAY p_keys LOOP PERFORM pg_notify(p_channel, key); END LOOP;
     END IF;
   END $function$;`,
  define(
    "holds(p_host text, p_key text, p_token text)",
    "boolean",
    `
  PERFORM 1 FROM attempt WHERE key = p_key AND host = p_host AND token = p_token AND state = 'held' FOR SHARE;
  RETURN FOUND;`,
  ),
  define(
    "host_join(p_id text, p_name text, p_labels jsonb, p_capacity integer, p_version text, p_facts jsonb, p_known text[])",
    "jsonb",
    `
  IF NOT EXISTS (SELECT 1 FROM host WHERE login = session_user) AND pg_has_role(session_user, current_user, 'MEMBER') THEN
    INSERT INTO host (id, name) VALUES (p_id, p_name) ON CONFLICT (id) DO NOTHING;
  END IF;
  own := own_host(p_id);
  UPDATE host SET name = CASE WHEN login IS NULL THEN p_name ELSE name END, labels = p_labels, capacity = p_capacity,
    version = p_version, facts = p_facts, leaving = false, seen_at = now(), lease_ms = (SELECT s.lease_ms FROM setting s)
    WHERE id = own.id;
  -- A host that ended between a claim and its record of it knows nothing of the attempt.
  UPDATE attempt SET state = 'over', reason = 'its host was restarted'
    WHERE host = own.id AND state = 'held' AND NOT key = ANY (p_known);
  RETURN jsonb_build_object('id', own.id, 'name', CASE WHEN own.login IS NULL THEN p_name ELSE own.name END);`,
    "own host;",
  ),
  define(
    "host_beat(p_id text, p_leaving boolean)",
    "jsonb",
    `
  own := own_host(p_id);
  UPDATE host SET seen_at = now(), leaving = p_leaving, lease_ms = (SELECT s.lease_ms FROM setting s) WHERE id = own.id;
  RETURN jsonb_build_object(
    'drained', own.drained,
    'leaseMs', (SELECT lease_ms FROM setting),
    'held', (SELECT coalesce(jsonb_object_agg(a.key, coalesce((SELECT max(s.at) FROM signal s WHERE s.key = a.key), 0)), '{}')
               FROM attempt a WHERE a.host = own.id AND a.state = 'held'));`,
    "own host;",
  ),
  define(
    "room(p_host text)",
    "integer",
    `
  -- An attempt that its host has removed needs no room, although its server has not finished it yet.
  RETURN (SELECT h.capacity - (SELECT count(*) FROM attempt a WHERE a.host = h.id AND a.state = 'held' AND NOT ${isRemoved("a")})
            FROM host h WHERE h.id = p_host);`,
  ),
  define(
    "take(own tutti_hosts.host, p_limit integer)",
    "text[]",
    `
  -- An idle host locks nothing, so that it causes no write.
  SELECT coalesce(sum(w.attempts), 0) INTO waiting FROM queue q,
    LATERAL (SELECT count(*) AS attempts FROM attempt a WHERE a.queue = q.name AND a.state = 'waiting') AS w
    WHERE fits(own, q.*);
  IF waiting = 0 OR own.drained OR own.leaving THEN RETURN keys; END IF;
  -- Two calls of one host must not exceed its capacity together.
  PERFORM 1 FROM host WHERE id = own.id FOR UPDATE;
  -- A host leaves their share to the others.
  wanted := least(p_limit, room(own.id), ceil(waiting / (SELECT greatest(1, count(*)) FROM host h
    WHERE NOT (h.removed OR h.drained OR h.leaving) AND is_alive(h.*))));
  FOR source IN SELECT q.* FROM queue q WHERE fits(own, q.*) AND EXISTS (
    SELECT 1 FROM attempt a WHERE a.queue = q.name AND a.state = 'waiting') ORDER BY q.name LOOP
    LOOP
      EXIT WHEN wanted <= 0;
      asked := wanted;
      SELECT coalesce(array_agg(c.job), '{}'), coalesce(array_agg(c.attempt), '{}') INTO jobs, claims
        FROM claim_jobs(source.name, asked) AS c;
      EXIT WHEN cardinality(claims) = 0;
      -- A job without a waiting attempt was cancelled.
      WITH ordered AS (
        SELECT key FROM attempt WHERE key = ANY (claims) AND job = ANY (jobs) AND state = 'waiting' ORDER BY key FOR UPDATE),
      held AS (
        UPDATE attempt a SET state = 'held', host = own.id, token = gen_random_uuid()::text
          FROM ordered WHERE a.key = ordered.key RETURNING a.key)
      SELECT coalesce(array_agg(key), '{}') INTO claims FROM held;
      keys := keys || claims;
      wanted := wanted - cardinality(claims);
      EXIT WHEN cardinality(jobs) < asked;
    END LOOP;
  END LOOP;
  RETURN keys;`,
    "keys text[] := '{}'; waiting numeric; wanted integer; asked integer; source queue; jobs uuid[]; claims text[];",
  ),
  // Adds attempts in the transaction of the event that starts them. One with a `queue` waits for a host, unless no ready
  // host fits it and it has no labels: then it stays here.
  define(
    "place(p_server text, p_attempts json)",
    "json",
    `
  SELECT coalesce(array_agg(q.name), '{}') INTO waiting FROM queue q
    WHERE q.name IN (SELECT p.queue FROM json_to_recordset(p_attempts) AS p (queue text))
      AND (q.labels <> '{}' OR EXISTS (SELECT 1 FROM host WHERE fits(host.*, q.*) AND ${IS_READY}));
  INSERT INTO attempt (key, run, session, task, state, server, queue, job)
    SELECT p.key, p.run, p.session, p.task, CASE WHEN w.name IS NULL THEN 'here' ELSE 'waiting' END,
           CASE WHEN w.name IS NULL THEN p_server END, w.name, CASE WHEN w.name IS NULL THEN NULL ELSE p.job END
      FROM json_to_recordset(p_attempts) AS p (key text, run text, session text, task text, queue text, job uuid)
      LEFT JOIN unnest(waiting) AS w (name) ON w.name = p.queue;
  FOR source IN SELECT q.* FROM queue q WHERE q.name = ANY (waiting) ORDER BY q.name LOOP
    SELECT json_agg(json_build_object('id', p.job, 'data', json_build_object('key', p.key))) INTO jobs
      FROM json_to_recordset(p_attempts) AS p (key text, queue text, job uuid) WHERE p.queue = source.name;
    PERFORM insert_jobs(source.name, jobs::text);
  END LOOP;
  RETURN json_build_object(
    'hasReadyHost', EXISTS (SELECT 1 FROM host WHERE ${IS_READY}),
    'waiting', to_json(waiting));`,
    "waiting text[]; source queue; jobs json;",
  ),
  // Wakes as many hosts with room as there are attempts that wait. Waking all of a large fleet would cost more than the
  // jobs. It is called with the first request of an attempt: a host that came earlier would have to wait for the request.
  define(
    "wake_hosts(p_keys text[])",
    "void",
    `
  PERFORM pg_notify('${HOST_CHANNEL}' || chosen.id, '')
    FROM (SELECT queue, count(*) AS attempts FROM attempt WHERE key = ANY (p_keys) AND state = 'waiting' GROUP BY queue) AS w
    JOIN queue q ON q.name = w.queue,
    LATERAL (SELECT id FROM host WHERE ${IS_READY} AND fits(host.*, q.*) AND room(id) > 0
              ORDER BY random() LIMIT w.attempts) AS chosen;`,
  ),
  define(
    "store_requests(p_keys text[], p_names text[], p_bodies text[])",
    'TABLE (n bigint, key text, name text, reply text, state text, reason text, "isRemoved" boolean)',
    `
  RETURN QUERY WITH locked AS (SELECT key, state, reason FROM attempt WHERE key = ANY (p_keys) ORDER BY key FOR SHARE),
    added AS (
      INSERT INTO request (key, name, body)
      SELECT g.key, g.name, CASE WHEN state = 'over' THEN '{}' ELSE g.body END
        FROM unnest(p_keys, p_names, p_bodies) WITH ORDINALITY AS g (key, name, body, i) JOIN locked USING (key) ORDER BY g.i
      ON CONFLICT (key, name) DO UPDATE SET name = excluded.name RETURNING n, key, name, reply)
    SELECT a.n, a.key, a.name, a.reply, l.state, l.reason, ${isRemoved("a")} FROM added a JOIN locked l USING (key);
  PERFORM notify_keys('${HOST_CHANNEL}' || held.host, held.keys)
    FROM (SELECT host, array_agg(key) AS keys FROM attempt WHERE key = ANY (p_keys) AND state = 'held' GROUP BY host) AS held;
  PERFORM wake_hosts(p_keys);`,
  ),
  // All of it has one snapshot, so no signal of an attempt that is over is missed.
  define(
    "news(p_keys text[], p_calls bigint[], p_followed text[], p_after bigint[])",
    "TABLE (key text, kind text, n bigint, body text)",
    `
  RETURN QUERY SELECT k.key, 'over', NULL::bigint, a.reason FROM unnest(p_keys) AS k (key) LEFT JOIN attempt a USING (key)
      WHERE a.key IS NULL OR a.state = 'over'
    UNION ALL
    SELECT key, 'reply', n, reply FROM request WHERE n = ANY (p_calls) AND reply IS NOT NULL
    UNION ALL
    (SELECT u.key, 'signal', s.at, s.body FROM unnest(p_followed, p_after) AS u (key, after),
       LATERAL (SELECT at, body FROM (
         SELECT at, body, sum(octet_length(body)) OVER (ORDER BY at) - octet_length(body) AS before FROM (
           SELECT at, body FROM signal WHERE key = u.key AND at > u.after ORDER BY at LIMIT ${SIGNAL_PAGE}) AS page) AS summed
         WHERE before < ${SIGNAL_PAGE_BYTES}) AS s);`,
  ),
  // The requests are removed with their content: prompts and the output of checks may contain secrets.
  define(
    "finish(p_keys text[], p_reasons text[])",
    "void",
    `
  PERFORM 1 FROM attempt WHERE key = ANY (p_keys) AND state <> 'here' ORDER BY key FOR UPDATE;
  DELETE FROM request WHERE key = ANY (p_keys);
  UPDATE attempt SET state = 'over', reason = coalesce(attempt.reason, f.reason)
    FROM unnest(p_keys, p_reasons) AS f (key, reason) WHERE attempt.key = f.key AND attempt.state <> 'here';
  FOR ended IN SELECT queue, array_agg(job) AS jobs FROM attempt
    WHERE key = ANY (p_keys) AND queue IS NOT NULL AND job IS NOT NULL GROUP BY queue ORDER BY queue LOOP
    PERFORM end_jobs(ended.queue, ended.jobs);
  END LOOP;`,
    "ended record;",
  ),
  define(
    "host_sync(p_id text, p_reports json, p_take integer)",
    "json",
    `
  own := own_host(p_id);
  -- The reports are parsed once: their signals and replies are most of the call.
  SELECT array_agg(r.key), array_agg(r.token), array_agg(r.after), array_agg(r."hasNews"),
         array_agg(r.signals), array_agg(r.entries), array_agg(r.replies)
    INTO keys, tokens, afters, news, signals, entries, replies
    FROM json_to_recordset(p_reports) AS r (key text, token text, after bigint, "hasNews" boolean, signals json, entries json, replies json);
  -- A host that only reads locks nothing.
  SELECT coalesce(array_agg(key), '{}') INTO reported FROM (
    SELECT a.key FROM unnest(keys, tokens, news) AS r (key, token, "hasNews") JOIN attempt a USING (key)
     WHERE r."hasNews" AND a.host = own.id AND a.token = r.token AND a.state = 'held' ORDER BY a.key FOR SHARE OF a) AS locked;
  IF cardinality(reported) > 0 THEN
    INSERT INTO signal SELECT r.key, s.at, CASE WHEN octet_length(s.body) > ${MAX_SIGNAL_BYTES} THEN '${TOO_LONG}' ELSE s.body END
      FROM unnest(keys, signals) AS r (key, signals), json_to_recordset(r.signals) AS s (at bigint, body text)
      WHERE r.key = ANY (reported) ON CONFLICT DO NOTHING;
    INSERT INTO entry SELECT r.key, e.n, e.body
      FROM unnest(keys, entries) AS r (key, entries), json_to_recordset(r.entries) AS e (n integer, body text)
      WHERE r.key = ANY (reported) ON CONFLICT (key, n) DO UPDATE SET body = excluded.body;
    UPDATE request SET reply = p.reply
      FROM unnest(keys, replies) AS r (key, replies), json_to_recordset(r.replies) AS p (n bigint, reply text)
      WHERE r.key = ANY (reported) AND request.n = p.n AND request.key = r.key AND request.reply IS NULL;
    PERFORM notify_keys('${REPORTS}', reported);
  END IF;
  -- Not together with reports, whose attempts are locked already.
  taken := CASE WHEN p_take > 0 AND cardinality(reported) = 0 THEN take(own, p_take) ELSE '{}' END;
  RETURN json_build_object(
    'taken', (SELECT coalesce(json_agg(json_build_object('key', key, 'run', run, 'session', session, 'token', token)), '[]')
                FROM attempt WHERE key = ANY (taken)),
    'more', p_take > 0 AND EXISTS (
      SELECT 1 FROM attempt a JOIN queue q ON q.name = a.queue WHERE a.state = 'waiting' AND fits(own, q.*)),
    'requests', (SELECT coalesce(json_agg(json_build_object('key', r.key, 'n', r.n, 'request', r.body::json, 'done', r.reply IS NOT NULL) ORDER BY r.n), '[]')
                FROM (SELECT a.key, p.after FROM unnest(keys, tokens, afters) AS p (key, token, after) JOIN attempt a USING (key)
                       WHERE a.host = own.id AND a.token = p.token AND a.state = 'held'
                      UNION ALL SELECT each, 0 FROM unnest(taken) AS each) AS w,
                     LATERAL (SELECT * FROM request WHERE request.key = w.key AND n > w.after ORDER BY n + 0 LIMIT ${REQUEST_PAGE}) AS r));`,
    `own host; reported text[]; taken text[]; keys text[]; tokens text[]; afters bigint[]; news boolean[];
     signals json[]; entries json[]; replies json[];`,
  ),
  KEEP_PLANS,
  define(
    "host_release(p_id text, p_key text, p_token text, p_reason text)",
    "boolean",
    `
  own := own_host(p_id);
  IF NOT holds(own.id, p_key, p_token) THEN RETURN false; END IF;
  UPDATE attempt SET state = 'over', reason = p_reason WHERE key = p_key;
  PERFORM pg_notify('${REPORTS}', p_key);
  RETURN true;`,
    "own host;",
  ),
  define(
    "clear_requests()",
    "trigger",
    `
  UPDATE request SET body = '{}' WHERE key = NEW.key;
  RETURN NULL;`,
  ),
  `DROP TRIGGER IF EXISTS cleared ON tutti_hosts.attempt;
   CREATE TRIGGER cleared AFTER UPDATE OF state ON tutti_hosts.attempt FOR EACH ROW
     WHEN (NEW.state = 'over' AND OLD.state <> 'over') EXECUTE FUNCTION tutti_hosts.clear_requests();
   UPDATE tutti_hosts.request SET body = '{}' WHERE key IN (SELECT key FROM tutti_hosts.attempt WHERE state = 'over');`,
  "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA tutti_hosts FROM PUBLIC;",
  // A login that an earlier version added lacks the functions that are new.
  `DO $grant$ DECLARE login text; BEGIN
     FOR login IN SELECT rolname FROM pg_roles JOIN tutti_hosts.host ON host.login = rolname WHERE NOT removed LOOP
       ${HOST_FUNCTIONS.map((each) => `EXECUTE format('GRANT EXECUTE ON FUNCTION tutti_hosts.${each} TO %I', login);`).join("\n       ")}
     END LOOP;
   END $grant$;`,
].join("\n");
