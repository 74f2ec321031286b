/** All endpoints, data set by data set. Routes, documents and tools are derived from this list. */
import { dataSets } from "./data-sets.ts"
import type { Endpoint } from "./endpoint.ts"

export const endpoints: ReadonlyArray<Endpoint> = dataSets.flatMap((dataSet) => dataSet.endpoints)
