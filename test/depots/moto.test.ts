/** Only moto starts in a second. The tests of other services are in test/long. */
import { startMoto } from "./moto.ts"
import { testDepots } from "./service.ts"

testDepots("moto", startMoto)
