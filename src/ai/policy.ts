/** The policy of every route that asks a model, whoever's API it speaks. */
export const AI_POLICY = {
  access: 'user-or-key',
  needs: 'ai',
  limit: 'ai',
  scope: 'ai',
  bodies: 'packed',
  passesOn: true,
} as const
