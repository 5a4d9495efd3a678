// The wire form of an event, shared by WebSocket, server-sent events and lists.
import type { StoredEvent } from "../../schema/event.ts";

export interface LiveFrame {
  /** Position in the log of the whole server. */
  seq: number;
  /** Null for events of the server itself. */
  run: string | null;
  /** Position in the log of the run. */
  runSeq: number;
  type: string;
  data: unknown;
  timestamp: string;
}

export function frameOf({ seq, run, runSeq, type, data, timestamp }: StoredEvent): LiveFrame {
  return { seq, run, runSeq, type, data, timestamp: new Date(timestamp).toISOString() };
}

/** Events that are sent together. Each encoding is computed at most once and shared by all clients. */
export class Batch {
  readonly events: readonly StoredEvent[];
  #texts: string[] | null = null;
  #webSocket: Buffer | null = null;
  #stream: Buffer | null = null;

  constructor(events: readonly StoredEvent[]) {
    this.events = events;
  }

  get texts(): string[] {
    return (this.#texts ??= this.events.map((event) => JSON.stringify(frameOf(event))));
  }

  get webSocket(): Buffer {
    return (this.#webSocket ??= Buffer.concat(this.texts.map(textMessage)));
  }

  get stream(): Buffer {
    const lines = () => this.texts.map((text, i) => `id: ${this.events[i]!.seq}\ndata: ${text}\n\n`);
    return (this.#stream ??= Buffer.from(lines().join("")));
  }
}

/** Encodes an unmasked, unfragmented text frame of RFC 6455. */
function textMessage(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const bytes = Buffer.allocUnsafe(head + length);
  bytes[0] = 0x81;
  if (head === 2) bytes[1] = length;
  else if (head === 4) {
    bytes[1] = 126;
    bytes.writeUInt16BE(length, 2);
  } else {
    bytes[1] = 127;
    bytes.writeBigUInt64BE(BigInt(length), 2);
  }
  bytes.write(text, head);
  return bytes;
}
