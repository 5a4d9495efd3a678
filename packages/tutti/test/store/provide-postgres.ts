// Finds or installs PostgreSQL once, before the tests run in parallel.
import { findPostgres, NO_POSTGRES } from "../lab/postgres.ts";

console.log(findPostgres() ?? NO_POSTGRES);
