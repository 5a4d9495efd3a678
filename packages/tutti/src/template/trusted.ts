// `TrustedPrograms` has the hashes of the program lists that the user has approved, in a file of the data folder.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { writeWholeFile } from "./files/write-file.ts";
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
      throw new TuttiError(
        "invalid_input",
        `${JSON.stringify(hash)} is not a SHA-256 hash. Pass 64 hexadecimal digits.`,
      );
    const trusted = this.#read();
    if (trusted.includes(hash)) return;
    const text = `${JSON.stringify({ trusted: [...trusted, hash] }, null, 2)}\n`;
    writeWholeFile(this.file, text, { mode: OWNER_ONLY });
  }

  /** An unreadable file throws: nothing is trusted, and the file is not overwritten. */
  #read(): string[] {
    try {
      return TrustFile.parse(JSON.parse(readFileSync(this.file, "utf8"))).trusted;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      const message = `The list of approved programs in ${this.file} cannot be read. Correct or remove the file.`;
      throw new TuttiError("storage_failed", message, { cause: error });
    }
  }
}
