/**
 * The retention rules of all rooms. A growing table has a rule here, or `retention.db.test.ts`
 * names its limit.
 */

import { agedKeys } from '#api-keys/retention.ts'
import { agedAudit } from '#audit/retention.ts'
import { agedBilling } from '#billing/retention.ts'
import type { Config } from '#config/config.ts'
import { agedConversations } from '#conversations/retention.ts'
import { agedIdentity } from '#identity/retention.ts'
import { agedMail } from '#mail/retention.ts'
import { agedEvents } from '#platform/jobs/retention.ts'
import type { Aged } from '#platform/retention.ts'
import { agedOutages } from '#platform/uptime/retention.ts'
import { agedRag } from '#rag/retention.ts'
import { agedStorefront } from '#storefront/retention.ts'
import { agedUsage } from '#usage/retention.ts'

export const agedRows = (config: Config): Aged[] => [
  ...agedAudit(config),
  ...agedIdentity(),
  ...agedEvents(config),
  ...agedOutages(config),
  ...agedMail(config),
  ...agedStorefront(config),
  ...agedUsage(config),
  ...agedKeys(config),
  ...agedRag(),
  ...agedConversations(config),
  ...agedBilling(),
]
