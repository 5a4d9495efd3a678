import { translate } from "../text/language.ts";
import { AskedButton } from "../shell/asked-button.tsx";
import { server } from "../shell/server.ts";

export function CancelButton({ id }: { id: string }) {
  return (
    <AskedButton
      word={translate("Cancel run")}
      command={`tutti cancel ${id}`}
      question={translate("Cancel this run? It cannot be resumed.")}
      yes={translate("Yes, cancel")}
      order={() => server.order(id, "cancel")}
    />
  );
}
