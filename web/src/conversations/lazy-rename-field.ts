import { lazy } from 'react'

/** When a conversation is first renamed. */
export const RenameField = lazy(() =>
  import('./rename-field.tsx').then(({ RenameField }) => ({ default: RenameField })),
)
