/**
 * Signs manifests, and verifies their signatures. A machine with the publisher's public key accepts only manifests that
 * the publisher signed, so write access to a bucket is not enough to change its data. A manifest names its parts by
 * their SHA-256, so nothing else needs a signature.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto"
import { Effect, Option } from "effect"
import { type Depot, DepotUnusable } from "./depot.ts"

/** The last field of a signed manifest. The signature is over the text without this field. */
const signature = /,"signature":"([A-Za-z0-9+/]{86}==)"\}$/

const isManifest = (name: string) => /^generations\/\d+\.json$/.test(name)

const signText = (text: string, key: KeyObject) =>
  `${text.slice(0, -1)},"signature":"${sign(null, Buffer.from(text), key).toString("base64")}"}`

/** What is wrong with the signature of a text; undefined if it is valid. */
const findSignatureFault = (text: string, key: KeyObject) => {
  const [end, encoded] = signature.exec(text) ?? []
  if (end === undefined || encoded === undefined) return "it has no signature"
  const body = Buffer.from(`${text.slice(0, -end.length)}}`)
  return verify(null, body, key, Buffer.from(encoded, "base64"))
    ? undefined
    : "its signature was not made with the key in LARDER_DEPOT_PUBLIC_KEY, or it was changed afterwards"
}

export const signingDepot = (depot: Depot, key: KeyObject): Depot => ({
  ...depot,
  putText: (name, text) => depot.putText(name, isManifest(name) ? signText(text, key) : text)
})

export const trustedDepot = (depot: Depot, key: KeyObject): Depot => ({
  ...depot,
  readText: (name) =>
    Effect.tap(depot.readText(name), (text) => {
      const fault = Option.isSome(text) && isManifest(name) ? findSignatureFault(text.value, key) : undefined
      return fault === undefined
        ? Effect.void
        : Effect.fail(
            new DepotUnusable({
              attempt: `trust ${name} in ${depot.location}`,
              cause: new Error(fault),
              advice: "It was not used. Ask the publisher, or set the right key."
            })
          )
    })
})

/** Makes a private key as PEM, and its public key in base64. */
export const makeKeyPair = () => {
  const { privateKey } = generateKeyPairSync("ed25519")
  return {
    privateKey: String(privateKey.export({ type: "pkcs8", format: "pem" })),
    publicKey: encodePublicKey(privateKey)
  }
}

export const encodePublicKey = (privateKey: KeyObject) =>
  createPublicKey(privateKey).export({ type: "spki", format: "der" }).toString("base64")

const requireEd25519 = (key: KeyObject) => {
  if (key.asymmetricKeyType !== "ed25519") throw new Error("it is not an Ed25519 key")
  return key
}
export const parsePrivateKey = (pem: string) => requireEd25519(createPrivateKey(pem))
export const parsePublicKey = (text: string) =>
  requireEd25519(createPublicKey({ key: Buffer.from(text, "base64"), type: "spki", format: "der" }))
