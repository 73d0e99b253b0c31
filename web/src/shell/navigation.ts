import {
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

/** Pages of the app in menu order. */
export const NAV_ITEMS = [
  {
    to: '/dashboard',
    label: 'Dashboard',
    icon: IconGauge,
    about: 'Your plan, usage and next steps',
    group: 'Home',
  },
  { to: '/chat', label: 'Chat', icon: IconMessage, about: 'Chat with a model', group: 'Work' },
  {
    to: '/ask',
    label: 'Ask',
    icon: IconZoomQuestion,
    about: 'Answers from your documents',
    group: 'Work',
  },
  {
    to: '/documents',
    label: 'Documents',
    icon: IconFiles,
    about: 'Upload, search, delete',
    group: 'Work',
  },
  {
    to: '/api-keys',
    label: 'API keys',
    icon: IconKey,
    about: 'Keys for your programs',
    group: 'Build',
  },
  {
    to: '/usage',
    label: 'Usage',
    icon: IconChartBar,
    about: 'Requests, tokens, cost',
    group: 'Build',
  },
  {
    to: '/calls',
    label: 'Calls',
    icon: IconListDetails,
    about: 'Details of every call',
    group: 'Build',
  },
  {
    to: '/billing',
    label: 'Billing',
    icon: IconBuildingBank,
    about: 'Plan, invoices, card',
    group: 'You',
  },
  {
    to: '/account',
    label: 'Account',
    icon: IconUserCircle,
    about: 'Profile, security, data',
    group: 'You',
  },
] as const

export const ADMIN_NAV_ITEM = {
  to: '/admin',
  label: 'Admin',
  icon: IconShieldCog,
  about: 'Users, usage, messages',
} as const
