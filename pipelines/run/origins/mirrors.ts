/**
 * Addresses that replace those of the government's services, for mirrors and tests. Everything else keeps the address of
 * the service: the archive, the records of payloads, and what a rebuild repeats.
 */
import { failSetting, isLoopback, isSafeInTransit } from "@larder/schemas"
import { Config, Effect, Option } from "effect"

/** Scheme, host and port. Over plain HTTP, others could modify prices in transit, so it is for this machine only. */
const mirrorSetting = (name: string) =>
  Config.option(Config.String(name)).pipe(
    Config.mapEffect((setting) => {
      if (Option.isNone(setting) || setting.value.trim() === "") return Effect.undefined
      const url = URL.parse(setting.value.trim())
      const isOrigin = url !== null && url.href === `${url.origin}/`
      if (isOrigin && isSafeInTransit(url)) {
        return Effect.succeed({ name, origin: url.origin })
      }
      return failSetting(
        `${name} must be https://host, with a port if needed, or http:// on this machine, such as http://127.0.0.1:8000`
      )
    })
  )

export const mirrors = Config.all({
  "https://marsapi.ams.usda.gov": mirrorSetting("LARDER_MARS_URL"),
  "https://mpr.datamart.ams.usda.gov": mirrorSetting("LARDER_DATAMART_URL"),
  "https://fdc.nal.usda.gov": mirrorSetting("LARDER_FDC_URL")
})
export type Mirrors = Config.Success<typeof mirrors>

/** The setting that replaces the service of an address, if there is one. */
const findMirror = (configured: Mirrors, url: URL) =>
  Object.entries(configured).find(([origin]) => origin === url.origin)?.[1]

/** Where an address of a service is requested. */
export const locate = (configured: Mirrors, address: string): URL => {
  const url = new URL(address)
  const mirror = findMirror(configured, url)
  return mirror === undefined ? url : new URL(mirror.origin + url.pathname + url.search)
}

/** A key goes only to the service that issued it, or to a mirror on this machine; not on after a redirect. */
export const mayReceiveKey = (configured: Mirrors, address: string, at: URL): boolean =>
  at.origin === new URL(address).origin || (isLoopback(at) && at.origin === locate(configured, address).origin)
