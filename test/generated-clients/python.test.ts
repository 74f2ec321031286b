/** The client for Python, which takes the least time. The other languages are in test/long. */
import { useSharedServer } from "../support/api/server.ts"
import { itCallsEverything } from "./calls-everything.ts"
import { python } from "./toolchains.ts"

itCallsEverything(python, useSharedServer())
