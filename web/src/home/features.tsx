import { Text, Title } from '@mantine/core'
import {
  type Icon,
  IconFileSearch,
  IconLock,
  IconMessages,
  IconReceipt2,
  IconShieldLock,
} from '@tabler/icons-react'
import { t } from '../language/text.ts'
import classes from './features.module.css'

const FEATURES: { icon: Icon; title: string; text: string; span: 2 | 3 }[] = [
  {
    icon: IconMessages,
    title: t('Several vendors, one conversation'),
    text: t(
      'Use the models of several vendors in one chat and with one API. Incomplete answers are always marked.',
    ),
    span: 3,
  },
  {
    icon: IconFileSearch,
    title: t('Answers that show their source'),
    text: t(
      'Upload PDF, Word or text. Every answer cites its passages. When nothing matches, it says so instead of guessing.',
    ),
    span: 3,
  },
  {
    icon: IconLock,
    title: t('Keys for your programs'),
    text: t(
      'Set limits, permissions and an expiry. Works with any OpenAI client: change its base URL.',
    ),
    span: 2,
  },
  {
    icon: IconReceipt2,
    title: t('Every token accounted for'),
    text: t('See requests, tokens and cost by day, model and key, cancelled calls included.'),
    span: 2,
  },
  {
    icon: IconShieldLock,
    title: t('Secure and private'),
    text: t(
      'Passkeys, two-factor sign-in and session control. Export or delete your data at any time.',
    ),
    span: 2,
  },
]

export function Features() {
  return (
    <section aria-labelledby="features" className={classes.section}>
      <Title order={2} id="features" className={classes.title}>
        {t('What you get')}
      </Title>
      <div className={classes.grid}>
        {FEATURES.map(({ icon: Glyph, title, text, span }) => (
          <article key={title} className={classes.feature} data-span={span}>
            <Glyph size={28} stroke={1.5} className={classes.icon} aria-hidden />
            <Title order={3}>{title}</Title>
            <Text c="dimmed" mt={6}>
              {text}
            </Text>
          </article>
        ))}
      </div>
    </section>
  )
}
