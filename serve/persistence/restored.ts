/** Removes from a backup what must not be restored. */

import { neverRestored } from "./console-tables.ts"
import type { Sqlite } from "./sqlite.ts"

/**
 * A backup lacks the recharges made since, and does not know whether a customer has switched auto-recharge off since.
 * So auto-recharge is off after a restore, and no card is charged before the customer agrees.
 */
const switchRechargesOff = `
  update console.recharge
  set is_on = false, off_reason = 'The service was restored from a backup. Check the balance, then switch it on again.'
  where is_on`

/** Turns a copy into a backup. Deleted rows are overwritten in the file. */
export const makeRestorable = (copy: Sqlite): void => {
  copy.exec("pragma secure_delete = on")
  copy.transaction(() => {
    for (const name of neverRestored) copy.run(`delete from console.${name}`)
    copy.run(switchRechargesOff)
  })
}
