import { translate } from "../text/language.ts";
import { Suspense, useRef } from "react";
import { ItemCard } from "./item-card.tsx";
import { byCost, costOf, lookOf, timeOf, titleOf } from "./item-look.ts";
import { live } from "../live/live-store.ts";
import { useLive } from "../live/use-live.ts";
import { ErrorBoundary } from "../errors/error-boundary.tsx";
import { Icon } from "../parts/icon.tsx";
import { useKeys } from "../shell/keys.ts";
import { lazyPart } from "../shell/lazy-part.ts";
import { Link } from "../shell/link.tsx";
import { ProblemCard } from "../errors/problem-card.tsx";
import { inboxAddress, NEW_RUN, runAddress, runsAddress } from "../shell/page-route.ts";
import { navigate, replaceAddress } from "../shell/route.ts";
import { useNow } from "../shell/use-now.ts";
import { AgentText } from "../text/agent-text.tsx";
import { ago, lastPart, plural } from "../text/format.ts";
import { shown } from "../text/safe-text.ts";
import { usePageTitle } from "../text/use-page-title.ts";
import type { WaitingItem } from "../../../tutti/src/client/run-summary.ts";
import { isRunOver } from "../../../tutti/src/schema/status.ts";

// Most pages have no lost drafts.
const LostDrafts = lazyPart(async () => (await import("./lost-drafts.tsx")).LostDrafts);

const NO_ITEMS: readonly WaitingItem[] = [];

/** Items of all runs. After an answer the next item is shown. */
export function InboxPage({ chosen }: { chosen: string | null }) {
  const runs = useLive((state) => state.runs);
  const inbox = useLive((state) => state.inbox ?? NO_ITEMS);
  const error = useLive((state) => state.error);
  const items = byCost(inbox);
  const found = items.findIndex(({ id }) => id === chosen);
  // The item on the screen stays when others arrive, so that a key answers what the user sees. An answered item leaves
  // the list. The next one takes its `place` if the user chose it, and otherwise is the most costly one.
  const last = useRef<{ id: string | null; place: number }>({ id: null, place: 0 });
  const kept = found >= 0 ? found : items.findIndex(({ id }) => id === last.current.id);
  const index = kept >= 0 ? kept : Math.min(chosen === null ? 0 : last.current.place, items.length - 1);
  const item = items[index];
  last.current = { id: item?.id ?? null, place: Math.max(0, index) };
  const box = useRef<HTMLDivElement>(null);
  const now = useNow(true, 30_000);

  usePageTitle(`${items.length > 0 ? `(${items.length}) ` : ""}${translate("Inbox")}`);

  const go = (to: number) => {
    const next = items[to];
    if (!next) return false;
    replaceAddress(inboxAddress(next.id));
    // On a narrow screen the item is below the list.
    if ((box.current?.getBoundingClientRect().top ?? 0) > innerHeight / 2) box.current?.scrollIntoView();
    return true;
  };
  useKeys({
    j: () => go(index + 1),
    k: () => go(index - 1),
    o: () => item !== undefined && navigate(runAddress(item.run)),
  });

  const requestOf = (id: string) => runs?.find((run) => run.id === id);
  const run = item && requestOf(item.run);
  return (
    <div className="page page-inbox">
      <div className="page-title">
        <h1>{translate("Inbox")}</h1>
        <span className="muted">{items.length === 0 ? "" : plural(items.length, "item")}</span>
      </div>
      <p className="visually-hidden" role="status">
        {items.length === 0
          ? translate("Nothing waits for you")
          : translate("{items} waiting for you", { items: plural(items.length, "item") })}
      </p>
      {error !== null && <ProblemCard error={error} retry={() => live.retry()} />}
      {runs === null && error === null && <p className="loading">{translate("Loading …")}</p>}
      <Suspense fallback={null}>
        <LostDrafts />
      </Suspense>
      {runs !== null && items.length === 0 && (
        <NothingWaits working={runs.filter((each) => !isRunOver(each.status)).length} />
      )}
      {item && (
        <div className="inbox">
          <ol className="inbox-items card" aria-label={translate("Waiting items")}>
            {items.map((each, at) => (
              <li key={each.id}>
                <button
                  type="button"
                  className={`inbox-item${each === item ? " is-open" : ""}`}
                  aria-current={each === item ? "true" : undefined}
                  data-item={each.id}
                  onClick={() => go(at)}
                >
                  <span className={`inline-mark tone-${costOf(each) === 1 ? "warning" : "you"}`}>
                    <Icon name={lookOf(each).icon} />
                  </span>
                  <span className="inbox-item-what">
                    <strong className="clip">{titleOf(each)}</strong>
                    <span className="muted clip agent-text" dir="auto">
                      {shown(requestOf(each.run)?.userRequest ?? each.run, 120)}
                    </span>
                  </span>
                  <span className="muted inbox-item-time">{ago(timeOf(each.createdAt), now)}</span>
                </button>
              </li>
            ))}
          </ol>
          <div ref={box} className="inbox-open">
            <p className="inbox-run">
              <Link to={runAddress(item.run)}>
                <AgentText text={run?.userRequest ?? item.run} max={240} />
              </Link>
              {run && (
                <span className="muted">
                  {" "}
                  {translate("in")} <AgentText text={lastPart(run.cwd)} max={60} />
                </span>
              )}
            </p>
            <ErrorBoundary key={item.id} part={translate("This item")}>
              <ItemCard item={item} hasKeys />
            </ErrorBoundary>
            {item.kind === "plan" && (
              <p>
                <Link to={runAddress(item.run)}>{translate("Open the run to change single tasks")}</Link>
              </p>
            )}
          </div>
        </div>
      )}
    </div>
  );
}

function NothingWaits({ working }: { working: number }) {
  return (
    <section className="card empty">
      <Icon name="check" size={24} />
      <h2>{translate("Nothing waits for you")}</h2>
      <p>
        {working === 0 ? (
          translate("No run is at work.")
        ) : (
          <Link to={runsAddress({ state: "active", text: "" })}>
            {translate("{runs} at work", { runs: plural(working, "run") })}
          </Link>
        )}
      </p>
      <Link to={NEW_RUN} className="button button-primary">
        {translate("New run")}
      </Link>
    </section>
  );
}
