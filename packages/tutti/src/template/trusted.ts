// The lists of programs that the person has agreed to, by their hash, in a file of the data folder.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { writeWholeFile } from "./write-file.ts";
import { TuttiError } from "../schema/error.ts";

const Hash = z.string().regex(/^[0-9a-f]{64}$/);
const TrustFile = z.strictObject({ trusted: z.array(Hash) });
const OWNER_ONLY = 0o600;

export class TrustedPrograms {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  has(hash: string): boolean {
    return this.#read().includes(hash);
  }

  add(hash: string): void {
    if (!Hash.safeParse(hash).success)
      throw new TuttiError("invalid_input", "what is trusted is named by a SHA-256 hash of 64 hexadecimal digits");
    const trusted = this.#read();
    if (trusted.includes(hash)) return;
    const text = `${JSON.stringify({ trusted: [...trusted, hash] }, null, 2)}\n`;
    writeWholeFile(this.file, text, { mode: OWNER_ONLY });
  }

  /** A file that cannot be read trusts nothing, and says so rather than being written over. */
  #read(): string[] {
    try {
      return TrustFile.parse(JSON.parse(readFileSync(this.file, "utf8"))).trusted;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      const message = `${this.file}, the list of what you trust, cannot be read; correct it or remove it`;
      throw new TuttiError("storage_failed", message, { cause: error });
    }
  }
}
