import { AskedButton } from "../shell/asked-button.tsx";
import { server } from "../shell/server.ts";

export function CancelButton({ id }: { id: string }) {
  return (
    <AskedButton
      word="Cancel run"
      question="Cancel this run? It cannot be resumed."
      yes="Yes, cancel"
      order={() => server.order(id, "cancel")}
    />
  );
}
