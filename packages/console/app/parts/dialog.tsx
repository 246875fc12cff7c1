import { Button, Group, Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { text } from '../text.ts';
import { Failure } from './page.tsx';

/** What is on top of the page until it is closed. */
export function Dialog({
  title,
  size = 'md',
  onClose,
  children,
}: {
  readonly title: string;
  readonly size?: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={size}
      closeButtonProps={{ 'aria-label': text.common.close }}
    >
      {children}
    </Modal>
  );
}

/** The fields of a dialog, what went wrong with them, and the button that sends them. */
export function DialogForm({
  work,
  submit,
  disabled = false,
  children,
}: {
  readonly work: {
    readonly mutate: () => void;
    readonly isPending: boolean;
    readonly error: Error | null;
  };
  readonly submit: string;
  readonly disabled?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        work.mutate();
      }}
    >
      <Stack>
        {children}
        {work.error !== null && <Failure error={work.error} />}
        <Group justify="flex-end">
          <Button type="submit" disabled={disabled} loading={work.isPending}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
