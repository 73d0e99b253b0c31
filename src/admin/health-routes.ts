// The health of the service for superusers. The checks call other services, so requests at the same
// time share one run, and its result is reused for a moment.
import type { App } from '#platform/http/app.ts'
import { adminRoute } from './admin-route.ts'
import { type HealthDeps, HealthReport, readHealth } from './health.ts'

const FRESH_MS = 10_000

export function adminHealthRoutes(app: App, deps: HealthDeps): void {
  const latest = new LatestHealth(deps)
  app.get(
    '/api/admin/health',
    adminRoute(
      'getHealthReport',
      'Check the database, storage, jobs, payments, email, models and settings',
      {
        description:
          'The checks call Stripe, the mail server and the model vendors; a result is reused for 10 seconds. Payments are compared by `GET /api/admin/billing/disagreements`.',
        response: { 200: HealthReport },
      },
    ),
    () => latest.read(),
  )
}

class LatestHealth {
  readonly #deps: HealthDeps
  #report: Promise<HealthReport> | null = null
  #startedAtMs = 0

  constructor(deps: HealthDeps) {
    this.#deps = deps
  }

  read(): Promise<HealthReport> {
    const nowMs = this.#deps.clock.ms()
    if (this.#report !== null && nowMs - this.#startedAtMs < FRESH_MS) return this.#report
    this.#startedAtMs = nowMs
    this.#report = readHealth(this.#deps).catch((error: unknown) => {
      this.#report = null
      throw error
    })
    return this.#report
  }
}
