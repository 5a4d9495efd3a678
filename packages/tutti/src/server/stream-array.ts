// Streams a JSON array item by item: the client's reading sets the pace, so a client that does not read costs the memory
// of one chunk.

const CHUNK_CHARACTERS = 64 * 1024;

/** `items` are JSON texts. */
export function streamArray(items: Iterable<string>, status = 200): Response {
  return streamText(joinItems(items), status, "application/json");
}

/** Joins short texts to chunks. An exception before the first chunk is thrown; a later one aborts the connection. */
export function streamText(
  texts: Iterable<string>,
  status: number,
  type: string,
  headers: Record<string, string> = {},
): Response {
  const remaining = texts[Symbol.iterator]();
  const encoder = new TextEncoder();
  const nextChunk = (): string => {
    let chunk = "";
    while (chunk.length < CHUNK_CHARACTERS) {
      const { value, done } = remaining.next();
      if (done) break;
      chunk += value;
    }
    return chunk;
  };
  let chunk = nextChunk();
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (chunk === "") return controller.close();
        controller.enqueue(encoder.encode(chunk));
        chunk = nextChunk();
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
