/** A depot in S3 services that people run themselves. `test/depots` has a faster test. */
import { missingOfCeph, startCeph } from "../depots/ceph.ts"
import { minio, startFromGo, versitygw } from "../depots/go.ts"
import { holdsDepots } from "../depots/service.ts"
import { isInstalled } from "../support/tools.ts"

if (!isInstalled("go")) console.warn("versitygw and MinIO are not tested: go is not installed.")
for (const source of isInstalled("go") ? [versitygw, minio] : []) {
  holdsDepots(source.program, () => startFromGo(source))
}

const missing = missingOfCeph()
if (missing.length > 0) console.warn(`Ceph is not tested: ${missing.join(", ")} are not installed.`)
else holdsDepots("Ceph", startCeph)
