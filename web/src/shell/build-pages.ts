import {
  IconChartBar,
  IconCode,
  IconKey,
  IconListDetails,
  IconTags,
  IconTerminal2,
  IconTimeline,
} from '@tabler/icons-react'
import { t } from '../language/text.ts'
import type { NavItem } from './navigation.ts'

/** The side menu of Build, in its order. */
export const BUILD: readonly NavItem[] = [
  {
    to: '/build',
    label: t('Overview'),
    icon: IconTimeline,
    about: t('First call, failures, latency'),
  },
  {
    to: '/playground',
    label: t('Playground'),
    icon: IconTerminal2,
    about: t('Try a model, copy the call as code'),
  },
  { to: '/api-keys', label: t('API keys'), icon: IconKey, about: t('Keys for your programs') },
  { to: '/calls', label: t('Calls'), icon: IconListDetails, about: t('Details of every call') },
  { to: '/usage', label: t('Usage'), icon: IconChartBar, about: t('Requests, tokens, cost') },
  { to: '/models', label: t('Models'), icon: IconTags, about: t('Prices, context, abilities') },
  {
    to: '/reference',
    label: t('API reference'),
    icon: IconCode,
    about: t('Every operation, with examples'),
  },
]
