import { createClient } from "../../../tutti/src/client/client.ts";

export const baseUrl = location.origin;
export const server = createClient({ baseUrl, fetch: (input, init) => fetch(input, init) });
