import { Link } from '@tanstack/react-router'
import { t } from '../language/text.ts'
import layout from '../shop/shop-layout.module.css'

const SECTIONS = [
  { to: '/customers', label: t('Customers') },
  { to: '/customers/invitations', label: t('Invitations') },
] as const

export function CustomerSections() {
  return (
    <nav aria-label={t('Customers')} className={layout.sections}>
      {SECTIONS.map(({ to, label }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
