// The parts of `pg` that Tutti uses. The types of the published package must not need `pg`, which is optional.

interface SqlResult<Row> {
  rows: Row[];
  rowCount: number | null;
}

/** The database parses and plans a `PreparedQuery` once per connection. `name` stands for `text`. */
export interface PreparedQuery {
  name: string;
  text: string;
  values: unknown[];
}

export interface SqlClient {
  query<Row extends object = Record<string, unknown>>(
    query: string | PreparedQuery,
    values?: unknown[],
  ): Promise<SqlResult<Row>>;
}

export interface PooledClient extends SqlClient {
  /** With an error or `true` the connection is not used again. */
  release(error?: Error | boolean): void;
}

export interface SqlPool extends SqlClient {
  connect(): Promise<PooledClient>;
}

export interface SqlConnection extends SqlClient {
  on(event: "notification", listener: (message: { channel: string; payload?: string }) => void): this;
  on(event: "end" | "error", listener: () => void): this;
  end(): Promise<void>;
}

/** Texts as a value that is a JSON array. `pg` takes three times as long as `JSON.stringify` to write them as an array. */
export const textArray = (parameter: number): string => `ARRAY(SELECT json_array_elements_text($${parameter}::json))`;
