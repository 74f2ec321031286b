/** Request ids: unique forever, and cheap to create. Each is a random text of this process and a counter. */
import { randomBytes } from "node:crypto"

const ofThisProcess = randomBytes(9).toString("hex")
let number = 0

export const newRequestId = (): string => `req_${ofThisProcess}${(++number).toString(36).padStart(6, "0")}`
