/**
 * Arrays as parameters of a statement. The driver needs the element type of an array that is empty or contains only
 * nulls.
 */
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { Result } from "effect"

export const texts = (values: ReadonlyArray<string | null>) =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))

export const integers = (values: ReadonlyArray<number | null>) =>
  Result.getOrThrow(
    PgTypes.array(
      values.map((value) => (value === null ? null : BigInt(value))),
      PgTypes.OID.int8
    )
  )

export const booleans = (values: ReadonlyArray<boolean>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.bool))
