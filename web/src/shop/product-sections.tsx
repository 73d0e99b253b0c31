import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import type { StoreProduct } from '../api/types.ts'
import { t } from '../language/text.ts'
import { BundleFields } from './bundle-fields.tsx'
import { PairList } from './pair-list.tsx'
import type { ProductFields } from './product-fields.ts'
import classes from './products.module.css'
import { UpgradeFields } from './upgrade-fields.tsx'

type SectionProps = {
  fields: ProductFields
  set: (change: Partial<ProductFields>) => void
  /** The service's words by field: `price`, `faq.0.question`. */
  errors: Record<string, string>
}

const FREE = ['email', 'account'] as const

type SaleSectionProps = SectionProps & {
  tier: string
  /** Null: the tier is fixed. */
  onTier: ((tier: string) => void) | null
  others: StoreProduct[]
}

export function SaleSection({ fields, set, errors, tier, onTier, others }: SaleSectionProps) {
  const text = bindTexts({ fields, set, errors })
  return (
    <Section title={t('Sale')}>
      <TextInput
        label={t('Name')}
        required
        withAsterisk={false}
        maxLength={200}
        {...text('name')}
      />
      <div className={classes.pair}>
        <TextInput
          label={t('Price')}
          inputMode="decimal"
          pattern="\d+(\.\d+)?"
          title={t('A number, as 49 or 49.90')}
          required
          withAsterisk={false}
          disabled={fields.free !== ''}
          {...text('price')}
        />
        <TextInput
          label={t('Currency')}
          minLength={3}
          maxLength={3}
          required
          withAsterisk={false}
          {...text('currency')}
        />
      </div>
      <NativeSelect
        label={t('Payment')}
        value={fields.free}
        onChange={(event) => {
          const free = FREE.find((kind) => kind === event.currentTarget.value) ?? ''
          const none = { price: '0', bundle: [], renewalPrice: '', upgrades: [] }
          set(free === '' ? { free } : { free, ...none })
        }}
        data={[
          { value: '', label: t('For its price') },
          { value: 'email', label: t('Free, by an emailed link') },
          { value: 'account', label: t('Free, for verified accounts') },
        ]}
        error={errors.free}
      />
      {fields.free === '' && (
        <BundleFields
          bundle={fields.bundle}
          others={others}
          error={findError(errors, 'bundle')}
          onChange={(bundle) => set({ bundle })}
        />
      )}
      <div className={classes.pair}>
        {onTier && (
          <TextInput
            label={t('Tier')}
            description={t('In links and folders; never changes')}
            required
            withAsterisk={false}
            maxLength={64}
            value={tier}
            onChange={(event) => onTier(event.currentTarget.value)}
            error={errors.tier}
          />
        )}
        <TextInput
          label={t('Address')}
          description={t('Its page: /products/…')}
          placeholder={tier.toLowerCase().replaceAll('_', '-')}
          maxLength={64}
          {...text('slug')}
        />
      </div>
      <TextInput
        label={t('Includes')}
        placeholder={t('Everything in Basic')}
        maxLength={200}
        {...text('includes')}
      />
      <Textarea
        label={t('Features')}
        description={t('One per line')}
        autosize
        minRows={3}
        {...text('features')}
      />
      <Textarea
        label={t('Description')}
        description={t('Markdown, on the product’s page')}
        autosize
        minRows={4}
        {...text('description')}
      />
    </Section>
  )
}

