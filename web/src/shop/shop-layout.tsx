import { IconLock } from '@tabler/icons-react'
import { Link, Outlet } from '@tanstack/react-router'
import { LinkButton } from '../components/links.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import classes from './shop-layout.module.css'

const SECTIONS = [
  { to: '/shop/orders', label: t('Orders') },
  { to: '/shop/products', label: t('Products') },
  { to: '/shop/discounts', label: t('Discounts') },
  { to: '/shop/inbox', label: t('Inbox') },
  { to: '/shop/disputes', label: t('Disputes') },
] as const

/** The seller's desk: its sections, for superusers. */
export function ShopLayout() {
  if (!useUser().is_superuser) {
    return (
      <Page title={t('Shop')}>
        <Notice
          icon={IconLock}
          title={t('For superusers only')}
          action={<LinkButton to="/dashboard">{t('Go to dashboard')}</LinkButton>}
        >
          {t('Your account does not have access to this page.')}
        </Notice>
      </Page>
    )
  }
  return (
    <>
      <p className={classes.area} aria-hidden>
        {t('Shop')}
      </p>
      <nav aria-label={t('Shop')} className={classes.sections}>
        {SECTIONS.map(({ to, label }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ includeSearch: false }}
            activeProps={{ 'aria-current': 'page' }}
          >
            {label}
          </Link>
        ))}
      </nav>
      <div className={classes.pages}>
        <Outlet />
      </div>
    </>
  )
}
