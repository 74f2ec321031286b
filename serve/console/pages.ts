/** All pages for signed-in people, in the order of the navigation. */
import type { Billing } from "../billing/billing.ts"
import type { Administration } from "../ledger/administration.ts"
import type { People } from "../people/people.ts"
import type { RequestLog } from "../requests/request-log.ts"
import type { DataRead } from "./data-read.ts"
import type { Page } from "./page.ts"
import { accountPage } from "./pages/account.ts"
import { rechargePages } from "./pages/auto-recharge.ts"
import { billingPages } from "./pages/billing.ts"
import { dataPages } from "./pages/data.ts"
import { keyPage, revokeKeyPage } from "./pages/key.ts"
import { keysPage } from "./pages/keys.ts"
import { ledgerPages } from "./pages/ledger.ts"
import { newKeyPage } from "./pages/new-key.ts"
import { overviewPage } from "./pages/overview.ts"
import { paymentPages } from "./pages/payment.ts"
import { requestPages } from "./pages/requests.ts"
import { rotateKeyPage } from "./pages/rotate-key.ts"
import { topUpPages } from "./pages/top-up.ts"
import { usagePages } from "./pages/usage.ts"

export type ConsoleServices = Administration | Billing | DataRead | People | RequestLog

export const pages: ReadonlyArray<Page<ConsoleServices>> = [
  overviewPage,
  ...[keysPage, newKeyPage, keyPage, rotateKeyPage, revokeKeyPage],
  ...usagePages,
  ...requestPages,
  ...billingPages,
  ...topUpPages,
  ...rechargePages,
  ...ledgerPages,
  ...paymentPages,
  ...dataPages,
  accountPage
]
