import { lazyPart } from '../components/lazy-part.ts'

/** When a conversation is first renamed. */
export const RenameField = lazyPart(() => import('./rename-field.tsx'), 'RenameField')
