/** What was last sent, in the console's tables: the state of each subject. */
import { Effect, Schema } from "effect"
import type { ConsoleDatabase } from "../persistence/index.ts"

/** Rows per transaction: in SQLite, requests wait for it. */
const maxRowsPerTransaction = 250

const remember = `
  insert into console.notified_state (subject, state, notified_at) values ($1, $2, $3)
  on conflict (subject) do update set state = excluded.state, notified_at = excluded.notified_at`
const forget = "delete from console.notified_state where subject = $1"

export const NotifiedState = Schema.Struct({
  subject: Schema.String,
  state: Schema.String,
  notified_at: Schema.String
})
export type NotifiedState = typeof NotifiedState.Type

/** No subject of freshness begins like this: those begin with the name of a pipeline. */
export const accountPrefix = "account "

export const readNotified = ({ background }: ConsoleDatabase["Service"], about: "accounts" | "freshness") =>
  background.all(
    NotifiedState,
    `select subject, state, notified_at
     from console.notified_state
     where subject ${about === "accounts" ? "like" : "not like"} '${accountPrefix}%'
     order by subject`
  )

export const recordNotified = Effect.fnUntraced(function* (
  database: ConsoleDatabase["Service"],
  notified: ReadonlyArray<NotifiedState>,
  forgotten: ReadonlyArray<string>
) {
  const statements = [
    ...notified.map(({ state, subject, notified_at }) => [remember, [subject, state, notified_at]] as const),
    ...forgotten.map((subject) => [forget, [subject]] as const)
  ]
  for (let first = 0; first < statements.length; first += maxRowsPerTransaction) {
    const batch = statements.slice(first, first + maxRowsPerTransaction)
    yield* database.transaction(({ run }) =>
      Effect.forEach(batch, ([sql, params]) => run(sql, params), { discard: true })
    )
  }
})
