/**
 * The paths of the warehouse on this machine. Generations are in `warehouse/generations/` and `warehouse/objects/`. If
 * several machines share a depot, these are the generations that this machine has pulled. The files that people open are
 * made from them, and are also in `warehouse/`: see `opened-files.ts`. A layout is opened with the depot that
 * LARDER_DEPOT names, and with the keys for it.
 */
import { join } from "node:path"
import {
  Config,
  ConfigProvider,
  Context,
  Effect,
  FileSystem,
  Layer,
  Option,
  Path,
  type PlatformError,
  Schema,
  Scope
} from "effect"
import { type Depot, objectName } from "../depot/depot.ts"
import { folderDepot } from "../depot/folder.ts"
import { causeText } from "../disk.ts"
import { WarehouseProblem } from "../problem.ts"

/** `shared` is the depot that several machines share. */
export const layoutOf = (home: string, shared?: Depot) =>
  Effect.map(Path.Path, (path) => {
    const absolute = path.resolve(home)
    const dir = path.join(absolute, "warehouse")
    const local = folderDepot(dir, "LARDER_HOME")
    return {
      home: absolute,
      dir,
      depot: shared ?? local,
      /** The generations that are complete on this machine: equal to `depot`, unless machines share one. */
      local,
      /** Objects that are being pulled, named by their SHA-256. */
      incoming: path.join(dir, "incoming"),
      /** Locked while a generation is pulled. */
      pullLock: path.join(dir, ".pull.lock"),
      objectFile: (sha256: string) => path.join(dir, objectName(sha256)),
      /** Local markers for finished work: see `markers.ts`. */
      markers: path.join(dir, "seen"),
      /** Folders with the sidecar files of branded foods, one for each of their databases. */
      sidecars: path.join(dir, "beside"),
      /** Locked while one of these folders is created. */
      sidecarsLock: path.join(dir, ".beside.lock"),
      catalogue: path.join(dir, "larder.duckdb"),
      /** The records of all runs, made from the parts of `ingest`. */
      ingestion: path.join(dir, "ingestion.duckdb"),
      dataSetFile: (pipeline: string) => path.join(dir, `${pipeline}.duckdb`),
      /** Locked while a run of this pipeline publishes, or a rollback changes its data set. */
      lockOf: (pipeline: string) => path.join(dir, `.${pipeline}.lock`),
      /** Locked while the files that people open are made. */
      openedLock: path.join(dir, ".opened.lock"),
      /** Locked while the lake is updated. */
      lakeLock: path.join(dir, ".lake.lock"),
      staging: path.join(absolute, "staging"),
      /** Locked while a run searches for files of killed runs, and while it creates its own folder. */
      stagingLock: path.join(absolute, ".staging.lock")
    }
  })

export type Layout = Readonly<Effect.Success<ReturnType<typeof layoutOf>>>

export class NoWarehouse extends Schema.TaggedError<NoWarehouse>()("NoWarehouse", { dir: Schema.String }) {
  override get message() {
    return `There is no data in ${this.dir} yet. Run: npx larder-ingest`
  }
}

export class HomeUnwritable extends Schema.TaggedError<HomeUnwritable>()("HomeUnwritable", {
  path: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `${this.path} cannot be created or written: ${causeText(this.cause)}. Set LARDER_HOME to a folder that this user can write.`
  }
}

/** Creates a folder and checks that it is writable, before any work is done. */
export const requireWritableFolder = Effect.fnUntraced(function* (dir: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(dir, { recursive: true }).pipe(
    Effect.andThen(fs.access(dir, { writable: true })),
    Effect.mapError((cause) => new HomeUnwritable({ path: dir, cause: cause.reason.cause ?? cause }))
  )
})

/** Returns `fallback` if the file does not exist; any other failure remains. */
export const ifMissing =
  <B>(fallback: B) =>
  <A, R>(read: Effect.Effect<A, PlatformError.PlatformError, R>) =>
    Effect.catchReason(read, "PlatformError", "NotFound", () => Effect.succeed(fallback))

/** Rejects a warehouse in the format of an earlier version, which stored each generation in one file. */
export const requireCurrentFormat = Effect.fnUntraced(function* ({ dir }: Layout) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* fs.readDirectory(dir).pipe(
    ifMissing<ReadonlyArray<string>>([]),
    Effect.mapError((cause) => new HomeUnwritable({ path: dir, cause: cause.reason.cause ?? cause }))
  )
  const file = names
    .filter((name) => /^larder-\d{6,}\.duckdb$/.test(name))
    .toSorted()
    .at(-1)
  if (file === undefined) return
  return yield* new WarehouseProblem({
    problem: `${dir} contains a warehouse in an earlier format (${file}). Nothing was changed. Move this folder aside, and rebuild it from the raw archive with: npx larder-ingest rebuild`
  })
})

/** Undefined if no depot is shared. It is opened at its first use: most commands do not need it. */
const SharedDepot = Context.Reference<Effect.Effect<Depot | undefined, Config.ConfigError>>(
  "larder/warehouse/SharedDepot",
  { defaultValue: () => Effect.succeed(undefined) }
)

export const sharedDepotFromSettings = Layer.effect(
  SharedDepot,
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const open = Effect.gen(function* () {
      const { configuredDepot } = yield* Effect.promise(() => import("../depot/setting.ts"))
      return yield* configuredDepot
    })
    return yield* Effect.cached(Scope.provide(open, scope))
  })
)

/** The private key with which a machine signs what it publishes. Only its user may read it. */
export const keyFileIn = (home: string) => join(home, "depot-key.pem")

export class KeyUnusable extends Schema.TaggedError<KeyUnusable>()("KeyUnusable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The key ${this.file} cannot be used: ${causeText(this.cause)}. Restore it, or remove it and make another one with: npx larder-ingest depot keys`
  }
}

const publicKeySetting = Config.option(Config.String("LARDER_DEPOT_PUBLIC_KEY")).pipe(
  Config.map(Option.filter((text) => text !== ""))
)

const invalidKey = new Config.ConfigError(
  new ConfigProvider.SourceError({
    message:
      "LARDER_DEPOT_PUBLIC_KEY is not a public key: set it to the line that `npx larder-ingest depot keys` prints"
  })
)

/** If this machine has a key, it signs manifests. If it has a public key, it accepts only manifests signed with it. */
const withKeys = Effect.fnUntraced(function* (depot: Depot, home: string) {
  const fs = yield* FileSystem.FileSystem
  const file = keyFileIn(home)
  const unusable = (cause: unknown) => new KeyUnusable({ file, cause })
  const pem = yield* fs.readFileString(file).pipe(ifMissing<string | undefined>(undefined), Effect.mapError(unusable))
  const publicKey = yield* publicKeySetting
  if (pem === undefined && Option.isNone(publicKey)) return depot
  const { parsePrivateKey, parsePublicKey, signingDepot, trustedDepot } = yield* Effect.promise(
    () => import("../depot/signed.ts")
  )
  const signer =
    pem === undefined
      ? depot
      : signingDepot(depot, yield* Effect.try({ try: () => parsePrivateKey(pem), catch: unusable }))
  if (Option.isNone(publicKey)) return signer
  const key = yield* Effect.try({ try: () => parsePublicKey(publicKey.value), catch: () => invalidKey })
  return trustedDepot(signer, key)
})

export const openLayout = Effect.fnUntraced(function* (home: string) {
  const shared = yield* yield* SharedDepot
  return yield* layoutOf(home, shared === undefined ? undefined : yield* withKeys(shared, home))
})
