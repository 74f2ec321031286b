/** The one file of the source: all days, newest first. */
import type { SourceRequest } from "../../run/origins/origin.ts"

export const feed = "rates/daily"

export const dailyFile: SourceRequest = { url: "https://rates.example/daily.csv", accept: "text/csv" }
