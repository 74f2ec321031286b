/** Depots in buckets for real programs: what they are told of them. */
import type { Bucket } from "@larder/warehouse"
import { Effect, Redacted } from "effect"
import { s3Service } from "./s3-service.ts"

/** With credentials that do not end. */
export const environmentOf = (of: Omit<Bucket, "sessionToken">, poll: string) => ({
  LARDER_DEPOT: `s3://${of.bucket}/${of.prefix}`,
  LARDER_DEPOT_POLL: poll,
  AWS_ENDPOINT_URL_S3: String(of.endpoint),
  AWS_REGION: of.region,
  AWS_ACCESS_KEY_ID: of.accessKeyId,
  AWS_SECRET_ACCESS_KEY: Redacted.value(of.secretAccessKey)
})

export const sharedDepot = Effect.map(s3Service, (service) => ({
  service,
  environment: environmentOf(service.settings, "100 millis")
}))
