import { translate } from "../text/language.ts";
import { useEffect, useRef } from "react";
import { Link } from "../shell/link.tsx";
import { runAddress, type RunPlace, type RunTab } from "../shell/page-route.ts";
import { useCurrentInView } from "../parts/use-current-in-view.ts";

const TAB_NAMES: Record<RunTab, string> = {
  tasks: translate("Tasks"),
  plan: translate("Plan"),
  changes: translate("Changes"),
  checks: translate("Checks"),
  cost: translate("Cost"),
  messages: translate("Messages"),
  log: translate("Log"),
};

interface Properties {
  run: string;
  tabs: readonly RunTab[];
  place: RunPlace;
}

export function RunTabs({ run, tabs, place }: Properties) {
  const box = useRef<HTMLElement>(null);
  const { tab, task, beside } = place;
  // An address can name a part of the run, which the result or the inbox would push out of the window.
  const isNamed = tab !== "tasks" || place.session !== null;
  useEffect(() => {
    // A link of the result or of the inbox names a part, too. A tab itself is in view.
    if (!isNamed || box.current?.contains(document.activeElement)) return;
    // Without the server, the page stays at its beginning.
    void import("../shell/keep-in-view.ts").then(
      ({ keepInView }) => keepInView(box.current),
      () => {},
    );
  }, [tab, task, beside]);
  useCurrentInView(box, tab);
  return (
    <nav ref={box} className="tabs" aria-label={translate("Parts of the run")}>
      {tabs.map((each) => (
        <Link
          key={each}
          to={runAddress(run, { ...place, tab: each, task: null, beside: null, find: "" })}
          className={`tab${each === tab ? " is-here" : ""}`}
          current={each === tab}
        >
          {TAB_NAMES[each]}
        </Link>
      ))}
    </nav>
  );
}
