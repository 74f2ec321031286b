/** The database server that other tests rely on: a crash is a real one, and nothing is left behind. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { newDatabase, type Postgres, startPostgres } from "../support/postgres/server.ts"
import { repository } from "../support/repository.ts"

/** Uses one connection, so that a transaction may stay open. */
const connected = <A, E>(url: string, use: (sql: PgClient.PgClient) => Effect.Effect<A, E>) =>
  PgClient.makeClient({ url: Redacted.make(url) }).pipe(
    Effect.flatMap(use),
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    Effect.runPromise
  )
const query = (url: string, statement: string) => connected(url, (sql) => sql.unsafe(statement))

describe("the PostgreSQL of a test run", () => {
  it("gives out databases that know nothing of each other", async () => {
    const [one, other] = await Promise.all([newDatabase(inject("postgresUrl")), newDatabase(inject("postgresUrl"))])
    await query(one, "create table fact (name text)")
    const tables = "select tablename from pg_tables where schemaname = 'public'"
    expect(await query(one, tables)).toEqual([{ tablename: "fact" }])
    expect(await query(other, tables)).toEqual([])
  })
  it("gives them to a role without privileges, as a hosted server does", async () => {
    const url = await newDatabase(inject("postgresUrl"))
    const role = "select rolsuper, rolcreatedb, rolcreaterole, rolbypassrls from pg_roles where rolname = current_user"
    expect(await query(url, role)).toEqual([
      { rolsuper: false, rolcreatedb: false, rolcreaterole: false, rolbypassrls: false }
    ])
  })
  it("flushes its log before it commits", async () => {
    const settings =
      "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit"
    expect(await query(inject("postgresUrl"), settings)).toEqual([{ fsync: "on", synchronous_commit: "on" }])
  })
  it("lets nobody in without the password", async () => {
    const url = new URL(await newDatabase(inject("postgresUrl")))
    url.password = "wrong"
    await expect(query(url.href, "select 1")).rejects.toThrow()
  })
})

describe("a PostgreSQL of one's own", () => {
  let server: Postgres
  let url: string
  const facts = () => query(url, "select name from fact order by name")
  beforeAll(async () => {
    server = await startPostgres()
    url = await server.newDatabase()
    await query(url, "create table fact (name text)")
  })
  afterAll(() => server?.remove())

  it("keeps what was committed before it was killed, and forgets what was not", async () => {
    await query(url, "insert into fact values ('committed')")
    await connected(url, (sql) =>
      Effect.gen(function* () {
        yield* sql.unsafe("begin")
        yield* sql.unsafe("insert into fact values ('open')")
        expect(yield* sql.unsafe("select name from fact")).toHaveLength(2)
        yield* Effect.promise(server.kill)
      })
    )
    await server.restart()
    expect(await facts()).toEqual([{ name: "committed" }])
  })
  it("lets no busy backend live on when it is killed", async () => {
    // It would commit a second later, and does not look at its postmaster before.
    const busy = `do $$ begin
      insert into fact values ('late');
      while clock_timestamp() < transaction_timestamp() + interval '1 second' loop end loop;
    end $$`
    const late = query(url, busy).then(
      () => "committed",
      () => "cut off"
    )
    const seen = "select count(*)::int as n from pg_stat_activity where query like 'do $$%' and state = 'active'"
    const isBusy = async () => JSON.stringify(await query(url, seen)) === '[{"n":1}]'
    while (!(await isBusy())) await sleep(10)
    await server.kill()
    expect(await late).toBe("cut off")
    await server.restart()
    expect(await facts()).toEqual([{ name: "committed" }])
  })
  it("keeps everything when it is stopped", async () => {
    await query(url, "insert into fact values ('stopped')")
    await server.stop()
    await server.restart()
    expect(await facts()).toEqual([{ name: "committed" }, { name: "stopped" }])
  })
  it("is not started twice", async () => {
    await expect(server.restart()).rejects.toThrow("PostgreSQL still runs: stop() or kill() it before restart()")
  })
  it("shows the end of its log when it cannot start", async () => {
    await server.kill()
    const squatter = createServer().listen(Number(new URL(url).port), "127.0.0.1")
    await once(squatter, "listening")
    await expect(server.restart()).rejects.toThrow(
      /it ended before it accepted connections; the end of its log:[\s\S]*could not bind/
    )
    squatter.close()
    await once(squatter, "close")
    await server.restart()
    expect(await facts()).toHaveLength(2)
  })
})

describe("a PostgreSQL that is left behind", () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "larder-left-"))
    chmodSync(folder, 0o755) // the server may run as another user
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each([
    ["is killed", "process.kill(process.pid, 'SIGKILL')"],
    ["just ends", ""]
  ])("ends, and its folder goes, when the process that started it %s", async (_, ending) => {
    const program = `import { startPostgres } from "./test/support/postgres/server.ts"
      const { url } = await startPostgres()
      process.stdout.write(new URL(url).port, () => { ${ending} })`
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      cwd: repository,
      env: { ...process.env, TMPDIR: folder, TEMP: folder },
      stdio: ["ignore", "pipe", "inherit"]
    })
    let port = ""
    for await (const piece of child.stdout) port += piece
    expect(Number(port)).toBeGreaterThan(0)
    while (readdirSync(folder).length > 0) await sleep(20)
    const connection = once(connect(Number(port), "127.0.0.1"), "connect")
    await expect(connection).rejects.toMatchObject({ code: "ECONNREFUSED" })
  })
})
