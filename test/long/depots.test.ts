/** A depot in S3 services that people run themselves. `test/depots` has a faster test. */
import { listMissingPrograms, startCeph } from "../depots/ceph.ts"
import { minio, startFromGo, versitygw } from "../depots/go.ts"
import { testDepots } from "../depots/service.ts"
import { isInstalled } from "../support/tools.ts"

if (!isInstalled("go")) console.warn("versitygw and MinIO are not tested: go is not installed.")
for (const source of isInstalled("go") ? [versitygw, minio] : []) {
  testDepots(source.program, () => startFromGo(source))
}

const missing = listMissingPrograms()
if (missing.length > 0) console.warn(`Ceph is not tested: ${missing.join(", ")} are not installed.`)
else testDepots("Ceph", startCeph)
