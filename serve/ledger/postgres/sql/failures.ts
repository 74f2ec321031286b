/** What a failure of the database means for the transaction that met it. */
import { isSqlError } from "effect/sql/SqlError"
import { LedgerUnavailable } from "../../errors.ts"

/**
 * - `rolled back`: a deadlock or a serialisation failure; the same work may succeed now.
 * - `locked`: another session has locked a row or a table for longer than the transaction waits.
 * - `refused`: a constraint; a part of the work is wrong.
 * - `full`: the disk or the memory of the database.
 * - `lost`: the connection, or a database that accepts no writes at present, such as a standby.
 * - `unexpected`: a mistake of ours, such as a wrong statement.
 */
export type Failure = "rolled back" | "locked" | "refused" | "full" | "lost" | "unexpected"

/** The driver's message is "Query failed"; the error of the database is its cause. */
export const databaseCause = (error: unknown): unknown => {
  if (!(error instanceof Error) || error instanceof LedgerUnavailable) return error
  const cause = "reason" in error && error.reason instanceof Error ? error.reason : error.cause
  return cause instanceof Error ? databaseCause(cause) : error
}

/** Five digits and capital letters, such as 40P01. Errors of Node have codes, too, such as EPIPE. */
const sqlState = /^(?=.*\d)[\dA-Z]{5}$/

/** Empty if the error is not from the database. */
const readSqlState = (error: unknown): string => {
  const cause = databaseCause(error instanceof LedgerUnavailable ? error.cause : error)
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : ""
  return sqlState.test(code) ? code : ""
}

/** By SQL state, or the first two characters of one, which are its class. */
const failures: Readonly<Record<string, Failure>> = {
  "40P01": "rolled back",
  "40001": "rolled back",
  "57014": "rolled back", // an operator has cancelled the statement
  "55P03": "locked",
  "23": "refused",
  "53300": "lost", // too many connections
  "53": "full",
  "08": "lost",
  "25P02": "rolled back", // an earlier statement of the transaction has failed
  "25P03": "lost", // the session was idle for too long, as that of a process that was stopped
  "25P04": "lost",
  "25006": "lost", // read-only
  "28": "lost",
  "3D000": "lost",
  "57": "lost" // PostgreSQL is stopping or starting, or has ended the session
}

/** Whether the database has answered with this error. */
export const hasSqlState = (error: unknown): boolean => readSqlState(error) !== ""

/** The statement did not respond in time. */
export class NoResponse extends Error {}

const isNoResponse = (error: unknown): boolean => {
  const cause = databaseCause(error)
  return cause instanceof NoResponse || (cause instanceof Error && cause.message === "Connection timed out") // the driver's
}

export const classifyFailure = (error: unknown): Failure => {
  const state = readSqlState(error)
  const known = failures[state] ?? failures[state.slice(0, 2)]
  if (known !== undefined) return known
  if (isNoResponse(error)) return "lost"
  const isConnection = isSqlError(error) && ["ConnectionError", "AuthenticationError"].includes(error.reason._tag)
  return isConnection ? "lost" : "unexpected"
}

/** Whether only this connection may be lost, so that the work should be tried on a new one. */
export const isConnectionLost = (error: unknown): boolean => classifyFailure(error) === "lost" && !isNoResponse(error)
