/**
 * The catalog in force: the bundled one, and what the folder in `LARDER_CATALOG` adds to it or switches off. It is read
 * when a command needs it, so that a fault stops no other pipeline.
 */
import { Config, Effect, Option, Runtime, Schema } from "effect"
import { BadLine, readHandEdited } from "../../run/files/hand-edited.ts"
import { UsageError } from "../../run/usage-error.ts"
import { assembleCatalog, bundledLines, type Catalog, catalog } from "../catalog.ts"
import { readOwnFiles } from "./own-files.ts"
import { addOwnLines, type OwnLines } from "./own-lines.ts"

/** An empty setting counts as not set. */
export const ownFolder = Config.map(Config.option(Config.String("LARDER_CATALOG")), (setting) =>
  Option.getOrUndefined(Option.filter(setting, (text) => text.trim() !== ""))
)

/** All faults of the operator's files. */
export class CatalogFaulty extends Schema.TaggedError<CatalogFaulty>()("CatalogFaulty", {
  faults: Schema.Array(BadLine)
}) {
  override readonly [Runtime.errorExitCode] = 2
  override get message() {
    const [first, ...others] = this.faults.map(({ fault }) => fault)
    if (others.length === 0) return `LARDER_CATALOG cannot be used. ${first} Correct it, and run again.`
    const lines = [first, ...others].map((fault) => `\n  ${fault}`).join("")
    return `LARDER_CATALOG cannot be used: it has ${this.faults.length} faults. Correct them, and run again.${lines}`
  }
}

export interface CatalogInForce {
  readonly catalog: Catalog
  /** What is in force without `LARDER_CATALOG`. */
  readonly bundled: Catalog
  /** Absent without `LARDER_CATALOG`. */
  readonly own?: OwnLines & { readonly folder: string }
}

/** Fails with `BadLine` only if the bundle is faulty. */
export const readCatalogInForce = Effect.gen(function* () {
  const folder = yield* ownFolder
  const bundled = yield* readHandEdited(catalog)
  if (folder === undefined) return { catalog: bundled, bundled } satisfies CatalogInForce
  const { faults, lines, own } = addOwnLines(bundledLines(), folder, yield* readOwnFiles(folder))
  if (faults.length > 0) return yield* new CatalogFaulty({ faults })
  const names = { own: new Set(own.feeds.map(({ feed }) => feed)), off: new Set(own.off) }
  const inForce: CatalogInForce = { catalog: assembleCatalog(lines, names), bundled, own: { ...own, folder } }
  return inForce
})

/** For commands that only use it. */
export const loadCatalog = readCatalogInForce.pipe(
  Effect.map((inForce) => inForce.catalog),
  Effect.catchTag("CatalogFaulty", ({ message }) => Effect.fail(new UsageError({ problem: message }))),
  Effect.catchTag("ConfigError", Effect.die) // it is text, whatever it is
)
