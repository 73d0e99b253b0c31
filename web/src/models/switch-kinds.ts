import type { Switch, SwitchKind } from '../api/types.ts'
import { t } from '../language/text.ts'

export type SwitchSubject = { kind: SwitchKind; subject: string }

type KindWords = { label: string; subjectLabel: string; hint: string }

export const SWITCH_KINDS: Readonly<Record<SwitchKind, KindWords>> = {
  model: {
    label: t('Model'),
    subjectLabel: t('Model name, alias or pattern'),
    hint: t('For example gpt-6-luna or groq/*. Aliases use their other models.'),
  },
  vendor: {
    label: t('Vendor'),
    subjectLabel: t('Vendor name'),
    hint: t('Blocks all models of this vendor'),
  },
  user: {
    label: t('User'),
    subjectLabel: t('User ID'),
    hint: t('Blocks all calls. The user can still sign in, pay and export data.'),
  },
  key: { label: t('API key'), subjectLabel: t('API key ID'), hint: t('Blocks this key only') },
}

export function isSwitchedOff(
  switches: readonly Switch[],
  { kind, subject }: SwitchSubject,
): boolean {
  return switches.some((one) => one.kind === kind && one.subject === subject)
}
