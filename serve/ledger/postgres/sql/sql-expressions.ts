/** SQL expressions that are equivalent to the rules in TypeScript: timestamps, months, and the hash of an entry. */

/**
 * ISO 8601 in UTC with milliseconds, as in JSON and in hashed strings. A timestamp that no server writes (before year
 * 1, after 9999, or with a fraction of a millisecond) keeps PostgreSQL's format, because this one cannot represent it.
 */
export const isoTimestamp = (timestamp: string) => `case
    when ${timestamp} between '0001-01-01Z' and '9999-12-31 23:59:59.999Z' and ${timestamp} = date_trunc('milliseconds', ${timestamp})
      then to_char(${timestamp} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    else ${timestamp}::text
  end`

/** `12 × year + month - 1` of a date, or of a timestamp without time zone. */
export const monthOfDate = (day: string) =>
  `(extract(year from ${day})::integer * 12 + extract(month from ${day})::integer - 1)`

export const monthOfTimestamp = (timestamp: string) => monthOfDate(`(${timestamp} at time zone 'UTC')`)

/** The hash of the entry in scope, after a predecessor with the hash `before`; see `chain.ts`. */
export const hashAfter = (before: string) => `
  encode(sha256(convert_to(${before} || E'\\n' || account_id || E'\\n' || "position" || E'\\n' || type || E'\\n'
    || ${isoTimestamp("occurred_at")} || E'\\n' || coalesce(key_id, '') || E'\\n' || coalesce(endpoint, '') || E'\\n' || credits
    || E'\\n' || balance || E'\\n' || coalesce(budget_credits::text, '') || E'\\n' || coalesce(request_id, '') || E'\\n'
    || coalesce(note, ''), 'UTF8')), 'hex')`

export const accountRow = `jsonb_build_object('id', id, 'name', name, 'created_at', ${isoTimestamp("created_at")},
    'suspended_at', ${isoTimestamp("suspended_at")})`

/** Rows as JSON; `key` and `entry` name the row. */
export const keyRow = `to_jsonb(key) || jsonb_build_object('created_at', ${isoTimestamp("key.created_at")},
    'revoked_at', ${isoTimestamp("key.revoked_at")}, 'expires_at', ${isoTimestamp("key.expires_at")},
    'former_expires_at', ${isoTimestamp("key.former_expires_at")})`

export const entryRow = `to_jsonb(entry) || jsonb_build_object('occurred_at', ${isoTimestamp("entry.occurred_at")})`
