/** Request ids: unique for ever, cheap to make. A random text of the process, and a number. */
import { randomBytes } from "node:crypto"

const ofThisProcess = randomBytes(9).toString("hex")
let number = 0

export const newRequestId = (): string => `req_${ofThisProcess}${(++number).toString(36).padStart(6, "0")}`
