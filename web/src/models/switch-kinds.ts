import type { SwitchKind } from '../api/types.ts'

type KindWords = { label: string; subjectLabel: string; hint: string }

export const SWITCH_KINDS: Readonly<Record<SwitchKind, KindWords>> = {
  model: {
    label: 'Model',
    subjectLabel: 'Model name, alias or pattern',
    hint: 'For example gpt-6-luna or groq/*. Aliases use their other models.',
  },
  vendor: {
    label: 'Vendor',
    subjectLabel: 'Vendor name',
    hint: 'Blocks all models of this vendor',
  },
  user: {
    label: 'User',
    subjectLabel: 'User ID',
    hint: 'Blocks all calls. The user can still sign in, pay and export data.',
  },
  key: { label: 'API key', subjectLabel: 'API key ID', hint: 'Blocks this key only' },
}
