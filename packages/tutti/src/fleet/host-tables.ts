// The tables and functions of worker hosts, in the schema `tutti_hosts`.
//
// Invariants
// 1. A host reaches the database only through `HOST_FUNCTIONS`, which run with the rights of the owner. Its login may
//    call these and nothing else, so a host cannot write the log or read the sessions of another host.
// 2. `own_host` identifies the host by its login. Only a login with the rights of the owner may name a host by its id.
// 3. A report counts only with the token that `host_take` gave for the attempt, while the host holds the attempt. So a
//    late or repeated report changes nothing.
// 4. Jobs are handed out by pg-boss: `queue.claim` is its own statement that claims the next job of a queue.
//
// Values of agents are stored as text, because `jsonb` rejects the character U+0000.

/** `own_host` raises `HOST_REMOVED` for a host that the user has removed. */
export const HOST_REMOVED = "TU001";
/** `own_host` raises `HOST_UNKNOWN` for a login that belongs to no host. */
export const HOST_UNKNOWN = "TU002";

/**
 * `HOST_CHANNEL` followed by a host's id is the channel from servers to that host. The payload is the key of the
 * attempt with a new request, or empty for new work.
 */
export const HOST_CHANNEL = "tutti_host_";
/** Hosts notify servers on `REPORTS`. The payload is the key of the attempt with a new report. */
export const REPORTS = "tutti_reports";

/** `HOST_FUNCTIONS` are all that a host's login may execute. */
export const HOST_FUNCTIONS = [
  "host_join(text, text, jsonb, integer, text, jsonb, text[])",
  "host_beat(text, boolean)",
  "host_take(text)",
  "host_requests(text, text, text, bigint)",
  "host_reply(text, text, text, bigint, text)",
  "host_report(text, text, text, bigint[], text[], integer[], text[])",
  "host_release(text, text, text, text)",
] as const;

export const HOST_TABLES = `
CREATE TABLE tutti_hosts.setting (lease_ms integer NOT NULL);
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
  seen_at timestamptz
);

CREATE TABLE tutti_hosts.queue (name text PRIMARY KEY, labels jsonb NOT NULL, claim text NOT NULL);

CREATE TABLE tutti_hosts.attempt (
  key text PRIMARY KEY,
  run text NOT NULL,
  session text NOT NULL UNIQUE,
  task text,
  queue text,
  job uuid,
  host text REFERENCES tutti_hosts.host,
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
  key text NOT NULL REFERENCES tutti_hosts.attempt ON DELETE CASCADE,
  name text NOT NULL,
  body text NOT NULL,
  reply text,
  UNIQUE (key, name)
);

CREATE TABLE tutti_hosts.signal (
  key text NOT NULL REFERENCES tutti_hosts.attempt ON DELETE CASCADE,
  at bigint NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (key, at)
);

CREATE TABLE tutti_hosts.entry (
  key text NOT NULL REFERENCES tutti_hosts.attempt ON DELETE CASCADE,
  n integer NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (key, n)
);
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

/** `HOST_FUNCTIONS_SQL` runs at every start, so that the functions match the version of the server. */
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
    version = p_version, facts = p_facts, leaving = false, seen_at = now() WHERE id = own.id;
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
  UPDATE host SET seen_at = now(), leaving = p_leaving WHERE id = own.id;
  RETURN jsonb_build_object(
    'drained', own.drained,
    'leaseMs', (SELECT lease_ms FROM setting),
    'held', (SELECT coalesce(jsonb_object_agg(a.key, coalesce((SELECT max(s.at) FROM signal s WHERE s.key = a.key), 0)), '{}')
               FROM attempt a WHERE a.host = own.id AND a.state = 'held'));`,
    "own host;",
  ),
  define(
    "host_take(p_id text)",
    "jsonb",
    `
  own := own_host(p_id);
  -- Two calls of one host must not exceed its capacity together.
  PERFORM 1 FROM host WHERE id = own.id FOR UPDATE;
  IF own.drained OR own.leaving THEN RETURN NULL; END IF;
  IF (SELECT count(*) FROM attempt WHERE host = own.id AND state = 'held') >= own.capacity THEN RETURN NULL; END IF;
  FOR source IN SELECT * FROM queue WHERE own.labels @> queue.labels ORDER BY name LOOP
    LOOP
      EXECUTE source.claim INTO claimed;
      EXIT WHEN claimed IS NULL;
      UPDATE attempt SET state = 'held', host = own.id, token = gen_random_uuid()::text
        WHERE attempt.job = claimed.id AND state = 'waiting' RETURNING * INTO taken;
      -- A job without a waiting attempt was cancelled.
      CONTINUE WHEN taken.key IS NULL;
      PERFORM pg_notify('${REPORTS}', taken.key);
      RETURN jsonb_build_object('key', taken.key, 'run', taken.run, 'session', taken.session, 'token', taken.token);
    END LOOP;
  END LOOP;
  RETURN NULL;`,
    "own host; source queue; claimed record; taken attempt;",
  ),
  define(
    "host_requests(p_id text, p_key text, p_token text, p_after bigint)",
    "TABLE (n bigint, name text, body text, done boolean)",
    `
  own := own_host(p_id);
  IF holds(own.id, p_key, p_token) THEN
    RETURN QUERY SELECT r.n, r.name, r.body, r.reply IS NOT NULL FROM request r
      WHERE r.key = p_key AND r.n > p_after ORDER BY r.n LIMIT 100;
  END IF;`,
    "own host;",
  ),
  define(
    "host_reply(p_id text, p_key text, p_token text, p_n bigint, p_reply text)",
    "boolean",
    `
  own := own_host(p_id);
  IF NOT holds(own.id, p_key, p_token) THEN RETURN false; END IF;
  UPDATE request SET reply = p_reply WHERE n = p_n AND key = p_key AND reply IS NULL;
  PERFORM pg_notify('${REPORTS}', p_key);
  RETURN true;`,
    "own host;",
  ),
  define(
    "host_report(p_id text, p_key text, p_token text, p_at bigint[], p_signals text[], p_n integer[], p_entries text[])",
    "boolean",
    `
  own := own_host(p_id);
  IF NOT holds(own.id, p_key, p_token) THEN RETURN false; END IF;
  INSERT INTO signal SELECT p_key, u.at, u.body FROM unnest(p_at, p_signals) AS u (at, body) ON CONFLICT DO NOTHING;
  INSERT INTO entry SELECT p_key, u.n, u.body FROM unnest(p_n, p_entries) AS u (n, body)
    ON CONFLICT (key, n) DO UPDATE SET body = excluded.body;
  PERFORM pg_notify('${REPORTS}', p_key);
  RETURN true;`,
    "own host;",
  ),
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
  "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA tutti_hosts FROM PUBLIC;",
].join("\n");
