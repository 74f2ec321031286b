/** Environment variables with which real programs use a depot in a bucket. */
import type { Bucket } from "@larder/warehouse/depot/s3.ts"
import { Effect, Redacted } from "effect"
import { s3Service } from "./s3-service.ts"

/** The credentials do not expire. */
export const environmentOf = (bucket: Omit<Bucket, "sessionToken">, poll: string) => ({
  LARDER_DEPOT: `s3://${bucket.bucket}/${bucket.prefix}`,
  LARDER_DEPOT_POLL: poll,
  AWS_ENDPOINT_URL_S3: String(bucket.endpoint),
  AWS_REGION: bucket.region,
  AWS_ACCESS_KEY_ID: bucket.accessKeyId,
  AWS_SECRET_ACCESS_KEY: Redacted.value(bucket.secretAccessKey)
})

export const sharedDepot = Effect.map(s3Service, (service) => ({
  service,
  environment: environmentOf(service.settings, "100 millis")
}))
