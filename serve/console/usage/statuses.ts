/** HTTP statuses of the API in words. */
import { badge, type Html, type Tone } from "../web/html.ts"

const meanings: Readonly<Record<number, readonly [text: string, tone: Tone]>> = {
  200: ["Answered", "good"],
  400: ["Invalid request", "warning"],
  402: ["Balance or budget reached", "bad"],
  403: ["Not in the key's scopes", "warning"],
  404: ["No such record", "warning"],
  499: ["Caller disconnected", "quiet"],
  500: ["Server error", "bad"],
  503: ["Server busy", "bad"]
}

/** All statuses that a call with an unrevoked key can get, and that the filter accepts. */
export const statuses: ReadonlyArray<number> = Object.keys(meanings).map(Number)

export const statusMeaning = (status: number): string => meanings[status]?.[0] ?? "Other"

export const statusBadge = (status: number): Html => badge(String(status), meanings[status]?.[1] ?? "quiet")
