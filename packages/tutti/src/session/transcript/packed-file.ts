// A `PackedFile` is a gzip file with random access. It consists of many gzip members, each with a part of the content.
// A member's header contains its packed and unpacked length, so `read` unpacks only the member it needs.
import { closeSync, constants, createReadStream, createWriteStream, fstatSync, readSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { crc32, deflateRaw, gunzipSync } from "node:zlib";
import { openRegular } from "../keeper/open-regular.ts";

const PART_BYTES = 1024 * 1024;
/** A gzip header with one extra field: packed and unpacked length of the member. */
const HEADER_BYTES = 24;
const MARK = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 12, 0, 0x54, 0x55, 8, 0]);

async function packPart(part: Buffer): Promise<Buffer> {
  const packed = await promisify(deflateRaw)(part);
  const header = Buffer.concat([MARK, Buffer.alloc(8)]);
  header.writeUInt32LE(HEADER_BYTES + packed.length + 8, 16);
  header.writeUInt32LE(part.length, 20);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(part), 0);
  trailer.writeUInt32LE(part.length, 4);
  return Buffer.concat([header, packed, trailer]);
}

/** Closes `fd`, and resolves when the packed file is synced. */
export async function writePacked(fd: number, packed: string): Promise<void> {
  await pipeline(
    createReadStream("", { fd, highWaterMark: PART_BYTES }),
    async function* (parts: AsyncIterable<Buffer>) {
      let empty = true;
      for await (const part of parts) {
        empty = false;
        yield await packPart(part);
      }
      if (empty) yield await packPart(Buffer.alloc(0));
    },
    createWriteStream(packed, { mode: 0o600, flush: true }),
  );
}

interface Member {
  /** Offset in the packed file. */
  at: number;
  /** Offset in the content. */
  from: number;
  /** Packed length. */
  bytes: number;
  /** Unpacked length. */
  holds: number;
}

export class PackedFile {
  readonly #path: string;
  readonly #members: Member[] = [];
  readonly length: number;
  /** The member unpacked last. Sequential reads need it again. */
  #open: { member: Member; content: Buffer } | null = null;

  /** Throws ENOENT if the file does not exist. */
  constructor(path: string) {
    this.#path = path;
    let from = 0;
    this.#withFile((fd) => {
      const { size } = fstatSync(fd);
      for (let at = 0; at < size; at += this.#members.at(-1)!.bytes) {
        const member = this.#readHeader(fd, at, from, size);
        this.#members.push(member);
        from += member.holds;
      }
    });
    this.length = from;
  }

  /** Returns at most `length` bytes: fewer at the end of a member, none at the end of the file. */
  read(at: number, length: number): Buffer {
    const member = this.#members[this.#find(at)];
    if (!member || at >= this.length) return Buffer.alloc(0);
    if (this.#open?.member !== member) this.#open = { member, content: this.#withFile((fd) => unpack(fd, member)) };
    return this.#open.content.subarray(at - member.from, at - member.from + length);
  }

  /** `#find` is the index of the last member with `from <= at`. */
  #find(at: number): number {
    let low = 0;
    let high = this.#members.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#members[middle]!.from <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #readHeader(fd: number, at: number, from: number, size: number): Member {
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(fd, header, 0, HEADER_BYTES, at);
    if (header.compare(MARK, 0, MARK.length, 0, MARK.length) === 0)
      return { at, from, bytes: header.readUInt32LE(16), holds: header.readUInt32LE(20) };
    // Packed by another program, without lengths: treat the rest of the file as one member.
    const whole = { at, from, bytes: size - at, holds: 0 };
    const content = unpack(fd, whole);
    const member = { ...whole, holds: content.length };
    this.#open = { member, content };
    return member;
  }

  #withFile<T>(work: (fd: number) => T): T {
    const fd = openRegular(this.#path, constants.O_RDONLY);
    if (fd === null) throw Object.assign(new Error(`"${this.#path}" is not a file.`), { code: "ENOENT" });
    try {
      return work(fd);
    } finally {
      closeSync(fd);
    }
  }
}

function unpack(fd: number, { at, bytes }: Member): Buffer {
  const packed = Buffer.allocUnsafe(bytes);
  return gunzipSync(packed.subarray(0, readSync(fd, packed, 0, bytes, at)));
}
