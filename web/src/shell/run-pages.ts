import {
  IconActivity,
  IconBuildingStore,
  IconCoin,
  IconCpu,
  IconHeartbeat,
  IconHourglass,
  IconPalette,
  IconPlugConnected,
  IconSunHigh,
  IconTags,
  IconUsers,
} from '@tabler/icons-react'
import { t } from '../language/text.ts'
import { listPage, type NavItem } from './navigation.ts'

/** In the menu of sandboxed services only. */
export const TIME_MACHINE: NavItem = listPage(
  '/run/time-machine',
  t('Time machine'),
  IconHourglass,
  t('Move the clock, watch renewals and emails'),
)

/** The side menu of Run, in its order. */
export const RUN: readonly NavItem[] = [
  listPage('/run/today', t('Today'), IconSunHigh, t('Revenue, margin, messages')),
  listPage('/customers', t('Customers'), IconUsers, t('Find a customer, refund, sign out')),
  listPage('/run/money', t('Money'), IconCoin, t('Payments, metrics, invoices')),
  listPage('/shop', t('Shop'), IconBuildingStore, t('Products, orders, messages')),
  listPage('/run/catalogue', t('Catalogue'), IconTags, t('Plans, prices, limits')),
  listPage('/run/models', t('Models'), IconCpu, t('Vendors, prices, switches')),
  listPage('/run/activity', t('Activity'), IconActivity, t('Audit log, jobs, emails')),
  listPage('/run/health', t('Health'), IconHeartbeat, t('What works and what fails')),
  listPage('/run/brand', t('Brand'), IconPalette, t('Name, logo, colors, links')),
  listPage('/run/setup', t('Setup'), IconPlugConnected, t('Stripe, models, email')),
]

/** Pages of Run that the palette finds besides. */
export const RUN_PARTS: readonly NavItem[] = [
  listPage('/customers/invitations', t('Invitations'), IconUsers, t('Invite by email')),
  listPage('/shop/orders', t('Orders'), IconBuildingStore, t('Purchases and refunds')),
  listPage('/shop/products', t('Products'), IconBuildingStore, t('Prices and releases')),
  listPage('/shop/discounts', t('Discounts'), IconBuildingStore, t('Codes and sales')),
  listPage('/shop/inbox', t('Inbox'), IconBuildingStore, t('Messages of customers')),
  listPage('/shop/disputes', t('Disputes'), IconBuildingStore, t('Disputed payments')),
]
