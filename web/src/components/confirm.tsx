import { Box, Button, Group, Modal, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { FormProblem } from './form-problem.tsx'

type ConfirmProps = {
  opened: boolean
  onClose: () => void
  title: string
  children: ReactNode
  action: string
  /** Of the button that changes nothing. */
  leave?: string
  onConfirm: () => Promise<unknown>
}

/** Asks before something that cannot be taken back, and stays open with the reason when it failed. */
export function Confirm({
  opened,
  onClose,
  title,
  children,
  action,
  leave = 'Keep it',
  onConfirm,
}: ConfirmProps) {
  const close = () => {
    onClose()
    run.reset()
  }
  const run = useMutation({ mutationFn: onConfirm, onSuccess: close })
  // What is asked about is often gone from the page once it is done: the words stay while the dialog fades.
  const [words, setWords] = useState(children)
  if (opened && words !== children) setWords(children)

  return (
    <Modal opened={opened} onClose={close} title={title}>
      <Text component="div">{words}</Text>
      {run.isError && (
        <Box mt="md">
          <FormProblem problem={run.error} />
        </Box>
      )}
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={close} data-autofocus>
          {leave}
        </Button>
        <Button color="red" loading={run.isPending} onClick={() => run.mutate()}>
          {action}
        </Button>
      </Group>
    </Modal>
  )
}
