import { Box, Button, Center, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { type Icon, IconPlugConnectedX, IconRefresh } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { ApiProblem, formatProblem } from '../api/problem.ts'

type NoticeProps = {
  icon: Icon
  title: string
  children?: ReactNode
  action?: ReactNode
  order?: 1 | 2 | 3
}

/** Empty or error state in place of content. */
export function Notice({ icon: Glyph, title, children, action, order = 2 }: NoticeProps) {
  return (
    <Center py={48} px="md">
      <Stack align="center" gap="sm" maw={440} ta="center">
        <ThemeIcon size={64} radius="xl" variant="light" color="brass">
          <Glyph size={30} stroke={1.5} aria-hidden />
        </ThemeIcon>
        <Title order={order} fz="h3">
          {title}
        </Title>
        {children && (
          <Text component="div" c="dimmed">
            {children}
          </Text>
        )}
        {action && <Box mt="xs">{action}</Box>}
      </Stack>
    </Center>
  )
}

/** Error state with a retry button. */
export function Failure({ problem, retry }: { problem: unknown; retry?: () => void }) {
  const unreached = problem instanceof ApiProblem && problem.status === 0
  return (
    <div role="alert">
      <Notice
        icon={IconPlugConnectedX}
        title={unreached ? 'Connection failed' : 'Couldn’t load this'}
        action={
          retry && (
            <Button
              variant="light"
              leftSection={<IconRefresh size={18} aria-hidden />}
              onClick={retry}
            >
              Try again
            </Button>
          )
        }
      >
        {formatProblem(problem)}
      </Notice>
    </div>
  )
}
