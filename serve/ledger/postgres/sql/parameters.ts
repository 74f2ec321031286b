/**
 * Arrays as parameters of a statement. The driver needs the element type of an array that is empty or contains only
 * nulls, and checks the values.
 */
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { Result } from "effect"

const bindArray = (values: ReadonlyArray<unknown>, type: number) => Result.getOrThrow(PgTypes.array(values, type))

export const texts = (values: ReadonlyArray<unknown>) => bindArray(values, PgTypes.OID.text)
export const integers = (values: ReadonlyArray<unknown>) =>
  bindArray(
    values.map((value) => (typeof value === "number" ? BigInt(value) : value)),
    PgTypes.OID.int8
  )
export const booleans = (values: ReadonlyArray<boolean>) => bindArray(values, PgTypes.OID.bool)
