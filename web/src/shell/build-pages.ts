import {
  IconChartBar,
  IconCode,
  IconKey,
  IconListDetails,
  IconTags,
  IconTerminal2,
  IconTimeline,
} from '@tabler/icons-react'
import type { NavItem } from './navigation.ts'

/** The side menu of Build, in its order. */
export const BUILD: readonly NavItem[] = [
  { to: '/build', label: 'Overview', icon: IconTimeline, about: 'First call, failures, latency' },
  {
    to: '/playground',
    label: 'Playground',
    icon: IconTerminal2,
    about: 'Try a model, copy the call as code',
  },
  { to: '/api-keys', label: 'API keys', icon: IconKey, about: 'Keys for your programs' },
  { to: '/calls', label: 'Calls', icon: IconListDetails, about: 'Details of every call' },
  { to: '/usage', label: 'Usage', icon: IconChartBar, about: 'Requests, tokens, cost' },
  { to: '/models', label: 'Models', icon: IconTags, about: 'Prices, context, abilities' },
  {
    to: '/reference',
    label: 'API reference',
    icon: IconCode,
    about: 'Every operation, with examples',
  },
]
