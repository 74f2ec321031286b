/** SQL expressions that convert a column to JSON. Null stays null. */

/** A DECIMAL column with a scale, without trailing zeros: `12.5`, `15`. Up to 15 digits, a reader's double is exact. */
export const decimalToJson = (column: string) => `rtrim(rtrim(${column}::varchar, '0'), '.')::json`

/** A DOUBLE column: whole numbers without `.0`; infinity and NaN become null. */
export const doubleToJson = (column: string) => `
  case when try_cast(${column} as bigint) = ${column} then to_json(try_cast(${column} as bigint))
    when isfinite(${column}) then to_json(${column}) end`

/** A TIMESTAMP column as a string, in UTC with milliseconds, `2026-06-06T12:41:05.000Z`. */
export const timestampToText = (column: string) => `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%gZ')`
