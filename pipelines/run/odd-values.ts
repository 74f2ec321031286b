/**
 * Texts that were not understood, although their rows were used: values of optional fields, and texts that the catalog
 * does not have. Each is kept once per feed, field and text, in `ingest.odd_value`, and logged once.
 */
import type { OddValue as OddValueRow } from "@larder/schemas"
import { type DataSet, type DuckDb, literal, oddValueTable, readLive } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { RunContext } from "./pipeline.ts"

export type OddValue = Pick<typeof OddValueRow.Type, "kind" | "field" | "said" | "rows">

/** Different texts per feed, over all runs. A field whose texts are all different would otherwise fill the table. */
export const maxTexts = 1000
export const maxSaidLength = 200
const otherTexts = "(other texts)"

/** Counts the odd values of one feed. Its size does not grow with the number of rows. */
export class OddValueCounter {
  readonly #counts = new Map<string, OddValue & { rows: number }>()

  add(kind: OddValue["kind"], field: string, said: string, rows = 1) {
    const shortened = said.toWellFormed().slice(0, maxSaidLength).toWellFormed()
    const identify = (text: string) => JSON.stringify([kind, field, text])
    const isNew = !this.#counts.has(identify(shortened))
    const kept = isNew && this.#counts.size >= maxTexts ? otherTexts : shortened
    const known = this.#counts.get(identify(kept)) ?? { kind, field, said: kept, rows: 0 }
    known.rows += rows
    this.#counts.set(identify(kept), known)
  }

  list(): ReadonlyArray<OddValue> {
    return [...this.#counts.values()]
  }
}

const Counted = Schema.Struct({ field: Schema.String, said: Schema.String, rows: Schema.Int })

/**
 * Texts that SQL has counted, within the same limits. `counts` is the end of a query, from `from` on, of `field`, `said`
 * and `rows`.
 */
export const readOddTexts = (db: DuckDb["Service"], kind: OddValue["kind"], counts: string) =>
  db
    .all(
      Counted,
      `with counted as (select field, left(said, ${maxSaidLength}) as said, sum(rows) as rows ${counts} group by all),
      ranked as (select *, row_number() over (order by rows desc, field, said) as position from counted)
      select field, if(position <= ${maxTexts}, said, ${literal(otherTexts)}) as said, sum(rows)::integer as rows
      from ranked
      group by all
      order by min(position)`
    )
    .pipe(Effect.map((rows): ReadonlyArray<OddValue> => rows.map((row) => ({ kind, ...row }))))

const Known = Schema.Struct({ feed: Schema.String, kind: Schema.String, field: Schema.String, said: Schema.String })

/** Identifies an odd value within a pipeline. */
const identify = ({ feed, field, kind, said }: typeof Known.Type) => JSON.stringify([feed, kind, field, said])

export interface KnownOddValues {
  readonly texts: ReadonlySet<string>
  /** How many each feed has. */
  readonly counts: ReadonlyMap<string, number>
}

/** The odd values that live runs of a pipeline have found. */
export const readKnownOddValues = ({ layout }: Pick<RunContext, "layout">, dataSet: DataSet) =>
  readLive(layout, dataSet, [], (db) =>
    db.all(
      Known,
      `select feed, kind, field, said from ingest.odd_value where pipeline = ${literal(dataSet.about.pipeline)}`
    )
  ).pipe(
    Effect.map((rows): KnownOddValues => {
      const counts = new Map<string, number>()
      for (const { feed } of rows) counts.set(feed, (counts.get(feed) ?? 0) + 1)
      return { texts: new Set(rows.map(identify)), counts }
    })
  )

/** Texts beyond the limit are counted together, so that a field with a new text each day does not fill the table. */
const limitTexts = (values: ReadonlyArray<OddValue>, room: number): ReadonlyArray<OddValue> => {
  if (values.length <= room) return values
  const counter = new OddValueCounter()
  for (const { field, kind, rows } of values.slice(room)) counter.add(kind, field, otherTexts, rows)
  return [...values.slice(0, room), ...counter.list()]
}

const warnings: Readonly<Record<OddValue["kind"], string>> = {
  unreadable: "values of optional fields were not understood",
  unmatched: "rows with prices match no metric",
  unlisted: "texts are not in the catalog; their rows were published"
}
/** The table has all of them. */
const maxLogged = 5

/** Stages odd values that are not known yet, with one warning for each kind. */
export const stageOddValues = Effect.fnUntraced(function* (
  { run_id, staging }: Pick<RunContext, "run_id" | "staging">,
  pipeline: string,
  feed: string,
  values: ReadonlyArray<OddValue>,
  known: KnownOddValues
) {
  const isNew = (value: OddValue) => !known.texts.has(identify({ feed, ...value }))
  const room = Math.max(0, maxTexts - (known.counts.get(feed) ?? 0))
  const found = limitTexts(values.filter(isNew), room).filter(isNew)
  if (found.length === 0) return
  yield* staging.add(
    oddValueTable,
    found.map((value) => ({ pipeline, feed, run_id, ...value }))
  )
  for (const [kind, texts] of Map.groupBy(found, ({ kind }) => kind)) {
    const said = texts.slice(0, maxLogged).map((value) => `${value.field} ${JSON.stringify(value.said)}`)
    yield* Effect.logWarning(warnings[kind]).pipe(Effect.annotateLogs({ feed, said, texts: texts.length }))
  }
})
