import { say, translate } from "../text/language.ts";
import { timeOf, type AnyItem } from "./item-look.ts";
import { Icon } from "../parts/icon.tsx";
import { useNow } from "../shell/use-now.ts";
import { AgentText } from "../text/agent-text.tsx";
import { AgentWords } from "../text/agent-words.tsx";
import { ago, duration } from "../text/format.ts";
import { isOfAgent } from "../../../tutti/src/run/describe-event.ts";

const RISKS = { low: null, medium: translate("Medium risk"), high: translate("High risk") } as const;

export function ItemTerms({ item }: { item: AnyItem }) {
  const { createdAt, expiresAt, risk } = item;
  const now = useNow(true, expiresAt === undefined ? 30_000 : 1000);
  const left = expiresAt === undefined ? null : timeOf(expiresAt) - now;
  const riskWord = RISKS[risk] ?? null;
  return (
    <p className="item-terms">
      <span className="muted">{translate("asked {when}", { when: ago(timeOf(createdAt), now) })}</span>
      {riskWord !== null && <span className={`chip${risk === "high" ? " tone-bad" : ""}`}>{riskWord}</span>}
      {left === null && item.default !== undefined && (
        <span className="muted">
          {translate("without an answer:")} <DefaultAnswer item={item} />
        </span>
      )}
      {left !== null && (
        <span className="item-deadline">
          <Icon name="clock" size={14} />
          <span>
            {left > 0
              ? translate("answers itself in {time}", { time: duration(left) })
              : translate("answers itself now")}
            {item.default !== undefined && (
              <>
                {` ${translate("with")} `}
                <DefaultAnswer item={item} />
              </>
            )}
          </span>
        </span>
      )}
    </p>
  );
}

/** An option of an agent's item is its words. Any other default is a sentence of Tutti. */
function DefaultAnswer({ item }: { item: AnyItem }) {
  const text = item.default ?? "";
  return (
    <q>
      {isOfAgent(item) && item.options?.includes(text) ? (
        <AgentWords text={text} max={200} />
      ) : (
        <AgentText text={say(text)} max={200} />
      )}
    </q>
  );
}
