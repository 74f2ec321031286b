/** What the server shares with its commands: the control channel, the demo account and the welcome text. */
export { runningServer } from "./control/client.ts"
export { layerAdministration, ledgerDirectoryIn, reachLedger } from "./control/reach-ledger.ts"
export { layerPeopleAdministration } from "./control/reach-people.ts"
export { serveControl } from "./control/server.ts"
export { demoKey } from "./demo.ts"
export { program } from "./program.ts"
export { welcome } from "./welcome.ts"
