/** Pages for signed-in people, in the order of the navigation. The simulator adds its own. */
import type { Billing } from "../billing/index.ts"
import type { Administration } from "../ledger/index.ts"
import type { People } from "../people/index.ts"
import type { RequestLog } from "../persistence/index.ts"
import { accountPage } from "./account/account.ts"
import { rechargePage } from "./billing/auto-recharge.ts"
import { billingPages } from "./billing/billing.ts"
import { ledgerPages } from "./billing/ledger-pages.ts"
import { paymentPages } from "./billing/payment.ts"
import { topUpPage } from "./billing/top-up.ts"
import { dataPages } from "./data/data.ts"
import type { DataRead } from "./data/read.ts"
import { keyPage, revokeKeyPage } from "./keys/key.ts"
import { keysPage } from "./keys/keys.ts"
import { newKeyPage } from "./keys/new-key.ts"
import { rotateKeyPage } from "./keys/rotate-key.ts"
import { overviewPage } from "./overview/overview.ts"
import { requestsPage } from "./usage/requests.ts"
import { usagePages } from "./usage/usage.ts"
import type { Page } from "./web/page.ts"

/** Keys, calls and money of an account. */
export const spendingPages: ReadonlyArray<Page<Administration | Billing | RequestLog>> = [
  overviewPage,
  ...[keysPage, newKeyPage, keyPage, rotateKeyPage, revokeKeyPage],
  ...usagePages,
  requestsPage,
  ...billingPages,
  topUpPage,
  rechargePage,
  ...ledgerPages,
  ...paymentPages
]

export type ConsoleServices = Administration | Billing | DataRead | People | RequestLog
export const pages: ReadonlyArray<Page<ConsoleServices>> = [...spendingPages, ...dataPages, accountPage]
