/** How columns leave DuckDB: as the records spell them. */

export const timestamp = (column: string) => `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%gZ') as ${column}`

/** Numbers leave as doubles, which are exact up to 2 ** 53: BIGINT would arrive as bigint. */
export const entryColumns = `sequence::double as sequence, account_id, position::double as position, type,
  ${timestamp("occurred_at")}, key_id, endpoint, credits::double as credits, balance::double as balance,
  budget_credits::double as budget_credits, request_id, note, hash`
