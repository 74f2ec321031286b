/**
 * Certificates for real TLS servers in tests, with given hosts and days. Node can sign but not write a certificate, so its
 * few fields are encoded here (RFC 5280, DER).
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"

const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>) => {
  const body = Buffer.concat(parts)
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
const sequence = (...parts: ReadonlyArray<Uint8Array>) => der(0x30, ...parts)
const integer = (bytes: Uint8Array) => der(0x02, bytes)
const octets = (bytes: Uint8Array) => der(0x04, bytes)
const bits = (bytes: Uint8Array) => der(0x03, Buffer.from([0]), bytes)
const explicit = (tag: number, ...parts: ReadonlyArray<Uint8Array>) => der(0xa0 + tag, ...parts)
const objectId = (hex: string) => der(0x06, Buffer.from(hex, "hex"))
const derTrue = der(0x01, Buffer.from([0xff]))
const time = (at: Date) => der(0x18, Buffer.from(`${at.toISOString().replaceAll(/[-:T]|\.\d+Z/g, "")}Z`))

const ecdsaWithSha256 = sequence(objectId("2a8648ce3d040302"))
const nameOf = (text: string) => sequence(der(0x31, sequence(objectId("550403"), der(0x0c, Buffer.from(text)))))
const basicConstraints = sequence(objectId("551d13"), derTrue, octets(sequence(derTrue)))
const alternativeNames = (hosts: ReadonlyArray<string>) => {
  const names = hosts.map((host) =>
    /^[\d.]+$/.test(host) ? der(0x87, Buffer.from(host.split(".").map(Number))) : der(0x82, Buffer.from(host))
  )
  return sequence(objectId("551d11"), octets(sequence(...names)))
}

const pem = (bytes: Uint8Array) => {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? []
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n")
}

interface Signer {
  readonly name: string
  readonly key: KeyObject
}

interface Certificate {
  readonly name: string
  readonly hosts?: ReadonlyArray<string>
  readonly issuer?: Signer
  readonly from?: Date
  readonly to?: Date
}

const aDay = 86_400_000
export const daysFromNow = (days: number) => new Date(Date.now() + days * aDay)

/** Signed by `issuer`, or by itself. Without hosts, it is the certificate of an authority. */
export const makeCertificate = ({ issuer, from = daysFromNow(-1), hosts, name, to = daysFromNow(1) }: Certificate) => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const signer = issuer ?? { name, key: privateKey }
  const content = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    nameOf(signer.name),
    sequence(time(from), time(to)),
    nameOf(name),
    publicKey.export({ type: "spki", format: "der" }),
    explicit(3, sequence(hosts === undefined ? basicConstraints : alternativeNames(hosts)))
  )
  return {
    name,
    privateKey,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: pem(sequence(content, ecdsaWithSha256, bits(sign("sha256", content, signer.key))))
  }
}

/** Makes an authority that can issue certificates. */
export const makeAuthority = (name = "A test authority") => {
  const { cert, privateKey } = makeCertificate({ name })
  const issue = (hosts: ReadonlyArray<string>, days: Pick<Certificate, "from" | "to"> = {}) =>
    makeCertificate({ ...days, name: hosts[0] ?? "", hosts, issuer: { name, key: privateKey } })
  return { cert, issue }
}
