import { useSyncExternalStore } from "react";
import { live, type LiveState } from "./live-store.ts";
import { translate } from "../text/language.ts";
import { allows, type TokenRole } from "../../../tutti/src/schema/token-role.ts";

/** `select` must return a part of the state, not a new object, so that other changes cause no render. */
export function useLive<T>(select: (state: LiveState) => T): T {
  return useSyncExternalStore(live.subscribe, () => select(live.state()));
}

/**
 * Returns the reason why this page may not do something that `needs` the role. Null if it may, or if its role is not
 * known yet.
 */
export function useRefusal(needs: TokenRole = "operate"): string | null {
  const access = useLive((state) => state.access);
  if (access === null || allows(access.role, needs)) return null;
  const { name, role } = access;
  return name === null
    ? translate("Your token has the role {role}. This needs {needs}.", { role, needs })
    : translate('Your token "{name}" has the role {role}. This needs {needs}.', { name, role, needs });
}
