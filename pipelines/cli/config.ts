/** `larder-ingest config` */
import { isLakeEnabled, openSharedDepot, webhookFromSettings } from "@larder/warehouse"
import { makeConfigCommand } from "@larder/warehouse/cli"
import { Effect, Option } from "effect"
import { checkCatalog } from "../commodities/commodities.ts"
import { checkSettings, sourceKind } from "../run/preflight.ts"
import { homeFolderSetting } from "../run/run.ts"
import { intervalSettings } from "../storefronts/source/schedule.ts"

const withoutFlags = { replay: Option.none(), file: Option.none(), stores: Option.none() }

/** Reads the settings of a live run, also if runs read samples. */
const check = Effect.all([
  sourceKind(withoutFlags),
  checkSettings("live"),
  checkCatalog,
  isLakeEnabled,
  intervalSettings,
  webhookFromSettings,
  Effect.flatMap(homeFolderSetting, openSharedDepot)
])

export const configCommand = makeConfigCommand("larder-ingest", check)
