import {
  type Icon,
  IconBuildingBank,
  IconChartBar,
  IconFiles,
  IconGauge,
  IconKey,
  IconListDetails,
  IconMessage,
  IconShieldCog,
  IconUserCircle,
  IconZoomQuestion,
} from '@tabler/icons-react'

export type NavItem = {
  to:
    | '/dashboard'
    | '/chat'
    | '/ask'
    | '/documents'
    | '/api-keys'
    | '/usage'
    | '/calls'
    | '/billing'
    | '/account'
    | '/admin'
  label: string
  icon: Icon
  about: string
}

const WORK: NavItem[] = [
  { to: '/chat', label: 'Chat', icon: IconMessage, about: 'Chat with a model' },
  { to: '/ask', label: 'Ask', icon: IconZoomQuestion, about: 'Answers from your documents' },
  { to: '/documents', label: 'Documents', icon: IconFiles, about: 'Upload, search, delete' },
]
const BUILD: NavItem[] = [
  { to: '/dashboard', label: 'Overview', icon: IconGauge, about: 'What is new, and what is left' },
  { to: '/api-keys', label: 'API keys', icon: IconKey, about: 'Keys for your programs' },
  { to: '/calls', label: 'Calls', icon: IconListDetails, about: 'Details of every call' },
  { to: '/usage', label: 'Usage', icon: IconChartBar, about: 'Requests, tokens, cost' },
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
const ADMIN: NavItem = {
  to: '/admin',
  label: 'Admin',
  icon: IconShieldCog,
  about: 'Users, usage, messages',
}

/** The side menu's groups in their order. */
export function listGroups(isSuperuser: boolean): { title: string; items: NavItem[] }[] {
  return [
    { title: '', items: WORK },
    { title: 'Build', items: BUILD },
    { title: 'You', items: isSuperuser ? [PLAN, ADMIN] : [PLAN] },
  ]
}

/** Every page that the palette finds. */
export function listPages(isSuperuser: boolean): NavItem[] {
  return [...listGroups(isSuperuser).flatMap(({ items }) => items), ACCOUNT]
}
