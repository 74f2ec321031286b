/** How values of the warehouse are written as JSON: SQL expressions over a column. Null stays null. */

/**
 * A decimal without trailing zeros: `12.5`, `15`. Exact to 15 digits, the precision with which JSON numbers are read.
 */
export const amount = (column: string) => `rtrim(rtrim(${column}::varchar, '0'), '.')::json`

/** A double: `100` instead of `100.0`, and null for values that JSON has no number for. */
export const double = (column: string) => `
  case when try_cast(${column} as bigint) = ${column} then to_json(try_cast(${column} as bigint))
    when isfinite(${column}) then to_json(${column}) end`

/** A time in UTC with milliseconds, `2026-06-06T12:41:05.000Z`. */
export const moment = (column: string) => `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%gZ')`
