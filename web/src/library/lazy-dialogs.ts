import { lazyPart } from '../components/lazy-part.ts'

/** With its form's fields, when it is first opened. */
export const CollectionDialog = lazyPart(
  () => import('./collection-dialog.tsx'),
  'CollectionDialog',
)
