/** Notes on metrics: `catalog/notes.tsv` has each text once, and says to which metrics it applies. */
import { Schema } from "effect"
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

/** What a condition can ask about a metric, and about its feed. */
interface Metric {
  readonly metric_name: string
  readonly product_slug: string
  readonly column: { readonly name: string }
  readonly unit: string
  readonly market_level: string
}
interface Feed {
  readonly frequency: string
}
const valuesOf = ({ column, market_level, metric_name, product_slug, unit }: Metric, { frequency }: Feed) =>
  new Map(Object.entries({ metric_name, product_slug, column: column.name, unit, market_level, frequency }))

export const appliesTo = ({ conditions }: Note, metric: Metric, feed: Feed): boolean => {
  const stated = valuesOf(metric, feed)
  return conditions.every(({ field, values }) => values.includes(stated.get(field) ?? ""))
}

/** Null if there is nothing to say. */
export const joinNotes = (notes: ReadonlyArray<Note>, metric: Metric, feed: Feed): string | null =>
  notes.flatMap((note) => (appliesTo(note, metric, feed) ? [note.text] : [])).join(" ") || null
