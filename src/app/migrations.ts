/**
 * Every room's migrations. New databases run them in this order, in which a table follows those
 * that it refers to.
 */
import { aiMigrations } from '#ai/migrations.ts'
import { apiKeyMigrations } from '#api-keys/migrations.ts'
import { auditMigrations } from '#audit/migrations.ts'
import { billingMigrations } from '#billing/migrations.ts'
import { brandMigrations } from '#brand/migrations.ts'
import { conversationMigrations } from '#conversations/migrations.ts'
import { identityMigrations } from '#identity/migrations.ts'
import { mailMigrations } from '#mail/migrations.ts'
import type { Migration } from '#platform/db/migrate.ts'
import { platformMigrations } from '#platform/migrations.ts'
import { ragMigrations } from '#rag/migrations.ts'
import { storefrontMigrations } from '#storefront/migrations.ts'
import { switchMigrations } from '#switches/migrations.ts'
import { usageMigrations } from '#usage/migrations.ts'

export const migrations: Migration[] = [
  ...platformMigrations,
  ...auditMigrations,
  ...mailMigrations,
  ...brandMigrations,
  ...identityMigrations,
  ...billingMigrations,
  ...storefrontMigrations,
  ...apiKeyMigrations,
  ...switchMigrations,
  ...usageMigrations,
  ...aiMigrations,
  ...ragMigrations,
  ...conversationMigrations,
]
