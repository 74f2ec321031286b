/** The console: its listener, its pages, health and metrics. */
export { makeForgotPasswordPage } from "./account/forgot-password.ts"
export { makeConsole } from "./app.ts"
export { DataRead } from "./data/read.ts"
export { describeFreshness, type Readiness } from "./health.ts"
export { makeMetrics } from "./metrics.ts"
export { type ConsoleServices, pages } from "./pages.ts"
export { makeCheckoutPage } from "./simulator/checkout-page.ts"
export { simulatorPages } from "./simulator/control-pages.ts"
