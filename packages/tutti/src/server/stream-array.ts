// `streamText` sends item by item: the client's reading sets the pace, so a client that does not read costs the memory
// of one chunk.
import { ReadPace } from "./read-pace.ts";
import type { TranscriptEntry } from "../schema/transcript.ts";

const CHUNK_CHARACTERS = 64 * 1024;

const pace = new ReadPace();

export function streamArray(items: Iterable<string>, status = 200): Promise<Response> {
  return streamText(joinItems(items), status, "application/json");
}

/** `streamText` rejects with an exception before the first chunk; a later one aborts the connection. */
export async function streamText(
  texts: Iterable<string> | AsyncIterable<string>,
  status: number,
  type: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const remaining = Symbol.asyncIterator in texts ? texts[Symbol.asyncIterator]() : texts[Symbol.iterator]();
  const encoder = new TextEncoder();
  const nextChunk = async (): Promise<Uint8Array | null> => {
    await pace.turn();
    let chunk = "";
    while (chunk.length < CHUNK_CHARACTERS) {
      const step = remaining.next();
      // An `await` for each of very many items would take most of the time.
      const { value, done } = step instanceof Promise ? await step : step;
      if (done) break;
      chunk += value;
    }
    pace.count(chunk.length);
    return chunk === "" ? null : encoder.encode(chunk);
  };
  let first = await nextChunk();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = first ?? (await nextChunk());
        first = null;
        if (chunk === null) controller.close();
        else controller.enqueue(chunk);
      },
      cancel: () => void remaining.return?.(),
    },
    { highWaterMark: 0 },
  );
  // Without `Transfer-Encoding`, Hono keeps the first chunks in memory until the client has read everything.
  return new Response(body, {
    status,
    headers: { "Content-Type": type, "Transfer-Encoding": "chunked", ...headers },
  });
}

/** A generator would keep its last item in memory for as long as the client does not read on. */
function joinItems(items: Iterable<string>): Iterable<string> {
  const remaining = items[Symbol.iterator]();
  let separator = "[";
  let isOpen = true;
  const next = (): IteratorResult<string> => {
    if (!isOpen) return { done: true, value: undefined };
    const { done, value } = remaining.next();
    if (done) isOpen = false;
    const text = done ? (separator === "[" ? "[]" : "]") : separator + value;
    separator = ",";
    return { done: false, value: text };
  };
  const iterator = { next, return: () => remaining.return?.() ?? { done: true, value: undefined } };
  return { [Symbol.iterator]: () => iterator };
}

/** The most entries of a page from which a transcript is exported. */
export const PAGE_ENTRIES = 10_000;

/** Streams the pages of the transcript of the session `key` as JSON lines. */
export function exportTranscript(key: string, pages: AsyncIterable<TranscriptEntry[]>): Promise<Response> {
  return streamText(encodeLines(pages), 200, "application/x-ndjson; charset=UTF-8", {
    "Content-Disposition": `attachment; filename="${key.replaceAll(/[^\w.-]/g, "_")}.jsonl"`,
  });
}

async function* encodeLines(pages: AsyncIterable<TranscriptEntry[]>): AsyncGenerator<string> {
  for await (const page of pages) for (const entry of page) yield `${JSON.stringify(entry)}\n`;
}
