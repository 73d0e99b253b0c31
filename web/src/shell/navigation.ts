import {
  type Icon,
  IconBook,
  IconBuildingBank,
  IconBuildingStore,
  IconChartBar,
  IconCpu,
  IconFiles,
  IconGauge,
  IconKey,
  IconListDetails,
  IconPencilPlus,
  IconShieldCog,
  IconTerminal2,
  IconUserCircle,
  IconUsers,
} from '@tabler/icons-react'

export type NavItem = {
  to:
    | '/dashboard'
    | '/home'
    | '/library'
    | '/playground'
    | '/api-keys'
    | '/reference'
    | '/usage'
    | '/calls'
    | '/billing'
    | '/account'
    | '/admin'
    | '/customers'
    | '/shop'
    | '/run/models'
  label: string
  icon: Icon
  about: string
}

export const WORK: NavItem[] = [
  { to: '/home', label: 'New', icon: IconPencilPlus, about: 'Ask a model or your documents' },
  { to: '/library', label: 'Library', icon: IconFiles, about: 'Your files and collections' },
]
const BUILD: NavItem[] = [
  { to: '/dashboard', label: 'Overview', icon: IconGauge, about: 'What is new, and what is left' },
  {
    to: '/playground',
    label: 'Playground',
    icon: IconTerminal2,
    about: 'Try a model, copy the call as code',
  },
  { to: '/api-keys', label: 'API keys', icon: IconKey, about: 'Keys for your programs' },
  { to: '/calls', label: 'Calls', icon: IconListDetails, about: 'Details of every call' },
  { to: '/usage', label: 'Usage', icon: IconChartBar, about: 'Requests, tokens, cost' },
  {
    to: '/reference',
    label: 'API reference',
    icon: IconBook,
    about: 'Every operation, with examples',
  },
]
const PLAN: NavItem = {
  to: '/billing',
  label: 'Plan',
  icon: IconBuildingBank,
  about: 'Plan, invoices, card',
}
const ACCOUNT: NavItem = {
  to: '/account',
  label: 'Account',
  icon: IconUserCircle,
  about: 'Profile, security, data',
}
const RUN: NavItem[] = [
  {
    to: '/customers',
    label: 'Customers',
    icon: IconUsers,
    about: 'Find a customer, refund, sign out',
  },
  { to: '/shop', label: 'Shop', icon: IconBuildingStore, about: 'Products, orders, messages' },
  { to: '/run/models', label: 'Models', icon: IconCpu, about: 'Vendors, prices, switches' },
  { to: '/admin', label: 'Admin', icon: IconShieldCog, about: 'Usage, billing, jobs' },
]

/** The side menu's groups below the conversations. */
export function listGroups(isSuperuser: boolean): { title: string; items: NavItem[] }[] {
  return [
    { title: 'Build', items: BUILD },
    ...(isSuperuser ? [{ title: 'Run', items: RUN }] : []),
    { title: 'You', items: [PLAN] },
  ]
}

/** Every page that the palette finds. */
export function listPages(isSuperuser: boolean): NavItem[] {
  return [...WORK, ...listGroups(isSuperuser).flatMap(({ items }) => items), ACCOUNT]
}
