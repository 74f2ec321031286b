/** How far apart the values of a series usually are, by the frequency of its report. */
import type { Frequency } from "@larder/schemas"
import { thresholds } from "../run/thresholds.ts"

/** Longest usual time in days from one value to the next: holidays and shutdowns skip some. */
export const maxGapDays: Readonly<Record<typeof Frequency.Type, number>> = {
  daily: thresholds.dailyGap.value,
  weekly: thresholds.weeklyGap.value,
  biweekly: thresholds.biweeklyGap.value,
  monthly: thresholds.monthlyGap.value,
  annual: thresholds.annualGap.value
}
