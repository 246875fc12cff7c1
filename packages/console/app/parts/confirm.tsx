import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { text } from '../text.ts';
import { Failure } from './page.tsx';

/** Asks before something that can not be undone. */
export function Confirm({
  title,
  about,
  submit,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly about: string;
  readonly submit: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}) {
  const work = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': text.common.close }}>
      <Stack>
        <Text>{about}</Text>
        {work.error !== null && <Failure error={work.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {text.common.cancel}
          </Button>
          <Button color="red" loading={work.isPending} onClick={() => work.mutate()}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
