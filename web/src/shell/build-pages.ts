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
import { listPage, type NavItem } from './navigation.ts'

/** The side menu of Build, in its order. */
export const BUILD: readonly NavItem[] = [
  listPage('/build', t('Overview'), IconTimeline, t('First call, failures, latency')),
  listPage('/playground', t('Playground'), IconTerminal2, t('Try a model, copy the call as code')),
  listPage('/api-keys', t('API keys'), IconKey, t('Keys for your programs')),
  listPage('/calls', t('Calls'), IconListDetails, t('Details of every call')),
  listPage('/usage', t('Usage'), IconChartBar, t('Requests, tokens, cost')),
  listPage('/models', t('Models'), IconTags, t('Prices, context, abilities')),
  listPage('/reference', t('API reference'), IconCode, t('Every operation, with examples')),
]
