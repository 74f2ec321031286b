/** Preloaded into a server under test: its clock is fixed at the modification time of the file that TEST_CLOCK names. */
import { statSync } from "node:fs"

const RealDate = Date
const now = () => Math.round(statSync(process.env.TEST_CLOCK ?? "").mtimeMs)

globalThis.Date = class extends RealDate {
  static now = now
  constructor(...given) {
    super(...(given.length === 0 ? [now()] : given))
  }
}
