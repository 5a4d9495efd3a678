import { Fragment } from "react";
import type { Census } from "../../../../tutti/src/schema/outcome.ts";

const PARTS: { key: Exclude<keyof Census, "planned">; word: string; tone: string }[] = [
  { key: "completed", word: "completed", tone: "good" },
  { key: "failed", word: "failed", tone: "bad" },
  { key: "timeout", word: "timed out", tone: "bad" },
  { key: "blocked", word: "blocked", tone: "warning" },
  { key: "cancelled", word: "cancelled", tone: "neutral" },
  { key: "skipped", word: "skipped", tone: "neutral" },
  { key: "neverStarted", word: "never started", tone: "neutral" },
];

/** The census as a sum: the parts add up to `planned`. Parts of 0 are left out, except `completed`. */
export function CensusRow({ census }: { census: Census }) {
  const parts = PARTS.filter(({ key }) => census[key] > 0 || key === "completed");
  return (
    <div className="census" role="group" aria-label="Tasks by result">
      <span className="census-part">
        <strong>{census.planned}</strong> planned
      </span>
      {parts.map(({ key, word, tone }, index) => (
        <Fragment key={key}>
          <span className="census-sign">{index === 0 ? "=" : "+"}</span>
          <span className={`census-part tone-${tone}`} data-census={key}>
            <strong>{census[key]}</strong> {word}
          </span>
        </Fragment>
      ))}
    </div>
  );
}
