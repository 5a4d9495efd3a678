import { language, translate } from "../../text/language.ts";
import { Fragment } from "react";
import type { Census } from "../../../../tutti/src/schema/outcome.ts";

const PARTS: { key: Exclude<keyof Census, "planned">; word: string; tone: string }[] = [
  { key: "completed", word: translate("completed"), tone: "good" },
  { key: "failed", word: translate("failed"), tone: "bad" },
  { key: "timeout", word: translate("timed out"), tone: "bad" },
  { key: "blocked", word: translate("blocked"), tone: "warning" },
  { key: "cancelled", word: translate("cancelled"), tone: "neutral" },
  { key: "skipped", word: translate("skipped"), tone: "neutral" },
  { key: "neverStarted", word: translate("never started"), tone: "neutral" },
];

/** The parts add up to `planned`. Parts of 0 are left out, except `completed`. */
export function CensusRow({ census }: { census: Census }) {
  const parts = PARTS.filter(({ key }) => census[key] > 0 || key === "completed");
  return (
    <div className="census" role="group" aria-label={translate("Tasks by result")}>
      <span className="census-part">
        <strong>{census.planned}</strong> {agreeing(translate("planned"), census.planned)}
      </span>
      {parts.map(({ key, word, tone }, index) => (
        <Fragment key={key}>
          <span className="census-sign">{index === 0 ? "=" : "+"}</span>
          <span className={`census-part tone-${tone}`} data-census={key}>
            <strong>{census[key]}</strong> {agreeing(word, census[key])}
          </span>
        </Fragment>
      ))}
    </div>
  );
}

/** The French words of the catalogue are plural. */
const agreeing = (word: string, count: number): string =>
  language === "fr" && count < 2 ? word.replace(/s$/, "") : word;
