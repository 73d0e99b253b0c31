import { lazy } from 'react'

/** With its form's fields, when it is first opened. */
export const CollectionDialog = lazy(() =>
  import('./collection-dialog.tsx').then(({ CollectionDialog }) => ({ default: CollectionDialog })),
)
