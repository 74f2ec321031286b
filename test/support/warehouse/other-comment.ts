/** Preloaded into a program under test, which then is a version of Larder with another comment on the published prices. */
import { commodity } from "@larder/warehouse"

for (const table of commodity.tables) {
  const { name, record } = table
  if (name === "observation_version")
    Object.assign(table, { record: record.annotate({ description: "In other words." }) })
}
