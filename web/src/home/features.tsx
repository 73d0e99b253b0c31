import { Text, Title } from '@mantine/core'
import {
  type Icon,
  IconFileSearch,
  IconKey,
  IconMessages,
  IconReceipt2,
  IconShieldLock,
} from '@tabler/icons-react'
import classes from './features.module.css'

const FEATURES: { icon: Icon; title: string; text: string; span: 2 | 3 }[] = [
  {
    icon: IconMessages,
    title: 'Several vendors, one conversation',
    text: 'The models of all vendors that are set up here, behind one chat and one request format. An answer that was cut off is shown as cut off, never as whole.',
    span: 3,
  },
  {
    icon: IconFileSearch,
    title: 'Answers that show their source',
    text: 'Upload PDF, Word or text. Every answer lists the passages it used and how close they were; when nothing fits, it says so instead of guessing.',
    span: 3,
  },
  {
    icon: IconKey,
    title: 'Keys for your programs',
    text: 'Named, revocable, with an end date if you like. Change the base address of any OpenAI client and it works.',
    span: 2,
  },
  {
    icon: IconReceipt2,
    title: 'Every token accounted for',
    text: 'Requests, tokens and cost by day, model and key, also for calls that were abandoned.',
    span: 2,
  },
  {
    icon: IconShieldLock,
    title: 'Yours alone',
    text: 'Passkeys, two-factor, sessions you can end from anywhere. Export or delete everything yourself.',
    span: 2,
  },
]

export function Features() {
  return (
    <section aria-labelledby="features" className={classes.section}>
      <Title order={2} id="features" className={classes.title}>
        What it opens
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
