// What rehearsals and the demo are made of.
export { rehearsalScenario, rehearsedTemplate } from "../session/drivers/script/rehearsal.ts";
export { exportCommit, makeRepository } from "../workspace/sample.ts";
