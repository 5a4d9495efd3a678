// `HeadAndTail` keeps the beginning and the end of a text of any length, so that its size in memory is bounded.

/** Short pieces are joined up to `JOINED`, because a list of very many pieces is slow. */
const JOINED = 64 * 1024;

export class HeadAndTail {
  readonly #half: number;
  #head: string[] = [];
  #headLength = 0;
  #tail: string[] = [];
  #tailLength = 0;
  #length = 0;

  /** Keeps at least the first and the last `half` characters. A text of up to twice that length stays whole. */
  constructor(half: number) {
    this.#half = half;
  }

  get length(): number {
    return this.#length;
  }

  push(piece: string): void {
    this.#length += piece.length;
    const room = Math.max(0, this.#half - this.#headLength);
    if (room > 0) {
      append(this.#head, piece.slice(0, room));
      this.#headLength += Math.min(room, piece.length);
    }
    if (piece.length <= room) return;
    append(this.#tail, room > 0 ? piece.slice(room) : piece);
    this.#tailLength += piece.length - room;
    while (this.#tailLength - this.#tail[0]!.length >= this.#half) this.#tailLength -= this.#tail.shift()!.length;
  }

  /** `omitted` is the number of characters between `head` and `tail`. Neither part ends in the middle of a character. */
  parts(): { head: string; tail: string; omitted: number } {
    const head = this.#head.join("");
    const tail = this.#tail.join("");
    if (this.#length <= 2 * this.#half) return { head, tail, omitted: 0 };
    const first = isHigh(head, head.length - 1) ? head.slice(0, -1) : head;
    const from = tail.length - this.#half;
    const last = tail.slice(isLow(tail, from) ? from + 1 : from);
    return { head: first, tail: last, omitted: this.#length - first.length - last.length };
  }

  text(): string {
    const { head, tail, omitted } = this.parts();
    return omitted === 0 ? head + tail : `${head}${leftOut(omitted)}${tail}`;
  }
}

/** `leftOut` takes the place of omitted characters. */
export const leftOut = (characters: number): string => ` [${characters} characters left out] `;

function append(pieces: string[], piece: string): void {
  const last = pieces.length - 1;
  if (last >= 0 && pieces[last]!.length + piece.length <= JOINED) pieces[last] += piece;
  else pieces.push(piece);
}

const isHigh = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800;
const isLow = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00;
