import { Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { show, text } from '../text.ts';
import type { TalkLine } from './talk-state.ts';
import type { Talk } from './use-talk.ts';

const { talk: words } = text;

/** What was said so far, and how the callee goes on. */
export function Conversation({ talk, marked }: { readonly talk: Talk; readonly marked: readonly number[] }) {
  const { lines, phase, mode } = talk.state;
  const log = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (log.current !== null) log.current.scrollTop = log.current.scrollHeight;
  }, [lines.length]);
  useEffect(() => {
    // What had the focus is gone with the end of the call; who uses a keyboard goes on from here.
    if (phase === 'drawing' && document.activeElement === document.body) log.current?.focus();
  }, [phase]);
  return (
    <Stack gap="sm">
      <div
        ref={log}
        className="talk"
        role="log"
        aria-live="polite"
        aria-label={words.conversation}
        tabIndex={0}
      >
        {phase === 'connecting' && <Text c="dimmed">{words.connecting}</Text>}
        {phase === 'talking' && lines.length === 0 && (
          <Text c="dimmed">{mode === 'typed' ? words.empty : words.listening}</Text>
        )}
        {lines.length > 0 && (
          <ol className="timeline">
            {lines.map((line, place) => (
              // Lines are only ever added behind the others, so their place is who they are.
              <Line
                key={place}
                line={line}
                hasTime={mode === 'spoken'}
                isMarked={line.type === 'turn' && marked.includes(line.index)}
              />
            ))}
          </ol>
        )}
      </div>
      {phase === 'talking' && (mode === 'typed' ? <Writing talk={talk} /> : <Speaking talk={talk} />)}
    </Stack>
  );
}

/** The element of a turn. */
export const turnId = (index: number): string => `talk-turn-${index}`;

interface LineProps {
  readonly line: TalkLine;
  /** How long somebody took to write tells nothing. */
  readonly hasTime: boolean;
  readonly isMarked: boolean;
}

function Line({ line, hasTime, isMarked }: LineProps) {
  if (line.type === 'keys') {
    return (
      <li>
        <span />
        <Text size="sm" c="dimmed">
          {words.pressed(line.digits)}
        </Text>
      </li>
    );
  }
  const { index, speaker, offset_seconds, interrupted } = line;
  return (
    <li id={turnId(index)} tabIndex={-1} className={isMarked ? 'marked' : undefined}>
      {hasTime ? (
        <time title={text.run.sinceAnswer}>{show.clock(offset_seconds)}</time>
      ) : (
        <Text span c="dimmed">
          {index + 1}
        </Text>
      )}
      <div className={`turn ${speaker}`}>
        <Text size="sm" fw={600}>
          {text.run.speakers[speaker]}
          {interrupted && ` · ${text.run.interrupted}`}
        </Text>
        {line.text}
      </div>
    </li>
  );
}

function Writing({ talk }: { readonly talk: Talk }) {
  const [written, setWritten] = useState('');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const write = (next: string) => {
    // The agent waits as long as something stands here.
    const [before, now] = [written.trim() !== '', next.trim() !== ''];
    if (before !== now) talk.send({ type: 'typing', typing: now });
    setWritten(next);
  };
  const say = () => {
    const said = written.trim();
    if (said === '') return;
    talk.send({ type: 'say', text: said });
    setWritten('');
  };
  return (
    <Stack gap="sm">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          say();
        }}
      >
        <Group align="flex-end" gap="xs" wrap="nowrap">
          <TextInput
            ref={input}
            flex={1}
            label={words.say}
            placeholder={words.sayHint}
            value={written}
            maxLength={2_000}
            autoComplete="off"
            onChange={(event) => write(event.currentTarget.value)}
          />
          <Button type="submit">{words.send}</Button>
        </Group>
      </form>
      <Controls talk={talk}>
        <Button variant="default" onClick={() => talk.send({ type: 'nothing' })}>
          {words.nothing}
        </Button>
      </Controls>
    </Stack>
  );
}

function Speaking({ talk }: { readonly talk: Talk }) {
  return (
    <Stack gap="sm">
      <meter className="loudness" aria-label={words.level} min={0} max={1} value={talk.level} />
      <Controls talk={talk}>
        <Button
          variant={talk.muted ? 'filled' : 'default'}
          aria-pressed={talk.muted}
          onClick={() => talk.mute(!talk.muted)}
        >
          {words.mute}
        </Button>
      </Controls>
    </Stack>
  );
}

const keys = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'];

/** What callees do beside talking. */
function Controls({ talk, children }: { readonly talk: Talk; readonly children: React.ReactNode }) {
  const [shown, setShown] = useState(talk.state.mode === 'spoken');
  return (
    <>
      <Group gap="xs">
        {children}
        <Button variant="default" aria-expanded={shown} onClick={() => setShown((before) => !before)}>
          {words.keypad}
        </Button>
        <Button variant="default" title={words.beepAbout} onClick={() => talk.send({ type: 'beep' })}>
          {words.beep}
        </Button>
        <Button color="red" onClick={() => talk.send({ type: 'hang_up' })}>
          {words.hangUp}
        </Button>
      </Group>
      {shown && (
        <SimpleGrid cols={3} spacing="xs" maw="14rem" role="group" aria-label={words.keypad}>
          {keys.map((key) => (
            <Button
              key={key}
              variant="default"
              aria-label={words.key(key)}
              onClick={() => talk.send({ type: 'keys', digits: key })}
            >
              {key}
            </Button>
          ))}
        </SimpleGrid>
      )}
    </>
  );
}
