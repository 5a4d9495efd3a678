export { rehearsalScenario, rehearsedTemplate } from "../session/drivers/script/rehearsal.ts";
export { exportCommit, makeRepository } from "../workspace/sample.ts";
