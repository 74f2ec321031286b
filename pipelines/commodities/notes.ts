/** Notes on metrics: `catalog/notes.tsv` has each text once, and says to which metrics it applies. */
import { Schema } from "effect"
import type { CatalogMetric, Feed } from "./catalog.ts"
import { type Condition, parseConditions } from "./conditions.ts"

export const NoteLine = Schema.Struct({ applies_to: Schema.NonEmptyString, note: Schema.NonEmptyString })

export interface Note {
  readonly conditions: ReadonlyArray<Condition>
  readonly text: string
}

export const parseNote = ({ applies_to, note }: typeof NoteLine.Type): Note => ({
  conditions: parseConditions(applies_to),
  text: note
})

/** What a condition can ask about a metric. */
const valuesOf = ({ column, ...metric }: CatalogMetric, feed: Feed): ReadonlyMap<string, string> =>
  new Map([
    ["metric_name", metric.metric_name],
    ["product_slug", metric.product_slug],
    ["column", column.name],
    ["unit", metric.unit],
    ["market_level", metric.market_level],
    ["frequency", feed.frequency]
  ])

export const appliesTo = ({ conditions }: Note, metric: CatalogMetric, feed: Feed): boolean => {
  const stated = valuesOf(metric, feed)
  return conditions.every(({ field, values }) => values.includes(stated.get(field) ?? ""))
}

/** Null if there is nothing to say. */
export const joinNotes = (notes: ReadonlyArray<Note>, metric: CatalogMetric, feed: Feed): string | null =>
  notes.flatMap((note) => (appliesTo(note, metric, feed) ? [note.text] : [])).join(" ") || null
