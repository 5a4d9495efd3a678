// Finds the tests that cite a row of the requirements in their titles: `(D4-109, D4-113/E12)`, `(D4-204..D4-209)`.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One row in the title of a test or `describe`. */
export interface Citation {
  readonly row: string;
  /** Path below the folder that was read. */
  readonly file: string;
  /** The row as spelled in the title: `D4-205`, or the range that contains it. Full test names contain it. */
  readonly spelling: string;
}

const TITLE = /\b(?:it|test|describe)(?:\.\w+)*(?:\([^()]*\))?\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*?)\1/g;
const RANGE = /\bD([0-4])-(\d{3})\.\.(?:D\1-)?(\d{3})\b/g;
const ROW = /\bD[0-4]-\d{3}\b/g;

export function readCitations(folder: string): Citation[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts") && !file.includes("fixtures/"))
    .toSorted()
    .flatMap((file) => citationsIn(readFileSync(join(folder, file), "utf8")).map((cited) => ({ ...cited, file })));
}

export function citationsIn(text: string): Omit<Citation, "file">[] {
  return [...text.matchAll(TITLE)].flatMap(([, , title = ""]) => [
    ...[...title.replaceAll(RANGE, "").matchAll(ROW)].map(([row]) => ({ row, spelling: row })),
    ...[...title.matchAll(RANGE)].flatMap(([spelling, document, from, to]) =>
      Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => ({
        row: `D${document}-${String(Number(from) + i).padStart(3, "0")}`,
        spelling,
      })),
    ),
  ]);
}