export function LicenseSection({
  fields,
  set,
  errors,
  others,
}: SectionProps & { others: StoreProduct[] }) {
  const text = bindTexts({ fields, set, errors })
  if (fields.bundle.length > 0) {
    return (
      <Section title={t('License')}>
        <p className={classes.note}>
          {t('Each product of the bundle has its own license, releases and updates.')}
        </p>
      </Section>
    )
  }
  const count = { inputMode: 'numeric', pattern: '\\d*', title: t('A whole number') } as const
  return (
    <Section title={t('License')}>
      <div className={classes.pair}>
        <TextInput
          label={t('Months of updates')}
          description={t('Empty: updates never end')}
          {...count}
          {...text('updatesMonths', 'updates_months')}
        />
        <TextInput
          label={t('Price of a renewal')}
          description={t('Empty: no renewals')}
          inputMode="decimal"
          pattern="\d+(\.\d+)?"
          {...text('renewalPrice', 'renewal_price')}
        />
      </div>
      <div className={classes.pair}>
        <TextInput
          label={t('Machines')}
          description={t('Empty: no limit')}
          {...count}
          {...text('machines', 'activations_max')}
        />
        <TextInput
          label={t('Machines released per month')}
          description={t('By the buyer')}
          required
          withAsterisk={false}
          {...count}
          {...text('releases', 'activation_releases_per_month')}
        />
      </div>
      <UpgradeFields
        upgrades={fields.upgrades}
        currency={fields.currency}
        others={others.filter(({ bundle }) => bundle.length === 0)}
        onChange={(upgrades) => set({ upgrades })}
        error={findError(errors, 'upgrade_from')}
      />
    </Section>
  )
}

export function PageSection({ fields, set, errors }: SectionProps) {
  const text = bindTexts({ fields, set, errors })
  const pairs = (field: 'gallery' | 'faq' | 'comparison') => ({
    pairs: fields[field],
    onChange: (changed: ProductFields['faq']) => set({ [field]: changed }),
    error: findError(errors, field),
  })
  return (
    <Section title={t('Product page and tax')} isOptional>
      <PairList
        title={t('Pictures')}
        labels={[t('Address of the picture'), t('What it shows')]}
        add={t('Add picture')}
        {...pairs('gallery')}
      />
      <PairList
        title={t('Comparison with the other products')}
        labels={[t('Row'), t('Text, or yes or no')]}
        add={t('Add row')}
        {...pairs('comparison')}
      />
      <PairList
        title={t('Questions and answers')}
        labels={[t('Question'), t('Answer')]}
        add={t('Add question')}
        isLong
        {...pairs('faq')}
      />
      <Textarea
        label={t('Terms')}
        description={t('Markdown')}
        autosize
        minRows={2}
        {...text('terms')}
      />
      <Textarea
        label={t('Changelog')}
        description={t('Markdown, before the notes of the releases')}
        autosize
        minRows={2}
        {...text('changelog')}
      />
      <Textarea
        label={t('Pictures on the payment page')}
        description={t('Addresses, one per line')}
        autosize
        minRows={1}
        {...text('images')}
      />
      <TextInput
        label={t('Tax code')}
        description={t('Of the payment processor')}
        placeholder="txcd_10202000"
        maxLength={200}
        {...text('taxCode', 'tax_code')}
      />
    </Section>
  )
}

type TextField = {
  [K in keyof ProductFields]: ProductFields[K] extends string ? K : never
}[keyof ProductFields]

function bindTexts({ fields, set, errors }: SectionProps) {
  return (field: TextField, sentName: string = field) => ({
    value: fields[field],
    onChange: (event: { currentTarget: { value: string } }) =>
      set({ [field]: event.currentTarget.value }),
    error: findError(errors, sentName),
  })
}

/** Returns the error of a field, or of a part of it. */
function findError(errors: Record<string, string>, field: string): string | undefined {
  return Object.entries(errors).find(
    ([name]) => name === field || name.startsWith(`${field}.`),
  )?.[1]
}

type GroupProps = { title: string; isOptional?: boolean; children: ReactNode }

/** Optional fields stay folded until they are wanted. */
function Section({ title, isOptional = false, children }: GroupProps) {
  const id = useId()
  if (isOptional) {
    return (
      <details className={classes.section}>
        <summary>{title}</summary>
        <div className={classes.fields}>{children}</div>
      </details>
    )
  }
  return (
    <section aria-labelledby={id} className={classes.section}>
      <h2 id={id}>{title}</h2>
      <div className={classes.fields}>{children}</div>
    </section>
  )
}
