import { describe, expect, it } from "vitest";
import { cutConnections, newDatabase, query, withPostgres } from "../lab/postgres.ts";
import { openDatabase } from "../../src/store/postgres/database.ts";
import { loadPg } from "../../src/store/postgres/load-pg.ts";
import { migrateDatabase } from "../../src/store/postgres/migrate.ts";

describe("a database", () => {
  it.each(["mysql://localhost/x", "localhost:5432", "postgres://", "postgres://u@h:port/x"])(
    "rejects the address %s as wrong usage",
    async (url) => {
      await expect(openDatabase({ url })).rejects.toMatchObject({ code: "usage", kind: { exit: 2 } });
    },
  );

  it("says in one sentence that a database cannot be reached, without the password", async () => {
    const failure = openDatabase({ url: "postgres://me:secret@127.0.0.1:1/x" });
    await expect(failure).rejects.toMatchObject({ code: "database_unreachable", kind: { exit: 5 } });
    const text = await failure.catch((error: Error) => error.message);
    expect(text).toContain('The database "x" at 127.0.0.1:1 cannot be reached');
    expect(text).not.toContain("secret");
  });

  it("names the command that installs missing packages", async () => {
    const missing = Object.assign(new Error("Cannot find package 'pg'"), { code: "ERR_MODULE_NOT_FOUND" });
    await expect(loadPg(() => Promise.reject(missing))).rejects.toMatchObject({
      code: "packages_missing",
      kind: { exit: 2 },
      message: expect.stringMatching(/Install them with "npm install pg@/),
    });
  });

  it(
    "is migrated once by servers that start together, and rejected by a version that is older",
    withPostgres(async () => {
      const url = await newDatabase();
      const databases = await Promise.all([1, 2, 3].map(() => openDatabase({ url })));
      try {
        await Promise.all(databases.map(migrateDatabase));
        expect(await query(url, "SELECT seq::int FROM tutti.log")).toEqual([{ seq: 0 }]);
        await query(url, "UPDATE tutti.format SET version = 99");
        await expect(migrateDatabase(databases[0]!)).rejects.toMatchObject({ code: "data_folder_newer" });
      } finally {
        await Promise.all(databases.map((each) => each.close()));
      }
    }),
  );

  it(
    "rejects a name that does not exist as wrong usage",
    withPostgres(async () => {
      const url = await newDatabase();
      await expect(openDatabase({ url: `${url}_gone` })).rejects.toMatchObject({ code: "usage" });
    }),
  );

  it(
    "goes on after all its connections were lost, and rolls back a transaction that lost its own",
    withPostgres(async () => {
      const url = await newDatabase();
      const database = await openDatabase({ url });
      try {
        await migrateDatabase(database);
        const interrupted = database.transaction("write", async (client) => {
          await client.query("UPDATE tutti.log SET seq = 5");
          await cutConnections(url);
          await client.query("SELECT 1");
        });
        await expect(interrupted).rejects.toMatchObject({ code: "database_unreachable" });
        expect((await database.pool.query("SELECT seq FROM tutti.log")).rows).toEqual([{ seq: 0 }]);
      } finally {
        await database.close();
      }
    }),
  );
});
