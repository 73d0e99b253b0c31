import { IconCheck } from '@tabler/icons-react'
import type { StoreProduct } from '../api/types.ts'
import { t } from '../language/text.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { formatPrice } from './amount.ts'
import { type ProductFields, readLines } from './product-fields.ts'
import classes from './products.module.css'

type PreviewProps = { fields: ProductFields; others: StoreProduct[] }

/** The product as the shop shows it. */
export function ProductPreview({ fields, others }: PreviewProps) {
  const { name, includes, features, description, bundle } = fields
  const members = others.filter(({ slug }) => bundle.includes(slug))
  const isEmpty = name.trim() === ''
  return (
    <section aria-label={t('Preview')} className={classes.preview}>
      <p className={classes.label}>{t('Preview')}</p>
      <div className={classes.card}>
        <h2 dir="auto">{isEmpty ? t('Name of the product') : name}</h2>
        <p className={classes.price}>{describePrice(fields)}</p>
        <p className={classes.terms}>
          {bundle.length > 0
            ? t('Updates as each product has them')
            : [describeUpdates(fields), describeMachines(fields)].join(', ')}
        </p>
        {members.length > 0 && (
          <ul>
            {members.map(({ tier, name: member, price, currency }) => (
              <li key={tier} dir="auto">
                <IconCheck size={18} aria-hidden />
                {t('{0} for {1}', member, formatPrice(price, currency))}
              </li>
            ))}
          </ul>
        )}
        {includes.trim() !== '' && <p dir="auto">{includes}</p>}
        <ul>
          {readLines(features).map((feature) => (
            <li key={feature} dir="auto">
              <IconCheck size={18} aria-hidden />
              {feature}
            </li>
          ))}
        </ul>
      </div>
      {description.trim() !== '' && <Markdown text={description} />}
    </section>
  )
}

function describePrice({ free, price, currency }: ProductFields): string {
  if (free !== '') return t('Free')
  const units = Number(price)
  const code = currency.trim().toLowerCase()
  if (price.trim() === '' || !Number.isFinite(units)) return '–'
  return /^[a-z]{3}$/.test(code) ? formatPrice(units, code) : price
}

function describeUpdates({ updatesMonths }: ProductFields): string {
  if (updatesMonths.trim() === '') return t('Updates for good')
  return Number(updatesMonths) === 1
    ? t('1 month of updates')
    : t('{0} months of updates', updatesMonths)
}

function describeMachines({ machines }: ProductFields): string {
  if (machines.trim() === '') return t('any number of machines')
  return Number(machines) === 1 ? t('1 machine') : t('{0} machines', machines)
}
