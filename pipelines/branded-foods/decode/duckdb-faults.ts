/** Tells errors of DuckDB that the data of a release may have caused from faults of this machine. */
import type { DuckDbError } from "@larder/warehouse"
import { reasonOf } from "../../run/files/causes.ts"

/** The driver has no error codes: a message begins with its kind, as in `Conversion Error: …`. */
export const firstLineOf = ({ cause }: DuckDbError) => reasonOf(cause).split("\n")[0] ?? ""

/** After an internal or a fatal error, DuckDB refuses every query. A commit that fails is a disk that is full. */
const machineKinds = [
  "IO",
  "Out of Memory",
  "INTERRUPT",
  "FATAL",
  "INTERNAL",
  "Permission",
  "Connection",
  "TransactionContext"
]
const kind = /^([\w ]+?) Error: /

/** A full disk, a lack of memory or an interrupt. So is an error without a kind, because nothing is known about it. */
export const isMachineFault = (error: DuckDbError) => {
  const [, found] = kind.exec(firstLineOf(error)) ?? []
  return found === undefined || machineKinds.some((name) => name.toLowerCase() === found.toLowerCase())
}

/** Whether a record may have caused the error. */
export const isRecordError = (error: DuckDbError) =>
  ["Invalid Input", "Conversion", "Out of Range"].includes(kind.exec(firstLineOf(error))?.[1] ?? "")
