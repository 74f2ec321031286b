/**
 * A server of foods directly from DuckDB: one prepared query per request, on four connections, which returns the row as
 * JSON. It has no keys and charges, and omits the nutrition per serving and the names of nutrients.
 */
import { parseFdcId } from "@larder/schemas"
import { DuckDb, labelColumns } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { H3, HTTPResponse, serve } from "h3"

const Row = Schema.Struct({ json: Schema.String })
/** Reads only columns that the API returns, because each column takes time. */
const byId = `
  select to_json(food)::varchar as json
  from (
    select * exclude (
      gtin_14, ${labelColumns.join(", ")}, daily_values, not_a_significant_source_of, material_code, earlier_versions,
      quality_flags, source_rows, release_on, run_id, raw_sha256
    )
    from branded_food.food
    where fdc_id = $fdcId
  ) as food`
const headers = { "content-type": "application/json" }

const serveFoods = Effect.gen(function* () {
  const db = yield* DuckDb.readOnly(process.argv[2] ?? "")
  const app = new H3({ silent: true })
  app.get("/v1/branded-foods/:id", async (event) => {
    const fdcId = parseFdcId(event.context.params?.id ?? "") ?? 0
    const [row] = await Effect.runPromise(db.all(Row, byId, { fdcId }))
    return row === undefined
      ? new HTTPResponse("{}", { status: 404, headers })
      : new HTTPResponse(`{"data":${row.json}}`, { headers })
  })
  const server = serve(app, { hostname: "127.0.0.1", port: 0, silent: true, gracefulShutdown: false })
  yield* Effect.promise(() => server.ready())
  console.log(JSON.stringify({ api: server.url?.replace(/\/$/, "") }))
  yield* Effect.never
})

await Effect.runPromise(Effect.scoped(serveFoods))
