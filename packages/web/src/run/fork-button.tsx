import { translate } from "../text/language.ts";
import { AskedButton } from "../shell/asked-button.tsx";
import { runAddress } from "../shell/page-route.ts";
import { navigateAfter } from "../shell/route.ts";
import { server } from "../shell/server.ts";

interface Properties {
  id: string;
  /** `runSeq` of the last event to copy. Without it all events are copied. */
  at?: number;
}

/** The new run is paused until the user resumes it. */
export function ForkButton({ id, at }: Properties) {
  const fork = async () => {
    const goTo = navigateAfter();
    goTo(runAddress((await server.fork(id, at === undefined ? {} : { at })).id));
  };
  return (
    <AskedButton
      word={at === undefined ? translate("Fork") : translate("Fork after event {at}", { at })}
      question={
        at === undefined
          ? translate("Create a new run with the same past?")
          : translate("Create a new run with the first {at} events?", { at })
      }
      yes={translate("Yes, fork")}
      command={`tutti fork ${id}${at === undefined ? "" : ` --at ${at}`}`}
      order={fork}
    />
  );
}
