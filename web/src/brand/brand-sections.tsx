import { NativeSelect, NumberInput, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { LINK_LABELS, LINKS } from '../../../src/brand/links.ts'
import { ACCENT } from '../../../src/brand/tokens.ts'
import { LANGUAGES } from '../language/language.ts'
import { t } from '../language/text.ts'
import classes from './brand.module.css'
import type { BrandFields, FieldName } from './brand-fields.ts'
import { ColorField } from './color-field.tsx'
import { PictureField } from './picture-field.tsx'

/** The built-in highlight on light pages. */
const BRASS = '#a97b1c'

export type SectionProps = {
  fields: BrandFields
  set: (name: FieldName, value: string) => void
  /** The service's words by field. */
  errors: Record<string, string>
  /** The name without one in the form. */
  defaultName: string
}

export function NameSection(props: SectionProps) {
  return (
    <Section title={t('Name and company')}>
      <NameField {...props} />
      <TextInput
        label={t('Legal name')}
        description={t('The company, in the footers of the shop and for search engines')}
        maxLength={120}
        {...bindText(props, 'legal_name')}
      />
      <TextInput
        label={t('Tagline')}
        description={t('One sentence, for visitors and search engines')}
        maxLength={160}
        {...bindText(props, 'tagline')}
      />
      <NativeSelect
        label={t('Language')}
        description={t(
          'Of emails to you and your team, and for everyone whose browser asks for neither English nor German.',
        )}
        data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
        {...bindText(props, 'language')}
      />
    </Section>
  )
}

export function NameField(props: SectionProps) {
  return (
    <TextInput
      label={t('Name')}
      placeholder={props.defaultName}
      maxLength={50}
      {...bindText(props, 'name')}
    />
  )
}

export function PictureSection(props: SectionProps) {
  return (
    <Section title={t('Pictures')}>
      <LogoField {...props} />
      <PictureField
        label={t('Logo on dark pages')}
        description={t('Without one, the logo above.')}
        isOnDark
        {...bind(props, 'logo.dark')}
      />
      <PictureField
        label={t('Icon')}
        description={t(
          'A square, for browser tabs and phones. Without one, the first letter of the name.',
        )}
        {...bind(props, 'logo.square')}
      />
      <PictureField
        label={t('Picture for social networks')}
        description={t(
          'A PNG or JPEG of 1200 × 630 pixels, at most 300 KB, for links to your pages.',
        )}
        sizeMax={300}
        accept="image/png,image/jpeg"
        {...bind(props, 'logo.social')}
      />
    </Section>
  )
}

export function LogoField(props: SectionProps) {
  return (
    <PictureField
      label={t('Logo')}
      description={t(
        'In place of the icon and the name. SVG, PNG, JPEG or WebP, at most 100 KB; emails show PNG and JPEG.',
      )}
      {...bind(props, 'logo.light')}
    />
  )
}

export function ColorSection(props: SectionProps) {
  const { fields, set, errors } = props
  return (
    <Section title={t('Colors and corners')}>
      <div className={classes.pair}>
        <PrimaryField {...props} />
        <ColorField label={t('Highlights')} fallback={BRASS} {...bind(props, 'colours.accent')} />
      </div>
      <NumberInput
        label={t('Corners of buttons and fields')}
        description={t('The radius in pixels, from 0 to 16')}
        placeholder="8"
        min={0}
        max={16}
        allowDecimal={false}
        value={fields.radius ?? ''}
        onChange={(value) => set('radius', String(value))}
        error={errors.radius}
      />
    </Section>
  )
}

export function PrimaryField(props: SectionProps) {
  return (
    <ColorField
      label={t('Buttons and links')}
      fallback={ACCENT}
      {...bind(props, 'colours.primary')}
    />
  )
}

export function LinkSection(props: SectionProps) {
  return (
    <Section title={t('Links')}>
      <p className={classes.about}>
        {t(
          'For the footers of the app, the shop and emails. Terms and privacy policy are also linked where customers create an account.',
        )}
      </p>
      <div className={classes.pair}>
        {LINKS.map((name) => (
          <TextInput
            key={name}
            label={t(LINK_LABELS[name])}
            placeholder={name === 'support' ? 'https:// or mailto:' : 'https://'}
            maxLength={500}
            dir="ltr"
            {...bindText(props, `links.${name}`)}
          />
        ))}
      </div>
    </Section>
  )
}

export function MailSection(props: SectionProps) {
  return (
    <Section title={t('Email')}>
      <div className={classes.pair}>
        <TextInput
          label={t('Sender name')}
          placeholder={props.fields.name || props.defaultName}
          maxLength={50}
          {...bindText(props, 'mail.from_name')}
        />
        <ColorField
          label={t('Buttons of emails')}
          fallback={props.fields['colours.primary'] || ACCENT}
          {...bind(props, 'mail.colour')}
        />
      </div>
      <Textarea
        label={t('Footer')}
        description={t('The last lines of every email, such as your postal address')}
        autosize
        minRows={2}
        maxLength={500}
        {...bindText(props, 'mail.footer')}
      />
    </Section>
  )
}

function bind({ fields, set, errors }: SectionProps, name: FieldName) {
  return {
    value: fields[name] ?? '',
    onChange: (value: string) => set(name, value),
    error: errors[name],
  }
}

function bindText(props: SectionProps, name: FieldName) {
  const { onChange, ...shown } = bind(props, name)
  return {
    ...shown,
    onChange: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  }
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section aria-labelledby={id} className={classes.section}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}
