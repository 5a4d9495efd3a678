import type { Hide } from "../access/hide.ts";
import { encodeStored, type RawEvent, type StoredEvent } from "../../schema/event.ts";

/** An `EncodedFrame` is JSON text for WebSocket, server-sent events and lists, with the members that filters need. */
export interface EncodedFrame {
  seq: number;
  run: string | null;
  type: string;
  text: string;
}

export const encodeFrame = (event: StoredEvent): EncodedFrame => encodeRaw(encodeStored(event));

/** Encodes `Frame` of the API. Without `hide`, the stored text of `data` is inserted unchanged. */
export function encodeRaw({ seq, run, runSeq, type, ...event }: RawEvent, hide: Hide | null = null): EncodedFrame {
  // A secret may contain characters that JSON escapes.
  const data = hide ? JSON.stringify(hide(JSON.parse(event.data))) : event.data;
  const head = JSON.stringify({ seq, run, runSeq, type });
  const time = new Date(event.timestamp).toISOString();
  return { seq, run, type, text: `${head.slice(0, -1)},"data":${data},"timestamp":"${time}"}` };
}

/** A `Batch` is sent as a whole. Each encoding is computed at most once and shared by all clients. */
export class Batch {
  readonly frames: readonly EncodedFrame[];
  #webSocket: Buffer | null = null;
  #stream: Buffer | null = null;

  constructor(frames: readonly EncodedFrame[]) {
    this.frames = frames;
  }

  get webSocket(): Buffer {
    return (this.#webSocket ??= join(this.frames.map(({ text }) => textMessage(text))));
  }

  get stream(): Buffer {
    return (this.#stream ??= join(this.frames.map(({ seq, text }) => Buffer.from(`id: ${seq}\ndata: ${text}\n\n`))));
  }
}

/** A large event is alone in its page, so `join` does not copy its bytes once more. */
const join = (buffers: Buffer[]): Buffer => (buffers.length === 1 ? buffers[0]! : Buffer.concat(buffers));

/** `textMessage` is an unmasked, unfragmented text frame of RFC 6455. */
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
