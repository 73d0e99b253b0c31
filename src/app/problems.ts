/** All problems of all rooms, which docs/errors.md is generated from. */
import { adminProblem } from '#admin/problems.ts'
import { aiProblem } from '#ai/problems.ts'
import { apiKeyProblem } from '#api-keys/problems.ts'
import { billingProblem } from '#billing/problems.ts'
import { brandProblem } from '#brand/problems.ts'
import { catalogueProblem } from '#catalogue/problems.ts'
import { conversationProblem } from '#conversations/problems.ts'
import { identityProblem } from '#identity/problems.ts'
import { platformProblem } from '#platform/problems.ts'
import { ragProblem } from '#rag/problems.ts'
import { sandboxProblem } from '#sandbox/problems.ts'
import { setupProblem } from '#setup/problems.ts'
import { storefrontProblem } from '#storefront/problems.ts'
import { switchedOffProblem, switchProblem } from '#switches/problems.ts'
import { usageProblem } from '#usage/problems.ts'

export const catalogues = {
  platform: platformProblem.catalogue,
  identity: identityProblem.catalogue,
  catalogue: catalogueProblem.catalogue,
  brand: brandProblem.catalogue,
  billing: billingProblem.catalogue,
  'api-keys': apiKeyProblem.catalogue,
  usage: usageProblem.catalogue,
  ai: aiProblem.catalogue,
  rag: ragProblem.catalogue,
  conversations: conversationProblem.catalogue,
  storefront: storefrontProblem.catalogue,
  switches: { ...switchedOffProblem.catalogue, ...switchProblem.catalogue },
  admin: adminProblem.catalogue,
  setup: setupProblem.catalogue,
  sandbox: sandboxProblem.catalogue,
}

type CodesIn<Rooms> = { [Room in keyof Rooms]: keyof Rooms[Room] }[keyof Rooms]
export type ProblemCode = CodesIn<typeof catalogues>
