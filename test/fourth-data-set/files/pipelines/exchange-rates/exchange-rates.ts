/** The exchange-rates pipeline: one CSV file with all days. */
import { exchangeRate } from "@larder/warehouse"
import { Effect } from "effect"
import type { Pipeline } from "../run/pipeline.ts"
import { checks } from "./checks.ts"

export const exchangeRates: Pipeline = {
  name: "exchange-rates",
  dataSet: exchangeRate,
  mappingVersion: 1,
  rowNoun: "rates",
  checks,
  samples: new URL("./samples/", import.meta.url),
  recordingFolders: ["rates.example"],
  read: (context) =>
    Effect.flatMap(
      Effect.promise(() => import("./read.ts")),
      (read) => read.readExchangeRates(context)
    )
}
