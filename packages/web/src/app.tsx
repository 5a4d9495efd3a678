import { translate } from "./text/language.ts";
import { Suspense, useEffect, type ReactNode } from "react";
import { ErrorBoundary } from "./errors/error-boundary.tsx";
import { Frame } from "./shell/frame.tsx";
import { NotFoundPage } from "./shell/not-found-page.tsx";
import type { PageRoute } from "./shell/page-route.ts";
import { useRoute } from "./shell/route.ts";
import { lazyPart } from "./shell/lazy-part.ts";

// `lazyPart` gives each view a chunk of its own, so that a run loads no inbox, and the inbox neither the graph nor the
// forms.
const InboxPage = lazyPart(async () => (await import("./inbox/inbox-page.tsx")).InboxPage);
const RunListPage = lazyPart(async () => (await import("./list/run-list-page.tsx")).RunListPage);
const RunPage = lazyPart(async () => (await import("./run/run-page.tsx")).RunPage);
const NewRunPage = lazyPart(async () => (await import("./new-run/new-run-page.tsx")).NewRunPage);
const TemplatesPage = lazyPart(async () => (await import("./templates/templates-page.tsx")).TemplatesPage);
const SchedulesPage = lazyPart(async () => (await import("./schedules/schedules-page.tsx")).SchedulesPage);
const CostsPage = lazyPart(async () => (await import("./machine/costs-page.tsx")).CostsPage);
const MachinePage = lazyPart(async () => (await import("./machine/machine-page.tsx")).MachinePage);
const HostsPage = lazyPart(async () => (await import("./hosts/hosts-page.tsx")).HostsPage);
const PartsPage = lazyPart(async () => (await import("./parts/parts-page.tsx")).PartsPage);

/** The outer `ErrorBoundary` is for `Frame`. Without it, an error there leaves an empty page. */
export const App = () => (
  <ErrorBoundary>
    <FramedPage />
  </ErrorBoundary>
);

function FramedPage() {
  const route = useRoute();
  const place = route.view === "run" ? route.id : route.view;
  // A new `place` starts at its top, and keyboard users start at its beginning.
  useEffect(() => {
    scrollTo(0, 0);
    if (document.activeElement === document.body || document.activeElement?.closest(".rail, .top-bar, dialog"))
      document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
  }, [place]);
  return (
    <Frame route={route}>
      <ErrorBoundary key={place}>
        <Suspense fallback={<p className="loading">{translate("Loading …")}</p>}>{pageOf(route)}</Suspense>
      </ErrorBoundary>
    </Frame>
  );
}

function pageOf(route: PageRoute): ReactNode {
  switch (route.view) {
    case "inbox":
      return <InboxPage chosen={route.item} />;
    case "runs":
      return <RunListPage filter={route.filter} />;
    case "new":
      return (
        <NewRunPage
          key={[route.from, route.after, route.template].join(" ")}
          from={route.from}
          after={route.after}
          template={route.template}
        />
      );
    case "templates":
      return <TemplatesPage id={route.id} />;
    case "schedules":
      return <SchedulesPage />;
    case "run":
      return <RunPage key={route.id} id={route.id} place={route} />;
    case "costs":
      return <CostsPage by={route.by} />;
    case "machine":
      return <MachinePage />;
    case "hosts":
      return <HostsPage />;
    case "parts":
      return <PartsPage />;
    case "unknown":
      return <NotFoundPage />;
  }
}
