// Streams a JSON array item by item: the client's reading sets the pace, so a client that does not read costs the memory
// of one chunk.

const CHUNK_CHARACTERS = 64 * 1024;

/** `items` are JSON texts. */
export function streamArray(items: Iterable<string>, status = 200): Response {
  return streamText(joinItems(items), status, "application/json");
}

/** Joins short texts to chunks. An exception of `texts` aborts the connection, because the status is sent by then. */
export function streamText(
  texts: Iterable<string>,
  status: number,
  type: string,
  headers: Record<string, string> = {},
): Response {
  const remaining = texts[Symbol.iterator]();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        let chunk = "";
        while (chunk.length < CHUNK_CHARACTERS) {
          const { value, done } = remaining.next();
          if (done) break;
          chunk += value;
        }
        if (chunk === "") controller.close();
        else controller.enqueue(encoder.encode(chunk));
      },
      cancel: () => void remaining.return?.(),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status, headers: { "Content-Type": type, ...headers } });
}

function* joinItems(items: Iterable<string>): Generator<string> {
  let separator = "[";
  for (const item of items) {
    yield separator + item;
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}
