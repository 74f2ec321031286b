/**
 * What serving foods from DuckDB would be: one prepared query per request on four connections, the row as JSON as it is.
 * It knows no keys, charges nothing, and leaves out the nutrition per serving and the names of nutrients.
 */
import { parseFdcId } from "@larder/schemas"
import { DuckDb, labelColumns } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { H3, HTTPResponse, serve } from "h3"

const Found = Schema.Struct({ json: Schema.String })
/** Each column costs: what the API does not answer is not read. */
const byId = `
  select to_json(found)::varchar as json
  from (
    select * exclude (
      gtin_14, ${labelColumns.join(", ")}, daily_values, not_a_significant_source_of, material_code, earlier_versions,
      quality_flags, source_rows, release_on, run_id, raw_sha256
    )
    from branded_food.food
    where fdc_id = $fdcId
  ) as found`
const headers = { "content-type": "application/json" }

const listening = Effect.gen(function* () {
  const db = yield* DuckDb.readOnly(process.argv[2] ?? "")
  const app = new H3({ silent: true })
  app.get("/v1/branded-foods/:id", async (event) => {
    const fdcId = parseFdcId(event.context.params?.id ?? "") ?? 0
    const [found] = await Effect.runPromise(db.all(Found, byId, { fdcId }))
    return found === undefined
      ? new HTTPResponse("{}", { status: 404, headers })
      : new HTTPResponse(`{"data":${found.json}}`, { headers })
  })
  const server = serve(app, { hostname: "127.0.0.1", port: 0, silent: true, gracefulShutdown: false })
  yield* Effect.promise(() => server.ready())
  console.log(JSON.stringify({ api: server.url?.replace(/\/$/, "") }))
  yield* Effect.never
})

await Effect.runPromise(Effect.scoped(listening))
