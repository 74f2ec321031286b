/** What the server shares with its commands: the control channel, the demo account and the welcome text. */
export { ledgerDirectoryIn } from "./control/reach.ts"
export { serveControl } from "./control/server.ts"
export { createDemoKey } from "./demo.ts"
export { formatWelcome } from "./welcome.ts"
