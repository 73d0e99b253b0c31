import { Text } from '@mantine/core'
import { language } from '../language/language.ts'
import { t } from '../language/text.ts'

/** Says that the texts below are in another language than the page around them. */
export function EnglishNote() {
  if (language === 'en') return null
  return (
    <Text c="dimmed" size="sm" my="md">
      {t('The documentation is in English.')}
    </Text>
  )
}
