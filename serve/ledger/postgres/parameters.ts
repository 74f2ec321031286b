/** Arrays as parameters of a statement: the driver has to be told what an empty one holds, or one of nulls. */
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
