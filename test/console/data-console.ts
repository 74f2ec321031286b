/** The pages about the warehouse over the bundled samples, with two runs beside them that did not go well. */
import { rmSync } from "node:fs"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { Licence } from "@larder/schemas/commodity/records.ts"
import { DataRead } from "@larder/serve/console/data-read.ts"
import type { Answer, PageContext } from "@larder/serve/console/page.ts"
import { dataPages } from "@larder/serve/console/pages/data.ts"
import { loadReadModel } from "@larder/serve/read-model.ts"
import { writeToJournal } from "@larder/warehouse/generation/journal.ts"
import { currentFile, layoutOf } from "@larder/warehouse/generation/layout.ts"
import { watchLive } from "@larder/warehouse/generation/live.ts"
import { Effect, Layer, Option, Redacted } from "effect"
import { inject } from "vitest"
import { copyHome } from "../support/sample-home.ts"
import { aRun, tamper } from "../support/warehouse/pantry.ts"

/** After whatever the samples were read on. */
const now = Date.parse("2099-11-01T12:00:00.000Z")

const contextOf = (target: string, params: Readonly<Record<string, string>>): PageContext => ({
  person: { id: "pers_1", account_id: "acct_1", email: "operator@example.com", is_operator: true },
  account: {
    id: "acct_1",
    name: "Operators",
    created_at: "2026-10-01T00:00:00.000Z",
    balance_credits: 5000,
    expiring: []
  },
  url: new URL(target, "http://127.0.0.1:8081"),
  params,
  console: "http://127.0.0.1:8081",
  api: "http://127.0.0.1:8080",
  now,
  session: Redacted.make("not a session")
})

export const answered = Effect.fnUntraced(function* (target: string, params: Readonly<Record<string, string>> = {}) {
  const path = Object.keys(params).length === 0 ? target.split("?")[0] : "/data/runs/:id"
  const page = dataPages.find((candidate) => candidate.path === path)
  if (page?.get === undefined) return yield* Effect.die(`no page at ${path}`)
  const answer: Answer = yield* page.get(contextOf(target, params))
  if (answer.kind !== "page") return yield* Effect.die(`${target} answers ${answer.kind}`)
  const body = String(yield* Effect.promise(async () => answer.body)).replaceAll("<wbr>", "") // names may break there
  return { status: answer.status, title: answer.title, body }
})
/** What a page shows, as HTML. */
export const shown = (target: string, params?: Readonly<Record<string, string>>) =>
  Effect.map(answered(target, params), ({ body }) => body)
export const failureOf = (target: string, params?: Readonly<Record<string, string>>) =>
  Effect.map(Effect.flip(answered(target, params)), (error) => Reflect.get(Object(error), "_tag"))

export const failed = aRun({
  run_id: "20991031T100000000Z-commodities-fa11ed",
  pipeline: "commodities",
  outcome: "checks_failed",
  started_at: "2099-10-31T10:00:00.000Z",
  finished_at: "2099-10-31T10:01:05.000Z",
  rows_read: 10,
  rows_loaded: null,
  rows_unchanged: null,
  rows_rejected: 4,
  message: "Checks failed; nothing was published.\n  price_positive: 2 bad rows"
})
const failedCheck = {
  name: "price_positive",
  severity: "error",
  description: "every price is above zero",
  bad_rows: 2,
  examples: '[{"value":"-1"}]'
} as const

/** One that left feeds out. */
export const partial = aRun({
  run_id: "20991101T100000000Z-storefronts-9a47a1",
  pipeline: "storefronts",
  outcome: "partial",
  started_at: "2099-11-01T10:00:00.000Z",
  finished_at: "2099-11-01T10:00:05.000Z",
  message: "1 feed of storefronts could not be read."
})

/** The samples, tampered with as told, opened as a server opens them. */
export const dataAfter = (sql: string, withheld: ReadonlyArray<Licence> = []) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const home = yield* Effect.acquireRelease(
        Effect.sync(() => copyHome(inject("sampleHome"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      )
      const layout = yield* layoutOf(home)
      yield* tamper(Option.getOrThrow(yield* currentFile(layout)), sql)
      yield* writeToJournal(layout, failed, [failedCheck], [])
      yield* writeToJournal(layout, partial, [], [])
      return DataRead.layer(yield* watchLive(layout, loadReadModel(layout, withheld)), layout)
    })
  ).pipe(Layer.provide(NodeServices.layer))
