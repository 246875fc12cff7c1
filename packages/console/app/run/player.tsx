/**
 * Plays a recording, and draws both of its sides. What is drawn comes as peaks, so that nothing of the sound is loaded
 * before somebody plays it: that is noted, and opens the recording to them.
 */
import { Alert, Button, Group, NativeSelect, Stack, Text, useComputedColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ConsolePeaks } from '@trunkcall/contract';
import { useEffect, useImperativeHandle, useRef, useState, type MouseEvent } from 'react';
import WaveSurfer from 'wavesurfer.js';
import { read } from '../api.ts';
import { nonce } from '../nonce.ts';
import { Loaded } from '../parts/page.tsx';
import { show, text } from '../text.ts';
import { openRecording } from './downloads.tsx';
import type { PlayerProps } from './recording.tsx';

const { recording: words } = text.run;

const speeds = ['1', '1.25', '1.5', '2'];
const channelHeight = 44;

export default function Player(props: PlayerProps) {
  const { runId } = props;
  const query = useQuery({
    queryKey: ['peaks', runId],
    queryFn: () => read<ConsolePeaks>(`/runs/${runId}/recording/peaks`),
    staleTime: Infinity,
  });
  return <Loaded query={query}>{(peaks) => <Loudspeaker peaks={peaks} {...props} />}</Loaded>;
}

function Loudspeaker({
  runId,
  peaks,
  control,
  onReady,
  onTime,
}: PlayerProps & { readonly peaks: ConsolePeaks }) {
  const audio = useRef<HTMLAudioElement>(null);
  const [position, setPosition] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const [isFailed, setFailed] = useState(false);

  /** Opens the recording when it is not open yet. Ends with null when that fails, which is shown. */
  async function opened(): Promise<HTMLAudioElement | null> {
    const element = audio.current;
    if (element === null || element.hasAttribute('src')) return element;
    try {
      element.src = await openRecording(runId);
      return element;
    } catch {
      setFailed(true);
      return null;
    }
  }

  async function seek(seconds: number, andPlay: boolean): Promise<void> {
    setFailed(false);
    setPosition(seconds);
    const element = await opened();
    if (element === null) return;
    element.currentTime = seconds;
    // Somebody may pause before it has begun.
    if (andPlay) await element.play().catch(() => undefined);
  }
  useImperativeHandle(control, () => ({ playFrom: (seconds) => void seek(seconds, true) }));
  useEffect(onReady, [onReady]);

  const told = (seconds: number, playing: boolean) => {
    setPosition(seconds);
    onTime(playing ? seconds : null);
  };
  return (
    <Stack gap="xs">
      <Wave
        peaks={peaks}
        audio={audio}
        onSeek={(seconds) => void seek(seconds, isPlaying)}
        position={position}
      />
      {/* The conversation is written out on the same page. */}
      <audio
        ref={audio}
        hidden
        preload="metadata"
        onPlay={() => setPlaying(true)}
        onPause={({ currentTarget }) => {
          setPlaying(false);
          told(currentTarget.currentTime, false);
        }}
        onTimeUpdate={({ currentTarget }) => told(currentTarget.currentTime, !currentTarget.paused)}
        onError={({ currentTarget }) => {
          // A note that is too old: the next time another one is made.
          currentTarget.removeAttribute('src');
          setFailed(true);
          setPlaying(false);
        }}
      />
      <input
        type="range"
        className="position"
        aria-label={words.position}
        aria-valuetext={`${show.clock(position)} / ${show.clock(peaks.seconds)}`}
        min={0}
        max={peaks.seconds}
        step={1}
        value={position}
        onChange={(event) => void seek(Number(event.currentTarget.value), isPlaying)}
      />
      <Group gap="md" align="center">
        <Button
          onClick={() => (isPlaying ? audio.current?.pause() : void seek(restart(position, peaks), true))}
        >
          {isPlaying ? words.pause : words.play}
        </Button>
        <Text size="sm" className="clock">
          {show.clock(position)} / {show.clock(peaks.seconds)}
        </Text>
        <NativeSelect
          aria-label={words.speed}
          data={speeds.map((value) => ({ value, label: `${value}×` }))}
          onChange={(event) => {
            if (audio.current === null) return;
            // The default too: a source that is opened later begins with it.
            audio.current.defaultPlaybackRate = Number(event.currentTarget.value);
            audio.current.playbackRate = Number(event.currentTarget.value);
          }}
        />
        <Text size="sm" c="dimmed">
          {words.callee}, {words.us}. {words.noted}
        </Text>
      </Group>
      {isFailed && (
        <Alert color="red" variant="outline" role="alert">
          {words.failed}
        </Alert>
      )}
    </Stack>
  );
}

/** From the beginning when it is at its end. */
const restart = (position: number, { seconds }: ConsolePeaks): number =>
  position >= seconds - 0.25 ? 0 : position;

/** Drawn for the eye and the mouse; who uses neither has the position below. */
function Wave({
  peaks,
  audio,
  onSeek,
  position,
}: {
  readonly peaks: ConsolePeaks;
  readonly audio: React.RefObject<HTMLAudioElement | null>;
  readonly onSeek: (seconds: number) => void;
  readonly position: number;
}) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    if (place.current === null || audio.current === null) return undefined;
    const style = getComputedStyle(place.current);
    const color = (name: string) => style.getPropertyValue(name);
    const side = (name: string) => ({ waveColor: color('--tc-wave'), progressColor: color(name) });
    const surfer = WaveSurfer.create({
      container: place.current,
      media: audio.current,
      peaks: peaks.channels.map((channel) => [...channel]),
      duration: peaks.seconds,
      height: channelHeight,
      splitChannels: [side('--tc-busy'), side('--tc-good')],
      barWidth: 2,
      barGap: 1,
      cursorColor: color('--mantine-color-text'),
      interact: false,
      normalize: false,
      cspNonce: nonce,
    });
    return () => surfer.destroy();
    // Its colours are the scheme's.
  }, [peaks, audio, scheme]);
  const seek = ({ currentTarget, clientX }: MouseEvent<HTMLDivElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    onSeek(Math.min(1, Math.max(0, (clientX - left) / width)) * peaks.seconds);
  };
  return <div ref={place} className="wave" aria-hidden data-position={Math.round(position)} onClick={seek} />;
}
