/** Checks by what their bad rows mean: an error keeps a run from being published, a warning is told beside it. */
import type { Check } from "@larder/warehouse/generation/check.ts"

const of =
  (severity: Check["severity"]) =>
  (name: string, description: string, sql: string): Check => ({ name, severity, description, sql })

export const error = of("error")
export const warning = of("warning")
