/** The setup page of a new service: tests keys and saves them as settings. */
import { billingProblem } from '#billing/problems.ts'
import { identityProblem } from '#identity/problems.ts'
import type { Room } from '#platform/room.ts'
import { setupProblem } from './problems.ts'
import { type SetupDeps, setupApiRoutes } from './routes.ts'

export function createSetup(deps: SetupDeps): Room {
  return {
    tags: [
      {
        name: 'setup',
        description: 'Setting up the service, for superusers',
        problems: {
          ...identityProblem.catalogue,
          ...billingProblem.catalogue,
          ...setupProblem.catalogue,
        },
      },
    ],
    routes: (app) => setupApiRoutes(app, deps),
    async open() {
      deps.settings.reseal()
    },
  }
}
