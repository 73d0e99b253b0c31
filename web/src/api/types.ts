/**
 * The shapes of the service's answers that this app reads: names for those that `npm run docs` makes from the routes, and the
 * few that the description does not name. Change a shape in its route.
 */
import type { Subscription, User } from './schema.d.ts'

export type {
  AdminUser,
  ApiKey,
  ApiKeyCreated,
  Chunk,
  ContactMessage,
  DeadJob,
  Document as StoredDocument,
  GetStatsResponse as AdminStats,
  GetUsageResponse as Usage,
  Ingested,
  IngestWarning,
  Issue,
  ListJobsResponse as Jobs,
  Message,
  Model,
  ModelList,
  OAuthLink,
  Passkey,
  Plan,
  Provider,
  Session,
  StartTotpResponse as TotpStart,
  Subscription,
  Token,
  TokenUsage,
  UsageGroup,
  UsageTotals,
  User,
} from './schema.d.ts'

/** What a plan may grant. */
export type Entitlement = User['entitlements'][number]
export type SubscriptionStatus = Subscription['status']

export type Role = 'system' | 'user' | 'assistant'
export type Paged = { total: number; page: number; limit: number; pages: number }
