/** Other services are in test/long: this one starts in a second. */
import { startMoto } from "./moto.ts"
import { holdsDepots } from "./service.ts"

holdsDepots("moto", startMoto)
