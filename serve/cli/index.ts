/** What the server shares with its commands: the control channel, the demo account and the welcome text. */
export { findRunningServer } from "./control/client.ts"
export { layerAdministration, layerPeopleAdministration, ledgerDirectoryIn, reachLedger } from "./control/reach.ts"
export { serveControl } from "./control/server.ts"
export { createDemoKey } from "./demo.ts"
export { program } from "./program.ts"
export { formatWelcome } from "./welcome.ts"
