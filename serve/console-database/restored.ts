/** What the console's tables of a backup lack. */
import type { Sqlite } from "../persistence/sqlite.ts"
import { neverRestored } from "./tables.ts"

/** Recharges since the backup are not in it, nor who has switched them off since: no card is charged before its owner agrees. */
const switchRechargesOff = `
  update console.recharge
  set is_on = false, off_reason = 'The service was restored from a backup. Check the balance, then switch it on again.'
  where is_on`

/** Makes a backup of a copy. What is taken out of it is overwritten there. */
export const makeRestorable = (copy: Sqlite): void => {
  copy.exec("pragma secure_delete = on")
  copy.transaction(() => {
    for (const name of neverRestored) copy.run(`delete from console.${name}`)
    copy.run(switchRechargesOff)
  })
}
