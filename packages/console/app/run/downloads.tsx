import { Button, Menu } from '@mantine/core';
import type { ConsoleHearing, ConsoleRunDetail } from '@trunkcall/contract';
import { useMutation } from '@tanstack/react-query';
import { ask } from '../api.ts';
import { Failure } from '../parts/page.tsx';
import { useMay } from '../session.tsx';
import { show, text } from '../text.ts';

const { run: words } = text;

/** Notes that somebody hears a recording; ends with the address that is open to them now. */
export async function openRecording(runId: string): Promise<string> {
  const { hearing } = await ask<ConsoleHearing>('POST', `/runs/${runId}/recording/hearings`);
  return `/console/api/runs/${runId}/recording?hearing=${hearing}`;
}

export function Downloads({ run }: { readonly run: ConsoleRunDetail }) {
  const mayHear = useMay('recording.hear', run.account_id);
  const recording = useMutation({
    mutationFn: async () => save(await openRecording(run.id), `${run.id}.wav`),
  });
  const isEmpty = run.transcript.length === 0;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default">{words.download}</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            disabled={isEmpty}
            onClick={() => saveText(transcriptText(run), 'text/plain', `${run.id}.txt`)}
          >
            {words.downloads.text}
          </Menu.Item>
          <Menu.Item
            onClick={() => saveText(JSON.stringify(run, null, 2), 'application/json', `${run.id}.json`)}
          >
            {words.downloads.json}
          </Menu.Item>
          {run.recording !== null && mayHear && (
            <Menu.Item onClick={() => recording.mutate()}>{words.downloads.recording}</Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {recording.error !== null && <Failure error={recording.error} />}
    </>
  );
}

const transcriptText = ({ transcript }: ConsoleRunDetail): string =>
  transcript
    .map(
      ({ offset_seconds: offset, speaker, text: said }) =>
        `[${show.clock(offset)}] ${words.speakers[speaker]}: ${said}\n`,
    )
    .join('');

function saveText(content: string, type: string, name: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  save(address, name);
  // Behind the click, which has taken hold of the content by then.
  setTimeout(() => URL.revokeObjectURL(address));
}

function save(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
