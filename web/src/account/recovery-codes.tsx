import { Group, SimpleGrid, Text } from '@mantine/core'
import { CopyText } from '../components/copy.tsx'
import { ShownOnce } from '../components/shown-once.tsx'
import { t } from '../language/text.ts'

export function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  return (
    <ShownOnce confirmation={t('I’ve saved these codes')} onDone={onDone}>
      <Text>
        {t(
          'Two-factor authentication is on. Use each code once to sign in without your phone. You won’t see these codes again.',
        )}
      </Text>
      <SimpleGrid
        cols={2}
        component="ul"
        p="md"
        m={0}
        bg="var(--latch-wash)"
        style={{ borderRadius: 12, listStyle: 'none' }}
      >
        {codes.map((code) => (
          <li key={code} className="mono">
            {code}
          </li>
        ))}
      </SimpleGrid>
      <Group>
        <CopyText value={codes.join('\n')}>{t('Copy all')}</CopyText>
      </Group>
    </ShownOnce>
  )
}
